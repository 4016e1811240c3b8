import { mkdirSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { startService } from "../../../service/index";
import { lockFolder } from "../../../service/store/folder-lock";
import { built, serveJson } from "../child";
import { newFolder, start } from "../helpers";

let dataDir: string;
beforeEach(() => (dataDir = newFolder()));

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

  test("a lock that nobody renews does not count, whoever is said to have it", async () => {
    writeFileSync(join(dataDir, "lock"), "999999999 another-machine");
    await (await open()).service.close();
    writeFileSync(join(dataDir, "lock"), "999999999 another-machine");
    mkdirSync(join(dataDir, "lock.held"));
    utimesSync(join(dataDir, "lock.held"), 1, 1);
    await (await open()).service.close();
  });

  test("the lock of another machine counts while it is renewed: its process number says nothing here", async () => {
    mkdirSync(join(dataDir, "lock.held"));
    writeFileSync(join(dataDir, "lock"), "999999999 another-machine\n");
    await expect(startService({ dataDir })).rejects.toThrow(
      `${dataDir} is in use by another service (process 999999999 on another-machine)`,
    );
    expect(readdirSync(dataDir).sort()).toEqual(["lock", "lock.held"]);
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

describe("the lock of a killed process", () => {
  beforeAll(built);

  test("is taken at once, by one of many", async () => {
    const first = await serveJson(["--data", dataDir]);
    first.child.kill("SIGKILL");
    await first.ended;
    const outcomes = await Promise.allSettled(Array.from({ length: 6 }, () => serveJson(["--data", dataDir])));
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  }, 60_000);
});
