// ethers 6, as this package connects it: over HTTP, it polls filters.
const { readFileSync } = require("node:fs");
const given = JSON.parse(readFileSync(0, "utf8"));
const { rpc, wss, authorization, abi, bytecode, key, values } = given;
const { Contract, ContractFactory, Wallet } = require(given.ethers6);
const { connect } = require(given.sdk);

async function main() {
  const [username, password] = Buffer.from(authorization.split(" ")[1], "base64").toString().split(":");
  const [provider, live] = ["rpc", "wss"].map((via) => connect({ urls: { rpc, wss } }, { username, password }, via));
  const wallet = new Wallet(key, provider);
  const contract = await (await new ContractFactory(abi, bytecode, wallet).deploy()).waitForDeployment();
  const address = await contract.getAddress();
  const [heard, polled] = [[], []];
  await new Contract(address, abi, live).on("Stored", (value) => heard.push(Number(value)));
  await contract.on("Stored", (value) => polled.push(Number(value)));
  await live.send("eth_chainId", []);
  await new Promise((done) => setTimeout(done, 1000)); // ethers does not say when it has its filter
  let status;
  for (const value of values) ({ status } = await (await contract.set(value)).wait());
  while (heard.length < values.length || polled.length < values.length)
    await new Promise((done) => setTimeout(done, 50));
  const past = await contract.queryFilter("Stored", 0);
  const failure = await contract.fail().catch((error) => error.reason ?? error.message);
  const [{ chainId }, value] = await Promise.all([provider.getNetwork(), contract.get()]);
  console.log(
    JSON.stringify({
      value: Number(value),
      status,
      past: past.map(({ args }) => Number(args.value)),
      heard,
      polled,
      failure,
      chainId: Number(chainId),
    }),
  );
}
main().then(
  () => process.exit(),
  (error) => (console.error(error), process.exit(1)),
);
