// Truffle's contracts on its wallet: an unfunded key, and all fees as they choose them.
const { readFileSync } = require("node:fs");
const contractOf = require("@truffle/contract");
const HDWalletProvider = require("@truffle/hdwallet-provider");
const Web3 = require("web3");
const { rpc, authorization, abi, bytecode, key, values } = JSON.parse(readFileSync(0, "utf8"));

async function main() {
  const node = new Web3.providers.HttpProvider(rpc, { headers: [{ name: "authorization", value: authorization }] });
  node.sendAsync = node.send.bind(node); // the wallet sends no headers of its own, and calls a provider so
  const provider = new HDWalletProvider({ privateKeys: [key.slice(2)], providerOrUrl: node });
  const Store = contractOf({ contractName: "Store", abi, bytecode });
  Store.setProvider(provider);
  Store.defaults({ from: provider.getAddress(0) });
  const store = await Store.new();
  // the wallet has filters of its own
  const filter = (method, ...params) =>
    new Promise((done, fail) =>
      node.send({ jsonrpc: "2.0", id: 1, method, params }, (error, answer) =>
        error ? fail(error) : done(answer.result),
      ),
    );
  const id = await filter("eth_newFilter", { address: store.address });
  const heard = [];
  let receipt;
  for (const value of values) {
    const sent = await store.set(value);
    receipt = sent.receipt;
    heard.push(...sent.logs.map(({ args }) => Number(args.value)));
  }
  const polled = (await filter("eth_getFilterChanges", id)).map(({ data }) => Number(data));
  const past = await store.getPastEvents("Stored", { fromBlock: 0 });
  const failure = await store.fail().catch((error) => error.message);
  const web3 = new Web3(provider);
  const batch = new web3.BatchRequest();
  const batched = (request, ...args) =>
    new Promise((done, fail) =>
      batch.add(request.request(...args, (error, result) => (error ? fail(error) : done(result)))),
    );
  const { methods } = new web3.eth.Contract(abi, store.address);
  const answers = [batched(methods.get().call, { from: provider.getAddress(0) }), batched(web3.eth.getChainId)];
  batch.execute();
  const [value, chainId] = await Promise.all(answers);
  console.log(
    JSON.stringify({
      value: Number(value),
      status: Number(receipt.status),
      past: past.map(({ args }) => Number(args.value)),
      heard,
      polled,
      failure,
      chainId,
    }),
  );
}
main().then(
  () => process.exit(),
  (error) => (console.error(error), process.exit(1)),
);
