// web3 1.10: an unfunded key, and all fees as web3 chooses them. A local key needs a gas limit, which is estimated.
const Web3 = require("web3");
const { given, ask, batched, run, until } = require("./run.cjs");
const { rpc, wss, authorization, abi, bytecode, key, values } = given;

run(async () => {
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
  const filter = await ask(web3.currentProvider, "eth_newFilter", { address: contract.options.address });
  const changes = async () =>
    (await ask(web3.currentProvider, "eth_getFilterChanges", filter)).map(({ data }) => Number(data));
  const polled = [];
  let status;
  for (const value of values) {
    ({ status } = await sent(contract.methods.set(value)));
    if (value % 4 === 0) polled.push(...(await changes()));
  }
  polled.push(...(await changes()));
  await until(() => heard.length === values.length);
  const events = await contract.getPastEvents("Stored", { fromBlock: 0 });
  const past = events.map(({ returnValues }) => Number(returnValues.value));
  const failure = await contract.methods
    .fail()
    .call()
    .catch((error) => error.message);
  const [value, chainId] = await batched(web3, [contract.methods.get().call, { from }], [web3.eth.getChainId]);
  return { value, status, past, heard, polled, failure, chainId };
});
