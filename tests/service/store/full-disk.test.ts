import { execFileSync, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isAlive, treeOf } from "../../../tools/lib/processes.mjs";
import { built, serveJson } from "../child";
import { atEnd, build, client, matching, newFolder } from "../helpers";
import { until } from "../../support/until";
import { eth, result, rpc } from "../ledgers";

beforeAll(built);

let folder: string;
beforeEach(() => (folder = newFolder()));

const quickly = ["--node-start", "0", "--environment-start", "0", "--limit-consortia", "100000"];

/** A small file system if this user may mount one; otherwise, a folder with a limit of file sizes. */
function small(kilobytes: number) {
  const dir = join(folder, "small");
  mkdirSync(dir);
  const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${kilobytes}k`, "tmpfs", dir]).status === 0;
  if (mounted) atEnd(() => execFileSync("umount", ["-l", dir]));
  const shell = `trap '' XFSZ; ulimit -f ${kilobytes}; exec "$0" "$@"`; // blocks of 1 kB, or of 512 bytes
  return { dir, through: mounted ? undefined : { command: "bash", args: ["-c", shell, process.execPath] } };
}

const said = matching(
  /cannot be written to .*, so nothing was changed: .*(no space left|file too large).*Free up space/i,
);
const full = { status: 507, body: { errorMessage: said } };

/** Kills a service, and returns a copy of its folder, where there is room. */
async function copied({ child, ended }: Awaited<ReturnType<typeof serveJson>>, dir: string): Promise<string> {
  child.kill("SIGKILL");
  await ended;
  const copy = join(folder, "copy");
  execFileSync("cp", ["-r", dir, copy]);
  return copy;
}

test("a ledger on a full disk fails new transactions, and keeps all acknowledged ones", async () => {
  const disk = small(400);
  const first = await serveJson(["--data", disk.dir, ...quickly], {}, disk.through);
  const { send } = first;
  const { paths, credential } = await build(send, { provider: "quorum", consensus_type: "raft" });
  const { urls, user_accounts } = (await send("GET", `${paths.node}/status`)).body;
  const from = user_accounts[0];
  const answered: string[] = [];
  let refused: object | undefined;
  while (!refused && answered.length < 50) {
    const data = `0x${randomBytes(10_000).toString("hex")}`;
    const { status, body } = await rpc(urls.rpc, credential, eth("eth_sendTransaction", { from, to: from, data }));
    if (status === 200 && "result" in (body as object)) answered.push((body as { result: string }).result);
    else refused = { status, body };
  }
  expect(refused).toMatchObject(full);
  expect(answered.length).toBeGreaterThan(2);

  const copy = await copied(first, disk.dir);
  const second = await serveJson(["--data", copy, "--port", new URL(urls.rpc).port, ...quickly]);
  for (const hash of answered) {
    await until(async () => (await result(urls.rpc, credential, "eth_getTransactionReceipt", hash)) !== null);
  }
  await second.stop();
});

test("a full disk answers 507 for tether calls too", async () => {
  const disk = small(400);
  const { send } = await serveJson(["--data", disk.dir, "--tether", "tether0001", ...quickly], {}, disk.through);
  spawnSync("dd", ["if=/dev/zero", `of=${join(disk.dir, "other")}`, "bs=4k", "count=400"]);
  const calls = ["", "/account", "/balance/rinkeby"].map((path) => ["GET", `/tether/tether0001${path}`] as const);
  const fund = ["POST", "/embedded/tether/tether0001/fund", { network: "rinkeby", wei: "5" }] as const;
  for (const [method, path, body] of [...calls, fund]) {
    // without a file system of its own, small changes still fit
    expect([path, (await send(method, path, body)).status]).toEqual([path, disk.through ? 200 : 507]);
  }
});

test("leaves nothing in the temporary folder, and no key in the environment of another process", async () => {
  const TMPDIR = join(folder, "tmp");
  mkdirSync(TMPDIR);
  const secret = "key-that-nobody-else-needs";
  for (const signal of ["SIGTERM", "SIGKILL"] as const) {
    const env = { TMPDIR, CONSORTIUM_SERVE_API_KEY: secret };
    const { ready, child, ended } = await serveJson(["--data", join(folder, "data"), ...quickly], env);
    const send = client(ready.baseUrl, secret);
    const { paths } = await build(send);
    expect((await send("GET", `${paths.node}/status`)).status).toBe(200);
    const [, ...below] = treeOf(ready.pid).map(({ pid }) => pid);
    expect(below.length).toBeGreaterThanOrEqual(2);
    if (process.platform === "linux") {
      const environments = below.map((pid) => readFileSync(`/proc/${pid}/environ`, "latin1"));
      expect(environments.filter((text) => text.includes(secret))).toEqual([]);
    }
    child.kill(signal);
    await ended;
    await until(() => !below.some(isAlive));
    expect(readdirSync(TMPDIR)).toEqual([]);
  }
});
