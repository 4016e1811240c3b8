import { readFileSync } from "node:fs";
import { join } from "node:path";
import { runInNewContext } from "node:vm";
import { installing, version } from "../../provider/version";
import * as runtime from "../../provider/dynamic/runtime";
import { kindOf, kinds, stub } from "../../provider/constants";
import { definitions } from "../../provider/resources";

/* States hold these texts, and run them years later: they never change, byte for byte. */

const texts: Record<keyof typeof runtime, string> = {
  consortium: 'exports.handler=()=>require("pulumi-consortium/runtime").consortium',
  membership: 'exports.handler=()=>require("pulumi-consortium/runtime").membership',
  environment: 'exports.handler=()=>require("pulumi-consortium/runtime").environment',
  node: 'exports.handler=()=>require("pulumi-consortium/runtime").node',
  appCred: 'exports.handler=()=>require("pulumi-consortium/runtime").appCred',
  consortiumZone: 'exports.handler=()=>require("pulumi-consortium/runtime").consortiumZone',
  invitation: 'exports.handler=()=>require("pulumi-consortium/runtime").invitation',
  environmentZone: 'exports.handler=()=>require("pulumi-consortium/runtime").environmentZone',
  configuration: 'exports.handler=()=>require("pulumi-consortium/runtime").configuration',
  service: 'exports.handler=()=>require("pulumi-consortium/runtime").service',
  destination: 'exports.handler=()=>require("pulumi-consortium/runtime").destination',
  tetherService: 'exports.handler=()=>require("pulumi-consortium/runtime").tetherService',
};
const names = Object.keys(texts) as (keyof typeof texts)[];

test.each(names)("%s", (name) => {
  expect(stub(name)).toBe(texts[name]);

  // As the host does it: run the text, call what it exports, and use what that gives.
  const asked: string[] = [];
  const exported: { handler?: () => unknown } = {};
  const load = (module: string): unknown => (asked.push(module), runtime);
  runInNewContext(texts[name], { exports: exported, require: load });
  expect(exported.handler!()).toBe(runtime[name]);
  expect(asked).toEqual(["pulumi-consortium/runtime"]);
});

test("each kind has one class, and one name for people, but members are also called memberships", () => {
  const told = Object.entries(definitions).map(([kind, { type, title }]) => [kind, { className: type, title }]);
  expect(told).toEqual(Object.entries({ ...kinds, membership: { className: "Membership", title: "membership" } }));
  expect(Object.values(kinds).map(({ className }) => kindOf(className))).toEqual(Object.keys(definitions));
  expect(kindOf("Bucket")).toBeUndefined();
});

test("the version is that of package.json, and so is whether packages are published", () => {
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
