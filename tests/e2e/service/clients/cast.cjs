// cast of Foundry: a program without an own key, which the node signs for; it subscribes over a WebSocket.
const { execFile, spawn } = require("node:child_process");
const { promisify } = require("node:util");
const { given, credentials, run, until, wait } = require("./run.cjs");
const { rpc, wss, bytecode, values } = given;
const cast = require.resolve(
  `@foundry-rs/cast-${process.platform}-${process.arch === "x64" ? "amd64" : process.arch}/bin/cast`,
);
const via = (url) => ["--rpc-url", url.replace("://", `://${credentials}@`)];
const call = async (name, ...args) => (await promisify(execFile)(cast, [name, ...via(rpc), ...args])).stdout.trim();
const ask = async (method, ...params) => JSON.parse(await call("rpc", "--raw", method, JSON.stringify(params)));

run(async () => {
  const [from] = await ask("eth_accounts");
  const send = async (...args) =>
    JSON.parse(await call("send", "--unlocked", "--from", from, "--legacy", "--json", ...args));
  const { contractAddress: to } = await send("--create", bytecode);
  const stored = "Stored(uint256)";
  const live = spawn(cast, ["logs", ...via(wss), "--subscribe", "--address", to, stored]);
  let [text, heard] = ["", []];
  live.stdout.on("data", (part) => {
    text += part;
    heard = [...text.matchAll(/data:?\s+(0x[\da-f]{64})/g)].map(([, data]) => Number(data));
  });
  process.once("SIGTERM", () => (live.kill(), process.exit(1)));
  const filter = await ask("eth_newFilter", { address: to });
  await wait(2000); // cast does not say when it has subscribed
  let status;
  for (const value of values) ({ status } = await send(to, "set(uint256)", `${value}`));
  const polled = (await ask("eth_getFilterChanges", filter)).map(({ data }) => Number(data));
  await until(() => heard.length === values.length);
  live.kill();
  const logs = JSON.parse(await call("logs", "--json", "--from-block", "0", "--address", to, stored));
  const past = logs.map(({ data }) => Number(data));
  const failure = await call("call", to, "fail()(uint256)").catch(({ stderr }) => stderr);
  const value = await call("call", to, "get()(uint256)");
  return { value, status, past, heard, polled, failure, chainId: await call("chain-id") };
});
