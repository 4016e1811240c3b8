// viem: an unfunded key, and all fees as viem chooses them.
const { readFileSync } = require("node:fs");
const { createPublicClient, createWalletClient, defineChain, http, webSocket } = require("viem");
const { privateKeyToAccount } = require("viem/accounts");

const given = JSON.parse(readFileSync(0, "utf8"));
const { rpc, wss, authorization, abi, bytecode, key, values, chainId: id } = given;
const chain = defineChain({
  id,
  name: "consortium",
  nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
  rpcUrls: { default: { http: [rpc] } },
});
const transport = http(rpc, { batch: true, fetchOptions: { headers: { authorization } } });
const credentials = Buffer.from(authorization.split(" ")[1], "base64").toString();
const reader = createPublicClient({ chain, transport, pollingInterval: 100 });
const live = createPublicClient({ chain, transport: webSocket(wss.replace("://", `://${credentials}@`)) });
const wallet = createWalletClient({ chain, transport, account: privateKeyToAccount(key) });

async function main() {
  const deployed = await wallet.deployContract({ abi, bytecode });
  const { contractAddress: address } = await reader.waitForTransactionReceipt({ hash: deployed });
  const [heard, polled] = [live, reader].map((client) => {
    const all = [];
    const onLogs = (logs) => all.push(...logs.map(({ args }) => Number(args.value)));
    client.watchContractEvent({ address, abi, eventName: "Stored", onLogs });
    return all;
  });
  await live.getBlockNumber();
  await new Promise((done) => setTimeout(done, 1000)); // viem does not say when it has subscribed
  let status;
  for (const value of values) {
    const hash = await wallet.writeContract({ address, abi, functionName: "set", args: [BigInt(value)] });
    ({ status } = await reader.waitForTransactionReceipt({ hash }));
  }
  while (heard.length < values.length || polled.length < values.length)
    await new Promise((done) => setTimeout(done, 50));
  const past = await reader.getContractEvents({ address, abi, eventName: "Stored", fromBlock: 0n });
  const failure = await reader
    .simulateContract({ address, abi, functionName: "fail" })
    .catch((error) => error.shortMessage + error.message);
  const [value, chainId] = await Promise.all([
    reader.readContract({ address, abi, functionName: "get" }),
    reader.getChainId(),
  ]);
  console.log(
    JSON.stringify({
      value: Number(value),
      status: status === "success" ? 1 : 0,
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
