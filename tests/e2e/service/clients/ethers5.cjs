// ethers 5: an unfunded key, and all fees as ethers chooses them.
const { ethers } = require("ethers");
const { given, credentials, run, until } = require("./run.cjs");
const { rpc, wss, authorization, abi, bytecode, key, values } = given;

run(async () => {
  const provider = new ethers.providers.JsonRpcBatchProvider({ url: rpc, headers: { authorization } });
  provider.pollingInterval = 100;
  const live = new ethers.providers.WebSocketProvider(wss.replace("://", `://${credentials}@`));
  const wallet = new ethers.Wallet(key, provider);
  const contract = await new ethers.ContractFactory(abi, bytecode, wallet).deploy();
  await contract.deployed();
  const [heard, polled] = [[], []];
  new ethers.Contract(contract.address, abi, live).on("Stored", (value) => heard.push(value.toNumber()));
  contract.on("Stored", (value) => polled.push(value.toNumber()));
  await live.send("eth_chainId", []);
  await provider.getBlockNumber();
  let status;
  for (const value of values) ({ status } = await (await contract.set(value)).wait());
  await until(() => heard.length === values.length && polled.length === values.length);
  const past = (await contract.queryFilter("Stored", 0)).map(({ args }) => args.value.toNumber());
  const failure = await contract.callStatic.fail().catch((error) => error.reason ?? error.message);
  const [{ chainId }, value] = await Promise.all([provider.getNetwork(), contract.get(), provider.getBlockNumber()]);
  return { value, status, past, heard, polled, failure, chainId };
});
