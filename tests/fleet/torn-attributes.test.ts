import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { dropTornAttributes } from "../../fleet/recovery";
import { temporary } from "./made";

test("attributes that a kill left half-written are dropped, all others stay", () => {
  const folder = temporary();
  const state = join(folder, "state/.pulumi/stacks/fleet");
  mkdirSync(state, { recursive: true });
  for (const [name, text] of Object.entries({ "a.json.attrs": "", "b.json.attrs": "{}", "c.json": "" }))
    writeFileSync(join(state, name), text);
  dropTornAttributes(`file://${folder}/state`);
  expect(readdirSync(state)).toEqual(["b.json.attrs", "c.json"]);
});
