import { execFileSync } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { isAlive } from "../../../tools/lib/processes.mjs";
import { built, serveJson } from "../child";
import { build, newFolder, type Send } from "../helpers";
import { until } from "../../support/until";
import { enginesOf } from "./chains";
import { blockNumber, result } from "../ledgers";
import { ways } from "../tethered";

beforeAll(built);

let dataDir: string;
beforeEach(() => (dataDir = newFolder()));

const serve = (...args: string[]) =>
  serveJson(["--data", dataDir, "--tether", "tether0001", "--node-start", "0", "--environment-start", "0", ...args]);

/** All processes of the folder. */
const processes = () =>
  execFileSync("ps", ["-eww", "-o", "pid=,args="], { encoding: "utf8" })
    .split("\n")
    .filter((line) => line.includes(dataDir))
    .map((line) => Number(line.trim().split(" ")[0]));

test("a killed service leaves no process, and the next one has the same ledgers and reports", async () => {
  const first = await serve();
  expect(first.ready).toMatchObject({ dataDir, apiKeyFile: join(dataDir, "api-key") });
  const { paths, credential } = await build(first.send, { provider: "quorum", consensus_type: "raft" });
  const status = (await first.send("GET", `${paths.node}/status`)).body;
  const from = status.user_accounts[0]!;
  const to = `0x${"7".repeat(40)}`;
  await result(status.urls.rpc, credential, "eth_sendTransaction", { from, to, value: "0x7" });
  const height = await blockNumber(status.urls.rpc, credential);
  expect(height).toBe(1); // raft makes a block for a transaction
  const block = await result(status.urls.rpc, credential, "eth_getBlockByNumber", "0x1", false);

  const { configure, post } = ways(first.send);
  await configure();
  expect((await post("/deploy")).status).toBe(200);
  expect((await post("/activate")).text).toBe("true");
  const seen = ["/reportCount", "/lastReport", "/account"];
  const look = (send: Send) => Promise.all(seen.map(async (path) => (await ways(send).get(path)).text));
  const all = await look(first.send);
  expect(all[0]).toBe("1");

  const running = processes();
  expect(running.length).toBeGreaterThanOrEqual(3); // the service and two chains
  first.child.kill("SIGKILL");
  const second = await serve("--port", String(new URL(first.ready.url).port));
  expect([second.key, await look(second.send)]).toEqual([first.key, all]);
  const { rpc } = (await second.send("GET", `${paths.node}/status`)).body.urls;
  expect(rpc).toBe(status.urls.rpc);
  expect(await result(rpc, credential, "eth_getBlockByNumber", "0x1", false)).toEqual(block);
  expect(await blockNumber(rpc, credential)).toBeGreaterThanOrEqual(height);
  expect(await result(rpc, credential, "eth_getBalance", to, "latest")).toBe("0x7");
  await until(() => !running.some(isAlive));

  const [key] = readdirSync(join(dataDir, "accounts"));
  expect(statSync(join(dataDir, "accounts", key!)).mode & 0o777).toBe(0o600);
  await second.stop();
  expect(processes()).toEqual([]);
});

test("a service killed together with its watcher leaves no chain", async () => {
  const { send, child, ended } = await serve();
  const { paths } = await build(send);
  await send("GET", `${paths.node}/status`);
  const [engine] = enginesOf(dataDir);
  const parentOf = (pid: number) => Number(execFileSync("ps", ["-o", "ppid=", "-p", `${pid}`], { encoding: "utf8" }));
  const watcher = parentOf(engine!);
  expect(parentOf(watcher)).toBe(child.pid);
  for (const pid of [watcher, child.pid!]) process.kill(pid, "SIGSTOP"); // neither can end anything any more
  for (const pid of [child.pid!, watcher]) process.kill(pid, "SIGKILL");
  await ended;
  await until(() => !isAlive(engine!));
  expect(enginesOf(dataDir)).toEqual([]);
});

test("a chain ends with its environment, and so does its folder", async () => {
  const { send, stop } = await serve();
  const { paths, environment } = await build(send);
  await send("GET", `${paths.node}/status`);
  const folder = join(dataDir, "chains", environment);
  const pid = enginesOf(folder)[0]!;
  expect(isAlive(pid)).toBe(true);
  expect((await send("DELETE", paths.environment)).status).toBe(202);
  await until(() => !isAlive(pid) && !readdirSync(join(dataDir, "chains")).includes(environment));
  await stop();
});
