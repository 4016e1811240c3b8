import { readFileSync } from "node:fs";
import { join } from "node:path";
import { runInNewContext } from "node:vm";
import { installing, version } from "../../provider/version";
import * as runtime from "../../provider/dynamic/runtime";
import { kindOf, kinds, stub } from "../../provider/constants";
import { definitions } from "../../provider/resources";

/* States contain these texts, which run years later: they never change, byte for byte. */

const names = Object.keys(runtime) as (keyof typeof runtime)[];
const textOf = (name: string): string => `exports.handler=()=>require("pulumi-consortium/runtime").${name}`;

/** The names that are in states. */
const forever = [
  ...["consortium", "membership", "environment", "node", "appCred", "consortiumZone", "invitation", "environmentZone"],
  ...["configuration", "service", "destination", "tetherService"],
];

test("no name is missing, and each kind has one", () => {
  expect(names).toEqual(expect.arrayContaining(forever));
  expect([...names].sort()).toEqual(Object.keys(definitions).sort());
});

test.each(names)("%s", (name) => {
  expect(stub(name)).toBe(textOf(name));

  // As the host does it: run the text, call its export, and use the result.
  const asked: string[] = [];
  const exported: { handler?: () => unknown } = {};
  const load = (module: string): unknown => (asked.push(module), runtime);
  runInNewContext(textOf(name), { exports: exported, require: load });
  expect(exported.handler!()).toBe(runtime[name]);
  expect(asked).toEqual(["pulumi-consortium/runtime"]);
});

test("each kind has one class, and one name for people", () => {
  const told = Object.entries(definitions).map(([kind, { type, title }]) => [kind, { className: type, title }]);
  expect(told).toEqual(Object.entries(kinds)); // generated
  expect(Object.values(kinds).map(({ className }) => kindOf(className))).toEqual(Object.keys(definitions));
  expect(kindOf("Bucket")).toBeUndefined();
});

test("the version comes from package.json, and so does whether packages are published", () => {
  const text = readFileSync(join(__dirname, "../../package.json"), "utf8");
  const manifest = JSON.parse(text) as { version: string; repository?: unknown };
  expect(version).toBe(manifest.version);
  expect(installing("one").includes("not published yet")).toBe(manifest.repository === undefined);
});

test("the package exports the runtime under the name in the text", () => {
  const manifest = JSON.parse(readFileSync(join(__dirname, "../../package.json"), "utf8")) as {
    name: string;
    exports: Record<string, { default: string }>;
  };
  expect(`${manifest.name}/runtime`).toBe("pulumi-consortium/runtime");
  expect(manifest.exports["./runtime"]!.default).toBe("./dist/provider/dynamic/runtime.js");
});
