// Truffle's contracts on its wallet: an unfunded key, and Truffle's own fees.
const { readFileSync } = require("node:fs");
const TruffleContract = require("@truffle/contract");
const Wallet = require("@truffle/hdwallet-provider");
const Web3 = require("web3");
const { rpc, wss, authorization, abi, bytecode, key } = JSON.parse(readFileSync(0, "utf8"));

async function main() {
  const headers = [{ name: "authorization", value: authorization }];
  const provider = new Wallet({
    privateKeys: [key.slice(2)],
    providerOrUrl: new Web3.providers.HttpProvider(rpc, { headers }),
    pollingInterval: 100,
  });
  const live = new Web3(new Web3.providers.WebsocketProvider(wss, { headers: { authorization } }));
  const Store = TruffleContract({ contractName: "Store", abi, bytecode });
  Store.setProvider(provider);
  Store.defaults({ from: provider.getAddress(0) });
  const contract = await Store.new();
  const event = new Promise((done) =>
    new live.eth.Contract(abi, contract.address).events
      .Stored()
      .on("data", (one) => done(Number(one.returnValues.value))),
  );
  await live.eth.getBlockNumber();
  const { receipt, logs } = await contract.set(42);
  const failure = await contract.fail.call().catch((error) => error.message);
  const web3 = new Web3(provider);
  console.log(
    JSON.stringify({
      value: (await contract.get()).toNumber(),
      status: Number(receipt.status),
      past: logs.map(({ args }) => args.value.toNumber()),
      heard: await event,
      failure,
      chainId: await web3.eth.getChainId(),
    }),
  );
}
main().then(
  () => process.exit(),
  (error) => (console.error(error), process.exit(1)),
);
