// ethers 5: an unfunded key, and all fees as ethers chooses them.
const { readFileSync } = require("node:fs");
const { ethers } = require("ethers");
const { rpc, wss, authorization, abi, bytecode, key, values } = JSON.parse(readFileSync(0, "utf8"));

async function main() {
  const provider = new ethers.providers.JsonRpcBatchProvider({ url: rpc, headers: { authorization } });
  provider.pollingInterval = 100;
  const live = new ethers.providers.WebSocketProvider(wss.replace("://", `://${credentials(authorization)}@`));
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
  while (heard.length < values.length || polled.length < values.length)
    await new Promise((done) => setTimeout(done, 50));
  const past = await contract.queryFilter("Stored", 0);
  const failure = await contract.callStatic.fail().catch((error) => error.reason ?? error.message);
  const [{ chainId }, value] = await Promise.all([provider.getNetwork(), contract.get(), provider.getBlockNumber()]);
  console.log(
    JSON.stringify({
      value: value.toNumber(),
      status,
      past: past.map(({ args }) => args.value.toNumber()),
      heard,
      polled,
      failure,
      chainId,
    }),
  );
}
const credentials = (header) => Buffer.from(header.split(" ")[1], "base64").toString();
main().then(
  () => process.exit(),
  (error) => (console.error(error), process.exit(1)),
);
