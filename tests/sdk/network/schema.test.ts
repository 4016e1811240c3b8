import { execFileSync } from "node:child_process";
import { join } from "node:path";
import Ajv from "ajv";
import { parse } from "yaml";
import { metaOf } from "../../../provider/core/field";
import { definitions } from "../../../provider/resources";
import "../../../sdk/network/schema";
import schema from "../../../schemas/network.schema.json";
import { good, inText } from "./problems";

const validate = new Ajv({ allErrors: true, strict: false }).compile(schema);
const accepted = (text: string): boolean => validate(parse(text, { merge: true }));

const larger = `${good}    credentials: { reports: { member: acme, keepers: { year: 2026 } } }
    tether: { tetherId: t123456789, network: rinkeby, intervalHours: 24 }
    nodeDefaults: { size: small, nodeConfigId: c1 }
    prefundedAccounts: { "0x00000000000000000000000000000000000000aa": { balance: "5" } }
  test: { provider: geth, consensusType: poa, nodes: { acme: { one: , two: { adopt: n1 } } }, credentials: [] }
limits: { nodesPerEnvironment: 6 }
`;

test.each([
  ["the usual one", good],
  ["one with everything", larger],
  ["several consortia", "consortia: { a: { members: [x] }, b: { description: B } }"],
])("the editor's schema accepts what the package accepts: %s", (_, text) => {
  expect(inText(text)).toEqual([]);
  expect(accepted(text)).toBe(true);
});

test.each([
  ["a key that is unknown", good.replace("orgName", "orgNme")],
  ["a number as a name", good.replace("Globex Corp", "7")],
  ["a consensus of another client", good.replace("raft", "poa")],
  ["no client", good.replace("    provider: quorum\n", "")],
  ["a key with spaces", good.replace("  globex:", "  Globex Corp:")],
  ["half a node", good.replace("acme: 2", "acme: 0.5")],
  ["an account that is no address", larger.replace("0x0", "0xg")],
  ["half an hour", larger.replace("intervalHours: 24", "intervalHours: 0.5")],
])("and refuses what the package refuses: %s", (_, text) => {
  expect(inText(text)).not.toEqual([]);
  expect(accepted(text)).toBe(false);
});

test("every key has a description for the editor", () => {
  const silent = Object.entries(schema.definitions).flatMap(([name, { properties }]) =>
    Object.entries<{ description?: string }>(properties)
      .filter(([, property]) => !property.description)
      .map(([key]) => `${name}.${key}`),
  );
  expect(silent).toEqual([]);
});

test("the resources keep the descriptions of their own properties", () => {
  const { shape } = definitions.environment.inputs;
  expect(metaOf(shape.consensusType as never)).toMatchObject({ onChange: "replace" });
  expect(metaOf(shape.chainId as never)).toMatchObject({ onChange: "replace", computed: true });
});

/** The output of a script that uses the built package, which another compiler makes than the tests' own. */
const printed = (script: string): unknown =>
  JSON.parse(execFileSync(process.execPath, ["-e", script], { cwd: join(__dirname, "../../.."), encoding: "utf8" }));

test("the package and the class load neither the schema nor the parser, until there is a network", () => {
  const script = `
    const { Network } = require("./dist/sdk/index.js");
    const loaded = () => ["zod", "yaml", "fastest-levenshtein"].map((name) => Object.keys(require.cache).some((file) => file.includes("/node_modules/" + name + "/")));
    const before = loaded();
    try { Network.fromFile("package.json") } catch {}
    console.log(JSON.stringify([before, loaded()]));
  `;
  expect(printed(script)).toEqual([
    [false, false, false],
    [true, true, true],
  ]);
});
