import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { dropTornAttributes } from "../../fleet/recovery";

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "consortium-state-"))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("attributes that a kill left half-written are dropped, all others stay", () => {
  const state = join(folder, "state/.pulumi/stacks/fleet");
  mkdirSync(state, { recursive: true });
  for (const [name, text] of Object.entries({ "a.json.attrs": "", "b.json.attrs": "{}", "c.json": "" }))
    writeFileSync(join(state, name), text);
  dropTornAttributes(`file://${folder}/state`);
  expect(readdirSync(state)).toEqual(["b.json.attrs", "c.json"]);
});
