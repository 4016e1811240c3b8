// ethers 6, as this package connects it: over HTTP, it polls filters.
const { given, credentials, run, until, wait } = require("./run.cjs");
const { rpc, wss, abi, bytecode, key, values } = given;
const { Contract, ContractFactory, Wallet } = require(given.ethers6);
const { connect } = require(given.sdk);

run(async () => {
  const [username, password] = credentials.split(":");
  const [provider, live] = ["rpc", "wss"].map((via) => connect({ urls: { rpc, wss } }, { username, password }, via));
  const wallet = new Wallet(key, provider);
  const contract = await (await new ContractFactory(abi, bytecode, wallet).deploy()).waitForDeployment();
  const address = await contract.getAddress();
  const [heard, polled] = [[], []];
  await new Contract(address, abi, live).on("Stored", (value) => heard.push(Number(value)));
  await contract.on("Stored", (value) => polled.push(Number(value)));
  await live.send("eth_chainId", []);
  await wait(1000); // ethers does not say when it has its filter
  let status;
  for (const value of values) ({ status } = await (await contract.set(value)).wait());
  await until(() => heard.length === values.length && polled.length === values.length);
  const past = (await contract.queryFilter("Stored", 0)).map(({ args }) => Number(args.value));
  const failure = await contract.fail().catch((error) => error.reason ?? error.message);
  const [{ chainId }, value] = await Promise.all([provider.getNetwork(), contract.get()]);
  return { value, status, past, heard, polled, failure, chainId };
});
