// cast of Foundry: a program without an own key, which the node signs for; it subscribes over a WebSocket.
const { execFile, spawn } = require("node:child_process");
const { readFileSync } = require("node:fs");
const { promisify } = require("node:util");
const { rpc, wss, authorization, bytecode, values, chainId } = JSON.parse(readFileSync(0, "utf8"));
const cast = require.resolve(
  `@foundry-rs/cast-${process.platform}-${process.arch === "x64" ? "amd64" : process.arch}/bin/cast`,
);
const credentials = Buffer.from(authorization.split(" ")[1], "base64").toString();
const via = (url) => ["--rpc-url", url.replace("://", `://${credentials}@`)];
const run = async (name, ...args) => (await promisify(execFile)(cast, [name, ...via(rpc), ...args])).stdout.trim();
const ask = async (method, ...params) => JSON.parse(await run("rpc", "--raw", method, JSON.stringify(params)));

async function main() {
  const [from] = await ask("eth_accounts");
  const send = async (...args) =>
    JSON.parse(await run("send", "--unlocked", "--from", from, "--legacy", "--json", ...args));
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
  await new Promise((done) => setTimeout(done, 2000)); // cast does not say when it has subscribed
  let status;
  for (const value of values) ({ status } = await send(to, "set(uint256)", `${value}`));
  const polled = (await ask("eth_getFilterChanges", filter)).map(({ data }) => Number(data));
  while (heard.length < values.length) await new Promise((done) => setTimeout(done, 50));
  live.kill();
  const past = JSON.parse(await run("logs", "--json", "--from-block", "0", "--address", to, stored));
  const failure = await run("call", to, "fail()(uint256)").catch(({ stderr }) => stderr);
  const value = Number(await run("call", to, "get()(uint256)"));
  const told = { value, status: Number(status), past: past.map(({ data }) => Number(data)), heard, polled, failure };
  console.log(JSON.stringify({ ...told, chainId: Number(await run("chain-id")) === chainId ? chainId : 0 }));
}
main().then(
  () => process.exit(),
  (error) => (console.error(error), process.exit(1)),
);
