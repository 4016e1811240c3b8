import { Stack } from "../support/stack";
import { canaryKey, type World, world } from "../support/world";

/* Lookups in programs whose answers depend on what the same run makes. */

let w: World;
beforeAll(async () => {
  w = await world("");
});
afterAll(() => w.close());

const program = (body: string): void =>
  w.stack.program(`
    const { output } = require("@pulumi/pulumi");
    const { Consortium, Environment, Membership, Node, Provider, getConsortia, getConsortiaOutput } = require("pulumi-consortium");
    ${body}
  `);
const names = "apply((found) => found.map(({ name }) => name))";

describe("a Provider whose key is only known once something was made", () => {
  const made = `
    const vault = new Consortium("vault");
    const provider = new Provider("later", { apiKey: vault.id.apply(() => process.env.CONSORTIUM_API_KEY) });
  `;

  test("the plain form ends the preview with an error that names the setting and the other form", async () => {
    program(`${made} exports.found = getConsortia({}, { provider });`);
    const { code, text } = await w.stack.preview();
    expect(text).toMatch(
      /getConsortia has no settings: the setting apiKey of the Provider "later" will only be known .*Use getConsortiaOutput/,
    );
    expect(code).not.toBe(0);
    expect(text).not.toMatch(/\n\s+at .*\.js:\d+/);
  });

  test("the Output form is unknown in the preview, and there in the run", async () => {
    program(`${made} exports.found = getConsortiaOutput({}, { provider }).${names};`);
    expect(await w.stack.preview()).toMatchObject({
      code: 0,
      text: expect.stringMatching(/found\s*: \[unknown\]/) as string,
    });
    await w.stack.ok(["up", "--yes", "--skip-preview"]);
    expect(await w.stack.outputs()).toEqual({ found: ["vault"] });
  });
});

test.each(["getConsortia", "getConsortiaOutput"])(
  "%s: a setting that fails is named, with its reason",
  async (form) => {
    // Without a stack: for one with frames of Pulumi in it Node takes a minute to color it.
    const error = "Object.assign(new Error('it is sealed'), { stack: '' })";
    for (const failed of [`Promise.reject(${error})`, `output(1).apply(() => { throw ${error}; })`]) {
      program(`
      const provider = new Provider("sealed", { apiKey: ${failed} });
      exports.found = ${form}({}, { provider });
    `);
      const { code, text } = await w.stack.preview();
      expect(text).toContain('the setting apiKey of the Provider "sealed" failed: it is sealed');
      expect(code).not.toBe(0);
    }
  },
);

test("what a lookup depends on is made before it asks", async () => {
  program(`
    const last = new Consortium("last");
    exports.seen = getConsortiaOutput({ name: "last" }, { dependsOn: [last] }).${names};
  `);
  expect(await w.stack.preview()).toMatchObject({
    code: 0,
    text: expect.stringMatching(/seen\s*: \[unknown\]/) as string,
  });
  await w.stack.ok(["up", "--yes", "--skip-preview"]);
  expect(await w.stack.outputs()).toEqual({ seen: ["last"] });
  expect(await w.stack.exported()).not.toContain(canaryKey);
});

test("get: every output of what exists, and an error that names what does not", async () => {
  program(`
    const consortium = new Consortium("known");
    const environment = new Environment("e", { consortium, provider: "quorum", consensusType: "raft" });
    const { id } = new Node("n", { environment, membership: new Membership("m", { consortium }) });
    exports.ids = [consortium.id, environment.id, id];
  `);
  await w.stack.ok(["up", "--yes", "--skip-preview"]);
  const { ids } = (await w.stack.outputs()) as { ids: [string, string, string] };
  const [consortiumId, environmentId, nodeId] = ids;
  const get = (id: string) => `
    const { id: _, urn: __, ...shown } = Node.get("its", "${id}", { consortiumId: "${consortiumId}", environmentId: "${environmentId}" });
    exports.found = Object.fromEntries(Object.entries(shown).filter(([key]) => !key.startsWith("__")));
  `;
  const { CONSORTIUM_API_KEY, CONSORTIUM_BASE_URL } = w.stack.env;
  const stack = await Stack.create({ program: "", env: { CONSORTIUM_API_KEY, CONSORTIUM_BASE_URL } });
  const looking = (id: string): void => stack.program(`const { Node } = require("pulumi-consortium");${get(id)}`);
  looking(nodeId);
  expect((await stack.up()).text).toContain("Outputs:");
  const { found } = (await stack.outputs()) as { found: Record<string, unknown> };
  expect(found).toMatchObject({ consortiumId, environmentId, name: "n", provider: "quorum", consensusType: "raft" });
  for (const key of ["membershipId", "role", "state", "urls", "nodeKey", "publicAddress", "validators", "userAccounts"])
    expect([key, found[key]]).toEqual([key, expect.anything()]);

  looking("nonesuch12");
  const { code, text } = await stack.preview();
  expect(text).toContain(
    `Node "nonesuch12" was not found in /consortia/${consortiumId}/environments/${environmentId}/nodes`,
  );
  expect(code).not.toBe(0);
  stack.remove();
});
