import { readFileSync, rmSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { nodeOf } from "../../../tools/lib/nodes.mjs";
import { receiver } from "../../support/receiver";
import { npmInstall, packed } from "../support/packed";
import { done, failed } from "../support/stack";
import { world } from "../support/world";

/*
 * The ends of the range in package.json, as npm installs them: a life, with spans. The SDK brings parts of OpenTelemetry: of its first
 * major version, newer ones of the second. Neither can import a dynamic resource. `npm run compatibility` tries every Node.js, SDK, installer and kind of program.
 */

const program = (description: string): string => `
  const { Consortium, Environment, Membership, Node } = require("pulumi-consortium");
  const consortium = new Consortium("packed", { description: "${description}" });
  const environment = new Environment("e", { consortium, provider: "geth", consensusType: "poa" });
  new Node("n", { environment, membership: new Membership("m", { consortium }) });
`;

/** What `pulumi import` prints for a dynamic resource, one with each SDK; docs/troubleshooting.md quotes both. */
const refusals = [
  "Cannot read properties of undefined (reading 'toJavaScript')",
  "code must be a string, not undefined",
];

test("package.json has the range", () => {
  const { peerDependencies } = jest.requireActual<{ peerDependencies: object }>("../../../package.json");
  expect(peerDependencies).toMatchObject({ "@pulumi/pulumi": ">=3.216.0 <4" });
});

test.each([
  ["oldest", "3.216.0", "20", "1"],
  ["newest", "3.276.0", "24", "2"],
])("the %s @pulumi/pulumi, %s, on Node.js %s, which brings OpenTelemetry %s", async (_, sdk, node, major) => {
  const { stack, network } = await world(program("first"), { release: "newest" });
  const modules = join(stack.folder, "node_modules");
  rmSync(modules, { recursive: true });
  delete stack.env.NODE_OPTIONS; // all that the SDK loads
  stack.env.PATH = [dirname(await nodeOf(node)), stack.env.PATH].join(delimiter);
  await npmInstall(stack.folder, (await packed()).tarball, `@pulumi/pulumi@${sdk}`);
  const versionOf = (name: string) =>
    (JSON.parse(readFileSync(join(modules, name, "package.json"), "utf8")) as { version: string }).version;
  expect(versionOf("@pulumi/pulumi")).toBe(sdk);
  expect(versionOf("@opentelemetry/sdk-trace-base").split(".")[0]).toBe(major);
  const { origin, spans } = await receiver();
  await done(stack.up({ OTEL_EXPORTER_OTLP_ENDPOINT: origin }));
  const all = spans();
  const { traceId, spanId } = all.find(({ name }) => name === "create Node")!;
  const below = all.filter((span) => span.traceId === traceId && span.parentSpanId === spanId);
  expect(below.map(({ name }) => name)).toContain("wait");
  stack.program(program("second"));
  expect((await done(stack.up({}, "--refresh"))).text).toMatch(/ ~ 1 updated\n +\d unchanged\n/);
  const before = [await stack.ids(), await network()] as const;
  expect(before[1].consortia).toMatchObject([{ description: "second" }]);
  const text = await failed(stack.run(["import", "pulumi-nodejs:dynamic/consortium:Node", "another", "n1", "--yes"]));
  expect(refusals.filter((words) => text.includes(words))).toHaveLength(1);
  expect([await stack.ids(), await network()]).toEqual(before);
  await done(stack.destroy());
  expect((await network()).consortia).toEqual([]);
});
