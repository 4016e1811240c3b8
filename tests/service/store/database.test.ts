import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { Database, markOf } from "../../../service/storage/database";
import { newFolder } from "../helpers";

const open = (dir: string) => Database.open(dir);

async function all(database: Database): Promise<[string, string][]> {
  const found: [string, string][] = [];
  for await (const [key, value] of database.entries("", "~")) found.push([key, value.toString()]);
  return found;
}

/** A database with entries in a table and in the log, and its contents. */
async function filled(dir: string) {
  const first = await open(dir);
  for (let at = 0; at < 40; at++) await first.write([[`a${at}`, `value ${at} ${"x".repeat(500)}`]]);
  await first.write([["a3", undefined]]);
  await first.close();
  const database = await open(dir); // what was in the log is in a table now
  for (let at = 0; at < 20; at++) await database.write([[`b${at}`, `value ${at} ${"y".repeat(3_000)}`]]);
  await database.close();
  const again = await open(dir);
  const entries = await all(again);
  for (let at = 0; at < 5; at++) await again.write([[`c${at}`, `value ${at}`]]);
  await again.close();
  return [...entries, ...Array.from({ length: 5 }, (_, at): [string, string] => [`c${at}`, `value ${at}`])];
}

test("what another process has opened meanwhile gets no mark of this one", async () => {
  const dir = join(newFolder(), "db");
  await filled(dir);
  const database = await open(dir);
  const { level } = database as unknown as { level: { close: () => Promise<void> } };
  const real = level.close.bind(level);
  let other: Database | undefined;
  level.close = async () => {
    await real();
    other = await open(dir);
  };
  await database.close();
  expect(existsSync(markOf(dir))).toBe(false);
  await other!.close();
  expect(existsSync(markOf(dir))).toBe(true);
});

test("a bit that flips anywhere in its files is an error that names the file, and changes nothing", async () => {
  const dir = join(newFolder(), "db");
  const entries = await filled(dir);
  expect(entries).toHaveLength(64);
  const files = readdirSync(dir).filter((name) => /\.(ldb|log)$|^MANIFEST/.test(name));
  expect(files.filter((name) => name.endsWith(".ldb")).length).toBeGreaterThan(0);
  const copy = join(newFolder(), "copy");
  for (const file of files) {
    const whole = readFileSync(join(dir, file));
    for (let flip = 0; flip < 13; flip++) {
      const at = Math.floor((whole.length * flip) / 13);
      const bytes = Buffer.from(whole);
      bytes[at]! ^= 1 << (flip % 8);
      rmSync(copy, { recursive: true, force: true });
      cpSync(dir, copy, { recursive: true });
      writeFileSync(join(copy, file), bytes);
      const outcome = await open(copy).then(
        async (database) => all(database).finally(() => database.close()),
        (error: Error) => error.message,
      );
      if (typeof outcome === "string") expect(outcome).toContain("is damaged");
      else expect([file, at, outcome]).toEqual([file, at, entries]);
      if (typeof outcome === "string") expect(readFileSync(join(copy, file))).toEqual(bytes);
    }
  }
});

test("an unfinished table of an ended process is not damage; a truncated table of the database is", async () => {
  const dir = join(newFolder(), "db");
  const entries = await filled(dir);
  const [table] = readdirSync(dir).filter((name) => name.endsWith(".ldb"));
  const half = readFileSync(join(dir, table!)).subarray(0, -60);
  writeFileSync(join(dir, "009999.ldb"), half);
  const database = await open(dir);
  expect(await all(database)).toEqual(entries);
  await database.close();
  expect(readdirSync(dir)).not.toContain("009999.ldb");
  const [whole] = readdirSync(dir).filter((name) => name.endsWith(".ldb"));
  writeFileSync(join(dir, whole!), readFileSync(join(dir, whole!)).subarray(0, -60));
  await expect(open(dir)).rejects.toThrow(`${whole!} is damaged`);
});

test("a database that cannot be opened is not called damaged", async () => {
  const dir = newFolder();
  mkdirSync(join(dir, "LOCK"));
  await expect(open(dir)).rejects.toThrow(`The database ${dir} cannot be opened: `);
});

test("a torn write at the end of the log is dropped, and everything before it is kept", async () => {
  const dir = join(newFolder(), "db");
  const entries = await filled(dir);
  const log = join(
    dir,
    readdirSync(dir).find((name) => name.endsWith(".log"))!,
  );
  const whole = readFileSync(log);
  for (const torn of [whole.subarray(0, -3), Buffer.concat([whole.subarray(0, -3), Buffer.alloc(900)])]) {
    writeFileSync(log, torn);
    const copy = join(newFolder(), "copy");
    cpSync(dir, copy, { recursive: true });
    await expect(open(copy)).rejects.toThrow(`${basename(log)} is damaged: it is not what it was at the last stop`);
    rmSync(markOf(copy)); // as after a kill
    const database = await open(copy);
    expect(await all(database)).toEqual(entries.slice(0, -1));
    await database.close();
  }
});

test("a value with another key's content counts as damaged, and others can be read", async () => {
  const dir = join(newFolder(), "db");
  const database = await open(dir);
  await database.write([
    ["a", "one"],
    ["b", "two"],
  ]);
  const level = (
    database as unknown as {
      level: { get(key: string): Promise<Buffer>; put(key: string, value: Buffer): Promise<void> };
    }
  ).level;
  await level.put("b", await level.get("a"));
  await expect(database.get("b")).rejects.toThrow(`B in ${dir} is damaged`);
  expect((await database.get("a"))?.toString()).toBe("one");
  await database.close();
});

test("writes at the same time share a batch: all of it, or nothing", async () => {
  const dir = join(newFolder(), "db");
  const database = await open(dir);
  const batches: unknown[] = [];
  const { level } = database as unknown as { level: { batch: (all: unknown[], options: object) => Promise<void> } };
  const real = level.batch.bind(level);
  level.batch = (some, options) => (batches.push([some.length, options]), real(some, options));
  await Promise.all(Array.from({ length: 50 }, (_, at) => database.write([[`k${at}`, "v"]])));
  expect(batches).toEqual([
    [1, { sync: true }],
    [49, { sync: true }],
  ]);
  await database.close();
  await expect(database.write([["late", "v"]])).rejects.toThrow("the service is stopping");
});
