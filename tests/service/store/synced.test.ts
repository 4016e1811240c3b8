import type * as Fs from "node:fs";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { containing, start, until } from "../helpers";

/** What the disk does: `hold` lets syncs wait, `fail` lets them fail. */
const disk = { waiting: [] as (() => void)[], hold: false, fail: false };
type Done = (error: Error | null) => void;
jest.mock("node:fs", () => {
  const real = jest.requireActual<typeof Fs>("node:fs");
  const fdatasync = (descriptor: number, done: Done) => {
    const go = () => (disk.fail ? done(new Error("EIO: i/o error")) : real.fdatasync(descriptor, done));
    if (disk.hold) disk.waiting.push(go);
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
  dataDir = mkdtempSync(join(tmpdir(), "consortium-synced-"));
  Object.assign(disk, { hold: false, fail: false, waiting: [] });
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

test("nobody hears of a change before the disk has it, neither its maker nor whoever reads", async () => {
  const { send } = await start({ dataDir });
  expect((await send("POST", "/consortia", { name: "first" })).status).toBe(201);
  disk.hold = true;
  let heard = 0;
  const asked = [send("POST", "/consortia", { name: "second" })];
  await until(() => Promise.resolve(disk.waiting.length === 1));
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
  expect(await send("POST", "/consortia", { name: "second" })).toMatchObject({
    status: 507,
    body: { errorMessage: containing("cannot be written to disk: EIO") },
  });
  disk.fail = false;
  expect((await send("GET", "/consortia")).status).toBe(200);
});
