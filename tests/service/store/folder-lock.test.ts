import { mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import type * as Fs from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { startService } from "../../../service/index";
import { replaceFile } from "../../../service/store/files";
import { lockFolder } from "../../../service/store/folder-lock";
import { Journal } from "../../../service/store/journal";
import { built, serveJson } from "../child";
import { build, newFolder, refused, start, type Wire } from "../helpers";
import { unreaped } from "../../support/unreaped";
import { until } from "../../support/until";
import { eth, result, rpc } from "../ledgers";

const disk = { waiting: [] as (() => void)[], hold: false, renamed: () => undefined as void };
type Done = (error: Error | null) => void;
jest.mock("node:fs", () => {
  const real = jest.requireActual<typeof Fs>("node:fs");
  const fdatasync = (descriptor: number, done: Done) => {
    const go = () => real.fdatasync(descriptor, done);
    if (disk.hold) disk.waiting.push(go);
    else go();
  };
  const renameSync = (from: string, to: string) => {
    disk.renamed();
    real.renameSync(from, to);
  };
  return { ...real, fdatasync, renameSync };
});

let dataDir: string;
beforeEach(() => {
  dataDir = newFolder();
  Object.assign(disk, { hold: false, waiting: [], renamed: () => undefined });
});

const fail = (error: Error): never => {
  throw error;
};
const inUse = (by: string) => `${dataDir} is in use by another service (process ${by})`;

/** Leaves a lock of another process, which was renewed a moment ago. */
function leave(text: string): void {
  writeFileSync(join(dataDir, "lock"), text);
  mkdirSync(join(dataDir, "lock.held"));
}
/** Takes the folder as another process would. */
const takeFolder = () => writeFileSync(join(dataDir, "lock"), "4711 elsewhere 0123456789abcdef\n");
/** What was asked for, whose last write reaches the disk when another process has taken the folder. */
async function takenMeanwhile<T>(ask: () => Promise<T>): Promise<T> {
  disk.hold = true;
  const asked = ask();
  await until(() => disk.waiting.length > 0);
  takeFolder();
  disk.hold = false;
  disk.waiting.forEach((go) => go());
  return asked;
}
/** Lets the lock look as if nobody had renewed it for a long time. */
const age = () => utimesSync(join(dataDir, "lock.held"), 1, 1);

describe("one folder, one service", () => {
  test("a second service is refused, until the first one is closed", async () => {
    const first = await start({ dataDir });
    await expect(startService({ dataDir })).rejects.toThrow(inUse(`${process.pid}`));
    expect((await first.send("GET", "/consortia")).status).toBe(200);
    await first.service.close();
    await start({ dataDir });
  });

  test("a lock that nobody renews does not count, whoever is said to have it", async () => {
    writeFileSync(join(dataDir, "lock"), "999999999 another-machine");
    await (await start({ dataDir })).service.close();
    leave("999999999 another-machine");
    age();
    await (await start({ dataDir })).service.close();
  });

  test("the lock of another machine counts while it is renewed: its process number says nothing here", async () => {
    leave("999999999 another-machine\n");
    await expect(startService({ dataDir })).rejects.toThrow(inUse("999999999 on another-machine"));
    expect(readdirSync(dataDir).sort()).toEqual(["lock", "lock.held"]);
  });

  test.each(Array.from({ length: 5 }, (_, round) => round))("one of many takes a stale lock, round %#", async () => {
    leave(`999999999 ${hostname()}\n`);
    const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => lockFolder(dataDir, fail)));
    const taken = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
    expect(taken).toHaveLength(1);
    await taken[0]!();
    expect(readdirSync(dataDir)).toEqual([]);
  });

  if (process.platform === "linux")
    test("a service that has ended counts as that, though nobody has waited for its end", async () => {
      const { pid, end } = await unreaped();
      leave(`${pid} ${hostname()}\n`);
      await start({ dataDir }).finally(end);
    });

  test("a service that was killed while it looked at the folder keeps nobody out", async () => {
    mkdirSync(join(dataDir, "lock.turn"));
    utimesSync(join(dataDir, "lock.turn"), 1, 1);
    await start({ dataDir });
  });

  test("a service that cannot listen gives the folder back", async () => {
    const { service } = await start();
    await expect(startService({ dataDir, port: service.port })).rejects.toThrow("port is in use");
    await start({ dataDir });
  });
});

describe("the lock of a killed process", () => {
  beforeAll(built);

  test("is taken at once, by one of many", async () => {
    const first = await serveJson(["--data", dataDir]);
    first.child.kill("SIGKILL");
    await first.ended;
    const outcomes = await Promise.allSettled(Array.from({ length: 6 }, () => serveJson(["--data", dataDir])));
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  });
});

describe("a process that was stopped while another one took its folder", () => {
  beforeAll(built);
  const quickly = ["--node-start", "0", "--environment-start", "0", "--limit-consortia", "100000"];
  const args = () => ["--data", dataDir, ...quickly];

  /** Creates consortia and sends transactions until the service is gone, and notes what was acknowledged. */
  function load({ ready, send }: Awaited<ReturnType<typeof serveJson>>, places: readonly Place[], told: Told) {
    let over = false;
    const objects = async (worker: number) => {
      for (let index = 0; !over; index++) {
        const name = `${worker}-${index}-${ready.pid}`;
        const made = await send("POST", "/consortia", { name }).catch(() => undefined);
        if (made?.status === 201) told.objects.push(made.body._id);
      }
    };
    const transactions = async ({ url, pair, from }: Place) => {
      const address = url.replace(/:\d+/, `:${new URL(ready.url).port}`);
      const call = eth("eth_sendTransaction", { from, to: from, value: "0x1" });
      while (!over) {
        const sent = await rpc(address, pair, call).catch(() => undefined);
        const { result: hash } = (sent?.body ?? {}) as { result?: string };
        if (sent?.status === 200 && hash) told.transactions.push({ url, pair, hash });
      }
    };
    const work = Promise.all([0, 1].map(objects).concat(places.map(transactions)));
    return async () => {
      over = true;
      await work;
    };
  }

  test.each([0, 1, 2])("ends with an error; nothing that either acknowledged is lost, round %#", async () => {
    const first = await serveJson(args());
    const { send } = first;
    const places: Place[] = [];
    for (const environment of [
      { provider: "quorum", consensus_type: "raft" },
      { provider: "geth", consensus_type: "poa", block_period: 1 },
    ]) {
      const { paths, credential } = await build(send, environment);
      const { urls, user_accounts } = (await send("GET", `${paths.node}/status`)).body;
      places.push({ url: urls.rpc, pair: credential, from: user_accounts[0]! });
    }
    const told: Told = { objects: [], transactions: [] };
    const endFirst = load(first, places, told);
    await until(() => told.objects.length > 30 && told.transactions.length > 10);
    first.child.kill("SIGSTOP");
    age();

    const second = await serveJson(args());
    const endSecond = load(second, places, told);
    const before = told.objects.length;
    await until(() => told.objects.length > before + 20);
    first.child.kill("SIGCONT");
    expect(await first.ended).toEqual({ code: 1, signal: null });
    expect(first.out.stderr).toContain(
      `no longer holds the data folder ${dataDir}: another service has it now (process ${second.ready.pid})`,
    );
    await endFirst();
    const then = told.objects.length;
    await until(() => told.objects.length > then + 20); // the second one goes on
    await endSecond();
    second.child.kill("SIGKILL");
    await second.ended;

    const third = await serveJson(args());
    const listed = (await third.send("GET", "/consortia")).body as unknown as Wire[];
    const kept = new Set(listed.map(({ _id }) => _id));
    expect(told.objects.filter((id) => !kept.has(id))).toEqual([]);
    const port = new URL(third.ready.url).port;
    for (const { url, pair, hash } of told.transactions) {
      const address = url.replace(/:\d+/, `:${port}`);
      await until(async () => (await result(address, pair, "eth_getTransactionReceipt", hash)) !== null);
    }
    await third.stop();
  });
});

type Place = { url: string; pair: { username: string; password: string }; from: string };
type Told = { objects: string[]; transactions: { url: string; pair: Place["pair"]; hash: string }[] };

describe("a folder that another process has taken", () => {
  test("nothing is acknowledged, and the service stops and says why", async () => {
    const { service, send } = await start({ dataDir });
    expect((await send("POST", "/consortia", { name: "mine" })).status).toBe(201);
    const before = readFileSync(join(dataDir, "state.jsonl"), "utf8");
    takeFolder();
    expect(await send("POST", "/consortia", { name: "lost" })).toMatchObject(
      refused(503, "another service has it now (process 4711 on elsewhere)"),
    );
    expect((await service.failed).message).toContain("no longer holds the data folder");
    await until(() =>
      fetch(`${service.url}/health`).then(
        () => false,
        () => true,
      ),
    );
    await service.close();
    expect(readFileSync(join(dataDir, "state.jsonl"), "utf8")).toBe(before);
    expect(readdirSync(dataDir)).toEqual(expect.arrayContaining(["lock", "lock.held"])); // they are the other one's
  });

  test("nor a read, nor what was written in the last moment before", async () => {
    const { send } = await start({ dataDir });
    expect((await takenMeanwhile(() => send("POST", "/consortia", { name: "late" }))).status).toBe(503);
    const other = await start();
    expect((await other.send("GET", "/consortia")).status).toBe(200); // one without a folder has none to lose
  });

  test("a ledger's transaction neither", async () => {
    const { service, send } = await start({ dataDir, ledger: true, timing: { nodeStart: 0, environmentStart: 0 } });
    const { paths, credential } = await build(send, { provider: "quorum", consensus_type: "raft" });
    const { urls, user_accounts } = (await send("GET", `${paths.node}/status`)).body;
    const [from] = user_accounts;
    const call = eth("eth_sendTransaction", { from, to: from });
    expect((await rpc(urls.rpc, credential, call)).body).toHaveProperty("result");
    const answer = await takenMeanwhile(() => rpc(urls.rpc, credential, call).catch(() => undefined));
    expect(answer?.body ?? {}).not.toHaveProperty("result");
    await service.failed;
  });

  test("a file that was about to be replaced stays, even if the process was stopped right before", async () => {
    const release = await lockFolder(dataDir, () => undefined);
    const file = join(dataDir, "accounts");
    mkdirSync(file);
    const key = join(file, "t.key");
    replaceFile(key, "old");
    disk.renamed = () => {
      disk.renamed = () => undefined;
      // what the next process does first, in the last moment before this one's rename
      for (const name of readdirSync(file)) if (name.endsWith(".new")) rmSync(join(file, name));
      takeFolder();
    };
    expect(() => replaceFile(key, "mine")).toThrow("ENOENT");
    expect(() => replaceFile(key, "mine")).toThrow("no longer holds");
    expect(readFileSync(key, "utf8")).toBe("old");
    expect(readdirSync(file)).toEqual(["t.key"]);
    await release();
  });

  test("whoever takes it removes such files, and copies those that the other one may have open", async () => {
    const format = { format: "test" };
    const file = join(dataDir, "some.jsonl");
    const open = Journal.create(file, format, [{ of: "both" }]); // no generation: it checks nothing, as in the last moment
    writeFileSync(join(dataDir, "state.jsonl.0123456789abcdef.new"), "");
    writeFileSync(join(dataDir, "mine.new"), "");
    takeFolder();
    mkdirSync(join(dataDir, "lock.held"));
    age();
    const release = await lockFolder(dataDir, () => undefined);
    expect(readdirSync(dataDir).sort()).toEqual(["lock", "lock.held", "mine.new", "some.jsonl"]);
    const records: unknown[] = [];
    const own = Journal.open(file, format, (record) => records.push(record));
    open.add([{ of: "other" }]);
    own.add([{ of: "own" }]);
    open.close();
    own.close();
    Journal.read(file, format, (record) => records.push(record));
    expect(records).toEqual([{ of: "both" }, { of: "both" }, { of: "own" }]);
    await release();
  });
});

describe("the lock of a process that ended, in a container", () => {
  test.each([`${process.pid} ${hostname()}\n`, `${process.pid} ${hostname()} 0123456789abcdef\n`])(
    "that had the same host name and process id (%j) is taken at once",
    async (text) => {
      leave(text);
      const { send } = await start({ dataDir });
      expect((await send("GET", "/consortia")).status).toBe(200);
    },
  );

  test.each([`${process.pid} elsewhere\n`, `${process.ppid} ${hostname()}\n`])("others are not: %j", async (text) => {
    leave(text);
    await expect(startService({ dataDir })).rejects.toThrow("is in use by another service");
  });
});
