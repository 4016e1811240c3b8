import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { times } from "../../../provider/core/times";

/* The table of times says who uses each: no more, no fewer. Lint rejects a time of the core outside of it. */

const provider = join(__dirname, "../../../provider");
const sources = ["core", "pulumi", "resources"].flatMap((folder) =>
  readdirSync(join(provider, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts") && name !== "times.ts")
    .map((name) => [basename(name), readFileSync(join(provider, folder, name), "utf8")] as const),
);
const table = readFileSync(join(provider, "core/times.ts"), "utf8");
const rows = [...table.matchAll(/^ {2}\/\*\* (.*) \*\/\n {2}(\w+):/gm)];

test("each time has a reason and its users", () => {
  expect(rows.map(([, , name]) => name)).toEqual(expect.arrayContaining(Object.keys(times)));
});

test.each(rows.map(([, reason = "", name = ""]) => [name, reason] as const))("%s", (name, reason) => {
  const users = sources.filter(([, text]) => new RegExp(`\\btimes\\.${name}\\b`).test(text)).map(([file]) => file);
  expect(reason.match(/[\w-]+\.ts/g)?.sort()).toEqual(users.sort());
});
