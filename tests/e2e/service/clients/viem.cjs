// viem: an unfunded key, and all fees as viem chooses them.
const { createPublicClient, createWalletClient, defineChain, http, webSocket } = require("viem");
const { privateKeyToAccount } = require("viem/accounts");
const { given, credentials, run, until, wait } = require("./run.cjs");

const { rpc, wss, authorization, abi, bytecode, key, values, chainId: id } = given;
const chain = defineChain({
  id,
  name: "consortium",
  nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
  rpcUrls: { default: { http: [rpc] } },
});
const transport = http(rpc, { batch: true, fetchOptions: { headers: { authorization } } });
const reader = createPublicClient({ chain, transport, pollingInterval: 100 });
const live = createPublicClient({ chain, transport: webSocket(wss.replace("://", `://${credentials}@`)) });
const wallet = createWalletClient({ chain, transport, account: privateKeyToAccount(key) });

run(async () => {
  const deployed = await wallet.deployContract({ abi, bytecode });
  const { contractAddress: address } = await reader.waitForTransactionReceipt({ hash: deployed });
  const [heard, polled] = [live, reader].map((client) => {
    const all = [];
    const onLogs = (logs) => all.push(...logs.map(({ args }) => Number(args.value)));
    client.watchContractEvent({ address, abi, eventName: "Stored", onLogs });
    return all;
  });
  await live.getBlockNumber();
  await wait(1000); // viem does not say when it has subscribed
  let status;
  for (const value of values) {
    const hash = await wallet.writeContract({ address, abi, functionName: "set", args: [BigInt(value)] });
    ({ status } = await reader.waitForTransactionReceipt({ hash }));
  }
  await until(() => heard.length === values.length && polled.length === values.length);
  const logs = await reader.getContractEvents({ address, abi, eventName: "Stored", fromBlock: 0n });
  const past = logs.map(({ args }) => Number(args.value));
  const failure = await reader
    .simulateContract({ address, abi, functionName: "fail" })
    .catch((error) => error.shortMessage + error.message);
  const [value, chainId] = await Promise.all([
    reader.readContract({ address, abi, functionName: "get" }),
    reader.getChainId(),
  ]);
  return { value, status: status === "success" ? 1 : 0, past, heard, polled, failure, chainId };
});
