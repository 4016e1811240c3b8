import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { problems } from "../../provider/errors";
import { codedMessage, ServiceError } from "../../service/errors";
import { type ServiceOptions, startService } from "../../service/index";
import { backup } from "../../service/storage/backup";
import { newFolder, start } from "./helpers";

/* The codes of what whoever runs a service meets. What the command prints: e2e/service/command.test.ts. */

const stopped = async () => {
  const dataDir = newFolder();
  await (await startService({ data: dataDir })).close();
  return dataDir;
};
const begin = (options: ServiceOptions) => startService(options);

test.each<[code: string, what: string, act: () => Promise<unknown>]>([
  ["port-taken", "another program has the port", async () => begin({ port: (await start()).service.port })],
  [
    "folder-in-use",
    "another service has the folder",
    async () => {
      const data = newFolder();
      await start({ data });
      await begin({ data });
    },
  ],
  [
    "data-damaged",
    "a file is missing",
    async () => {
      const data = await stopped();
      rmSync(join(data, "objects", "CURRENT"));
      await begin({ data });
    },
  ],
  ["invalid-setting", "an option cannot be used", () => begin({ port: -1 })],
  ["invalid-setting", "the ledger's program is missing", () => begin({ ledger: { anvil: "/nowhere/anvil" } })],
  ["invalid-setting", "what to copy is no data folder", () => backup(newFolder(), join(newFolder(), "copy"))],
  [
    "invalid-setting",
    "the place of a copy is not empty",
    async () => {
      const copy = newFolder();
      mkdirSync(join(copy, "a"));
      await backup(await stopped(), copy);
    },
  ],
])("%s: %s", async (code, _what, act) => {
  const error: unknown = await act().catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ServiceError);
  expect(error).toMatchObject({ code });
  expect(codedMessage(error)).toBe(`${(error as Error).message} [${code}: docs/troubleshooting.md#${code}]`);
  expect(Object.keys(problems)).toContain(code);
});
