import { chmodSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { exportStack } from "../../cli/shared/connection";

/* How commands read the state of a stack, from a `pulumi` that prints a document. (With the real one: e2e/stories/quickstart.) */

const { PATH } = process.env;
afterEach(() => void (process.env.PATH = PATH));

/** A `pulumi` that prints this. */
function printing(text: string): void {
  const folder = mkdtempSync(join(tmpdir(), "consortium-pulumi-"));
  writeFileSync(join(folder, "document"), text);
  writeFileSync(join(folder, "pulumi"), `#!/bin/sh\nexec cat "${folder}/document"\n`);
  chmodSync(join(folder, "pulumi"), 0o755);
  process.env.PATH = `${folder}:${PATH}`;
}

const documentOf = (...plaintexts: string[]) => ({
  deployment: { resources: plaintexts.map((plaintext) => ({ outputs: { plaintext } })) },
});

test.each<[string, string[], boolean]>([
  ["there are none", [], true],
  ["all are shown", ['"a"', '"b"'], true],
  ["one of them is nothing", ["null", '"b"'], true],
  ["all are nothing, as with a wrong passphrase", ["null", "null"], false],
])("secrets, where %s", async (_, plaintexts, isShown) => {
  const document = documentOf(...plaintexts);
  printing(JSON.stringify(document));
  const read = exportStack("dev", { secrets: true });
  if (isShown) expect(await read).toEqual(document);
  else await expect(read).rejects.toThrow("its secrets cannot be decrypted. Check PULUMI_CONFIG_PASSPHRASE.");
  expect(await exportStack("dev")).toEqual(document);
});

test("invalid JSON is an error", async () => {
  printing("warning: {");
  await expect(exportStack("dev")).rejects.toThrow(/stack dev cannot be read: Pulumi's output is not valid JSON/);
});
