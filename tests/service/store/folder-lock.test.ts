import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { startService } from "../../../service";
import { lockFolder } from "../../../service/store/folder-lock";
import { built, serveJson } from "../child";
import { client, start } from "../helpers";

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), "consortium-test-"));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

const fail = (error: Error): never => {
  throw error;
};

/** Starts a service on the folder, and a client with its key. */
const open = () => start({ dataDir });

describe("one folder, one service", () => {
  test("a second service is refused, until the first one is closed", async () => {
    const first = await open();
    await expect(startService({ dataDir })).rejects.toThrow(
      `${dataDir} is in use by another service (process ${process.pid})`,
    );
    expect((await first.send("GET", "/consortia")).status).toBe(200);
    await first.service.close();
    await open();
  });

  test("the lock of version 0.1.0 does not count, nor one that nobody renews", async () => {
    writeFileSync(join(dataDir, "lock"), "999999999 123");
    await (await open()).service.close();
    mkdirSync(join(dataDir, "lock.held"));
    utimesSync(join(dataDir, "lock.held"), 1, 1);
    await (await open()).service.close();
  });

  test.each(Array.from({ length: 5 }, (_, round) => round))("one of many takes a stale lock, round %#", async () => {
    writeFileSync(join(dataDir, "lock"), `999999999 ${hostname()}\n`);
    mkdirSync(join(dataDir, "lock.held"));
    const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => lockFolder(dataDir, fail)));
    const taken = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
    expect(taken).toHaveLength(1);
    await taken[0]!();
    expect(readdirSync(dataDir)).toEqual([]);
  });

  test("a service that was killed while it looked at the folder keeps nobody out", async () => {
    mkdirSync(join(dataDir, "lock.turn"));
    utimesSync(join(dataDir, "lock.turn"), 1, 1);
    await open();
  });

  test("a service that cannot listen gives the folder back", async () => {
    const { service } = await start();
    await expect(startService({ dataDir, port: service.port })).rejects.toThrow("port is in use");
    await open();
  });
});

describe("a killed process", () => {
  beforeAll(built);

  test("leaves a lock that one of many takes", async () => {
    const first = await serveJson(["--data", dataDir]);
    first.child.kill("SIGKILL");
    await first.ended;
    const outcomes = await Promise.allSettled(Array.from({ length: 6 }, () => serveJson(["--data", dataDir])));
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  }, 60_000);

  test("has lost nothing that it acknowledged", async () => {
    const { child, ended, ready, key } = await serveJson(["--data", dataDir, "--limit-consortia", "100000"]);
    const send = client(ready.baseUrl, key);
    const acknowledged: string[] = [];
    const work = async (worker: number) => {
      for (let index = 0; ; index++) {
        const { status, body } = await send("POST", "/consortia", { name: `${worker}-${index}` });
        if (status === 201) acknowledged.push(body._id);
        if (acknowledged.length === 100) child.kill("SIGKILL");
      }
    };
    await Promise.allSettled([0, 1, 2, 3].map(work));
    expect(await ended).toEqual({ code: null, signal: "SIGKILL" });
    expect(acknowledged.length).toBeGreaterThanOrEqual(100);

    const after = await open();
    expect(after.service.apiKey).toBe(key);
    const kept = new Set(after.service.store.consortia.list().map(({ id }) => id));
    expect(acknowledged.filter((id) => !kept.has(id))).toEqual([]);
  }, 30_000);
});
