import fs, { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { Database, markOf } from "../../../service/storage/database";
import { newFolder, start } from "../helpers";
import { backup } from "../../../service/storage/backup";

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

test("a folder is copied while its service writes: the copy is a data folder with all acknowledged changes", async () => {
  const [dataDir, copy] = [newFolder(), join(newFolder(), "copy")];
  const { service, send } = await start({
    dataDir,
    limits: { consortia: 1_000 },
    organizations: [{ name: "a", apiKey: "k" }],
  });
  for (let count = 0; count < 20; count++) await send("POST", "/consortia", { name: `c${count}` });
  let ended = false;
  const writing = (async () => {
    while (!ended) await send("POST", "/consortia", { name: "late" });
  })();
  await backup(dataDir, copy);
  ended = true;
  await writing;
  await service.close();
  const again = await start({ dataDir: copy, organizations: [{ name: "a" }] });
  const names = (await again.send("GET", "/consortia")).body.map(({ name }: { name: string }) => name);
  expect(names.slice(0, 20)).toEqual(Array.from({ length: 20 }, (_, count) => `c${count}`));
});

/** A folder with two ledgers, one of which has no database yet, and an account. */
async function stopped(): Promise<string> {
  const dataDir = newFolder();
  for (const folder of ["chains/e1", "chains/e2", "accounts"]) mkdirSync(join(dataDir, folder), { recursive: true });
  for (const file of ["chains/e1/genesis.json", "chains/e2/genesis.json", "accounts/t.key"])
    writeFileSync(join(dataDir, file), file);
  for (const folder of ["objects", "chains/e1/database"]) {
    const database = await Database.open(join(dataDir, folder));
    await database.write([["a", folder]]);
    await database.close();
  }
  return dataDir;
}

const logOf = (folder: string) => {
  const name = readdirSync(join(folder, "objects")).find((one) => one.endsWith(".log"));
  return join(folder, "objects", name!);
};

test("the copy has each file, and of a database those that belong to it; an empty folder will do", async () => {
  const [dataDir, copy] = [await stopped(), newFolder()];
  await backup(dataDir, copy);
  const own = /(^|\/)(CURRENT|MANIFEST-\d+|\d+\.(ldb|log)|genesis\.json|whole|t\.key)$/;
  const filesIn = (folder: string) => {
    const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).sort();
    const files = names.filter((name) => statSync(join(folder, name)).isFile());
    return files.map((name) => [name, readFileSync(join(folder, name), "latin1")] as const);
  };
  expect(filesIn(copy)).toEqual(filesIn(dataDir).filter(([name]) => own.test(name)));
  const database = await Database.open(join(copy, "chains/e1/database"));
  expect((await database.get("a"))?.toString()).toBe("chains/e1/database");
  await database.close();
});

test("what changes while it is copied is copied again, from the start", async () => {
  const [dataDir, copy] = [await stopped(), newFolder()];
  const real = fs.cpSync;
  let changed = 0;
  const copying = jest.spyOn(fs, "cpSync").mockImplementation((from, to, options) => {
    real(from, to, options);
    if (String(from).endsWith("CURRENT") && changed++ < 3)
      writeFileSync(join(dataDir, "objects", `${changed}99999.ldb`), "");
  });
  await backup(dataDir, copy);
  copying.mockRestore();
  expect(changed).toBeGreaterThan(3);
  expect(readFileSync(logOf(copy))).toEqual(readFileSync(logOf(dataDir)));
});

test("what is no data folder is not copied, nor anything into a folder that is not empty", async () => {
  const dataDir = await stopped();
  for (const [from, to] of [
    [newFolder(), join(newFolder(), "copy")],
    [dataDir, dataDir],
  ] as const)
    await expect(backup(from, to)).rejects.toMatchObject({ name: "ServiceError", code: "invalid-setting" });
});

test("a damaged folder is not copied: the error names the file, and the target stays empty", async () => {
  const [dataDir, copy] = [await stopped(), newFolder()];
  const bytes = readFileSync(logOf(dataDir));
  bytes[8]! ^= 1;
  writeFileSync(logOf(dataDir), bytes);
  await expect(backup(dataDir, copy)).rejects.toThrow(
    `${logOf(dataDir)} is damaged: it is not what it was at the last stop`,
  );
  expect(readdirSync(copy)).toEqual([]);
  rmSync(markOf(join(dataDir, "objects"))); // as after a kill: a value that is damaged is found, too
  const database = await Database.open(join(dataDir, "objects"));
  const { level } = database as unknown as { level: { put(key: string, value: Buffer): Promise<void> } };
  await level.put("b", Buffer.from("no checksum"));
  await database.close();
  rmSync(markOf(join(dataDir, "objects")));
  await expect(backup(dataDir, copy)).rejects.toThrow(`B in ${dataDir}/objects is damaged: its checksum is wrong`);
  expect(readdirSync(copy)).toEqual([]);
});
