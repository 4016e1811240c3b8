import fs, { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { backup } from "../../../service/storage/backup";
import { Database, markOf } from "../../../service/storage/database";
import { newFolder, start } from "../helpers";

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
