// Truffle's contracts on its wallet: an unfunded key, and all fees as they choose them.
const contractOf = require("@truffle/contract");
const HDWalletProvider = require("@truffle/hdwallet-provider");
const Web3 = require("web3");
const { given, ask, batched, run } = require("./run.cjs");
const { rpc, authorization, abi, bytecode, key, values } = given;

run(async () => {
  const node = new Web3.providers.HttpProvider(rpc, { headers: [{ name: "authorization", value: authorization }] });
  node.sendAsync = node.send.bind(node); // the wallet sends no headers of its own, and calls a provider so
  const provider = new HDWalletProvider({ privateKeys: [key.slice(2)], providerOrUrl: node });
  const Store = contractOf({ contractName: "Store", abi, bytecode });
  Store.setProvider(provider);
  Store.defaults({ from: provider.getAddress(0) });
  const store = await Store.new();
  // the wallet has filters of its own
  const filter = await ask(node, "eth_newFilter", { address: store.address });
  const heard = [];
  let receipt;
  for (const value of values) {
    const sent = await store.set(value);
    receipt = sent.receipt;
    heard.push(...sent.logs.map(({ args }) => Number(args.value)));
  }
  const polled = (await ask(node, "eth_getFilterChanges", filter)).map(({ data }) => Number(data));
  const events = await store.getPastEvents("Stored", { fromBlock: 0 });
  const past = events.map(({ args }) => Number(args.value));
  const failure = await store.fail().catch((error) => error.message);
  const web3 = new Web3(provider);
  const { methods } = new web3.eth.Contract(abi, store.address);
  const from = provider.getAddress(0);
  const [value, chainId] = await batched(web3, [methods.get().call, { from }], [web3.eth.getChainId]);
  return { value, status: receipt.status, past, heard, polled, failure, chainId };
});
