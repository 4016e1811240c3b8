// web3 1.10: an unfunded key, and all fees as web3 chooses them. A local key needs a gas limit, which is estimated.
const { readFileSync } = require("node:fs");
const Web3 = require("web3");
const { rpc, wss, authorization, abi, bytecode, key, values } = JSON.parse(readFileSync(0, "utf8"));

async function main() {
  const headers = [{ name: "authorization", value: authorization }];
  const web3 = new Web3(new Web3.providers.HttpProvider(rpc, { headers }));
  const live = new Web3(new Web3.providers.WebsocketProvider(wss, { headers: { authorization } }));
  web3.eth.transactionPollingInterval = 100;
  const { address: from } = web3.eth.accounts.wallet.add(key);
  const sent = async (call) => call.send({ from, gas: await call.estimateGas({ from }) });
  const contract = await sent(new web3.eth.Contract(abi).deploy({ data: bytecode }));
  const subscription = new live.eth.Contract(abi, contract.options.address).events.Stored();
  const heard = [];
  subscription.on("data", (one) => heard.push(Number(one.returnValues.value)));
  await new Promise((done) => subscription.on("connected", done));
  // over HTTP, it has no subscriptions: a filter is polled
  const ask = (method, ...params) =>
    new Promise((done, fail) =>
      web3.currentProvider.send({ jsonrpc: "2.0", id: 1, method, params }, (error, answer) =>
        error ? fail(error) : done(answer.result),
      ),
    );
  const filter = await ask("eth_newFilter", { address: contract.options.address });
  const polled = [];
  let status;
  for (const value of values) {
    ({ status } = await sent(contract.methods.set(value)));
    if (value % 4 === 0) polled.push(...(await ask("eth_getFilterChanges", filter)).map(({ data }) => Number(data)));
  }
  polled.push(...(await ask("eth_getFilterChanges", filter)).map(({ data }) => Number(data)));
  while (heard.length < values.length) await new Promise((done) => setTimeout(done, 50));
  const past = await contract.getPastEvents("Stored", { fromBlock: 0 });
  const failure = await contract.methods
    .fail()
    .call()
    .catch((error) => error.message);
  const batch = new web3.BatchRequest();
  const batched = (request, ...args) =>
    new Promise((done, fail) =>
      batch.add(request.request(...args, (error, result) => (error ? fail(error) : done(result)))),
    );
  const answers = [batched(contract.methods.get().call, { from }), batched(web3.eth.getChainId)];
  batch.execute();
  const [value, chainId] = await Promise.all(answers);
  console.log(
    JSON.stringify({
      value: Number(value),
      status: Number(status),
      past: past.map(({ returnValues }) => Number(returnValues.value)),
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
