import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { backup } from "../../../service/storage/backup";
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

test("copies only a data folder, and only into a new folder", async () => {
  const [dataDir, full] = [newFolder(), newFolder()];
  await expect(backup(dataDir, join(full, "copy"))).rejects.toThrow("is not the data folder of a service");
  mkdirSync(join(dataDir, "objects"));
  writeFileSync(join(full, "mine"), "");
  await expect(backup(dataDir, full)).rejects.toThrow("is not empty");
});
