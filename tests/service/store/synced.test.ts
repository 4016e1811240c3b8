import type * as Fs from "node:fs";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { Journal } from "../../../service/store/journal";
import { newFolder, refused, start } from "../helpers";
import { until } from "../../support/until";
import { Network } from "../targets";
import { pinning } from "../tethered";

/** What the disk does: `hold` lets syncs wait, `fail` lets them fail, `slow` lets them take so many milliseconds. */
const disk = { waiting: [] as (() => void)[], hold: false, fail: false, slow: 0 };
type Done = (error: Error | null) => void;
jest.mock("node:fs", () => {
  const real = jest.requireActual<typeof Fs>("node:fs");
  const fdatasync = (descriptor: number, done: Done) => {
    const go = () => (disk.fail ? done(new Error("EIO: i/o error")) : real.fdatasync(descriptor, done));
    if (disk.hold) disk.waiting.push(go);
    else if (disk.slow > 0) setTimeout(go, disk.slow);
    else go();
  };
  const fsyncSync = (descriptor: number) => {
    if (disk.fail) throw new Error("EIO: i/o error");
    real.fsyncSync(descriptor);
  };
  return { ...real, fdatasync, fsyncSync };
});

let dataDir: string;
beforeEach(() => {
  dataDir = newFolder();
  Object.assign(disk, { hold: false, fail: false, slow: 0, waiting: [] });
});

test("nobody hears of a change before the disk has it, neither its maker nor whoever reads", async () => {
  const { send } = await start({ dataDir });
  expect((await send("POST", "/consortia", { name: "first" })).status).toBe(201);
  disk.hold = true;
  let heard = 0;
  const asked = [send("POST", "/consortia", { name: "second" })];
  await until(() => disk.waiting.length === 1);
  asked.push(send("GET", "/consortia"));
  for (const one of asked) void one.then(() => heard++);
  await wait(300); // long enough for an answer that does not wait
  expect(heard).toBe(0);
  disk.hold = false;
  disk.waiting.forEach((go) => go());
  expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([201, 200]);
});

test("what the disk does not take is answered with 507, until it does", async () => {
  const { send } = await start({ dataDir });
  await send("POST", "/consortia", { name: "first" });
  disk.fail = true;
  expect(await send("POST", "/consortia", { name: "second" })).toMatchObject(
    refused(507, "cannot be written to disk: EIO"),
  );
  disk.fail = false;
  expect((await send("GET", "/consortia")).status).toBe(200);
});

describe("a power cut, which loses what the disk has not confirmed", () => {
  const format = { format: "test" };
  const read = (file: string) => {
    const records: unknown[] = [];
    Journal.read(file, format, (record) => records.push(record));
    return records;
  };

  /** Leaves of a file what was there when it had this many bytes, and what was written into that since. */
  const cut = (file: string, bytes: number) => writeFileSync(file, readFileSync(file).subarray(0, bytes));

  test("leaves a good file: what was added during a sync is not counted as synced by it", async () => {
    const file = join(dataDir, "journal");
    const journal = Journal.create(file, format, []);
    disk.hold = true;
    journal.add([{ change: 1 }]);
    const first = journal.flushed();
    const { size } = statSync(file);
    journal.add([{ change: 2 }]);
    const second = journal.flushed();
    disk.waiting.shift()!(); // the first sync is done; the next one is still to come
    await first;
    const left = readFileSync(file);
    cut(file, size);
    expect(read(file)).toEqual([{ change: 1 }]);
    writeFileSync(file, left);
    disk.hold = false;
    disk.waiting.forEach((go) => go());
    await second;
    journal.close();
    expect(read(file)).toEqual([{ change: 1 }, { change: 2 }]);
  });

  test("is told from damage: what is synced and missing makes the file a damaged one", async () => {
    const file = join(dataDir, "journal");
    const journal = Journal.create(file, format, []);
    journal.add([{ change: 1 }]);
    const { size } = statSync(file);
    await journal.append([{ change: 2 }]);
    journal.close();
    cut(file, size);
    expect(() => read(file)).toThrow("is damaged: it ends after");
  });

  /** The part of the objects' file that a power cut leaves for sure. */
  const durable = () => {
    const text = readFileSync(join(dataDir, "state.jsonl"), "latin1");
    const [, length] = /"length":"(\d+)"/.exec(text)!;
    return text.slice(0, Number(length));
  };

  test.each([
    ["to deploy a contract", 0],
    ["to pin a report", 1],
  ])("no money: a transaction %s is sent once the disk has it", async (_what, number) => {
    const network = await new Network().start();
    const found: boolean[] = [];
    const watched = await network.guarded("", "", ({ method, params }) => {
      if (method === "eth_sendRawTransaction") found.push(durable().includes(String(params[0])));
    });
    const { get, post } = await pinning(network, { dataDir }, watched);
    disk.slow = 200;
    expect((await post("/deploy")).status).toBe(200);
    expect((await post("/activate")).text).toBe("true");
    await until(async () => (await get("/reportCount")).text === "1");
    expect(found[number]).toBe(true);
  });
});
