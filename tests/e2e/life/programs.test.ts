import { spawn } from "node:child_process";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { done, failed, finished, root, Stack } from "../support/stack";
import { canaryKey, type World, wholeTree, world } from "../support/world";

/* Lookups in programs, with answers that depend on objects of the same run. */

const tetherId = "tether0001";
let w: World;
beforeAll(async () => {
  w = await world("", { inline: true, tethers: [{ id: tetherId }] });
});

/** Another stack on this service. */
const another = (how: object = {}): Promise<Stack> => {
  const { CONSORTIUM_API_KEY, CONSORTIUM_BASE_URL } = w.stack.env;
  return Stack.create({ program: "", env: { CONSORTIUM_API_KEY, CONSORTIUM_BASE_URL }, ...how });
};
const program = (body: string, stack = w.stack): void =>
  stack.program(`
    const { output } = require("@pulumi/pulumi");
    const { AppCred, Consortium, Environment, Membership, Node, Provider, getConsortia, getConsortiaOutput } = require("pulumi-consortium");
    ${body}
  `);
const names = "apply((found) => found.map(({ name }) => name))";

/** A program that fails is one in a process of its own. */
test("a setting of the Provider that is not known yet, or fails, is an error that names it, and the other form", async () => {
  const stack = await another();
  program(
    `
    // Without a stack: for one with frames of Pulumi in it Node takes a minute to color it.
    const error = Object.assign(new Error("it is sealed"), { stack: "" });
    const keys = {
      later: new Consortium("vault").id.apply(() => process.env.CONSORTIUM_API_KEY),
      promise: Promise.reject(error),
      output: output(1).apply(() => { throw error; }),
    };
    for (const [name, apiKey] of Object.entries(keys)) {
      const provider = new Provider(name, { apiKey });
      getConsortia({}, { provider }).catch(({ message }) => console.log("plain form: " + message));
      exports[name] = getConsortiaOutput({}, { provider });
    }
  `,
    stack,
  );
  const text = await failed(stack.preview());
  expect(text).toMatch(
    /plain form: .*has no settings: the setting apiKey of the Provider "later" will only be known .*Use getConsortiaOutput/,
  );
  for (const name of ["promise", "output"]) {
    const why = `could not resolve the setting apiKey of the Provider "${name}": .*it is sealed`;
    expect(text).toMatch(new RegExp(`plain form: .*${why}`));
    expect(text).toMatch(new RegExp(`error: .*${why}`));
  }
});

test("the Output form waits for the key and its dependencies: unknown in the preview, known in the run", async () => {
  program(`
    const vault = new Consortium("vault");
    const environment = new Environment("e", { consortium: vault, provider: "quorum", consensusType: "raft" });
    const membership = new Membership("m", { consortium: vault });
    const { id } = new Node("n", { environment, membership });
    const login = new AppCred("login", { environment, membership });
    const provider = new Provider("later", { apiKey: vault.id.apply(() => process.env.CONSORTIUM_API_KEY) });
    exports.found = getConsortiaOutput({}, { provider }).${names};
    const last = new Consortium("last", {}, { dependsOn: [environment] });
    exports.seen = getConsortiaOutput({ name: "last" }, { dependsOn: [last] }).${names};
    exports.ids = [vault.id, environment.id, id, login.id];
  `);
  const { text } = await done(w.stack.preview());
  for (const name of ["found", "seen"]) expect(text).toMatch(new RegExp(`${name}\\s*: \\[unknown\\]`));
  await w.stack.ok(["up", "--yes", "--skip-preview"]);
  const { found, seen } = await w.stack.outputs();
  expect(found).toContain("vault");
  expect(seen).toEqual(["last"]);
  expect(await w.stack.exported()).not.toContain(canaryKey);
});

test.each([false, true])("get: every output of existing objects; the plugin: %s", async (plugin) => {
  const { ids } = (await w.stack.outputs()) as { ids: [string, string, string, string] };
  const [consortiumId, environmentId, nodeId, appCredId] = ids;
  const stack = await another(plugin ? { plugin } : { inline: true });
  stack.program(`
    const { AppCred, Node, TetherService } = require("pulumi-consortium");
    const where = ${JSON.stringify({ consortiumId, environmentId })};
    const found = {
      node: Node.get("its", "${nodeId}", where),
      appCred: AppCred.get("its", "${appCredId}", where),
      tether: TetherService.get("its", "${tetherId}"),
    };
    for (const [what, { id: _, urn: __, ...shown }] of Object.entries(found))
      exports[what] = Object.fromEntries(Object.entries(shown).filter(([key]) => !key.startsWith("__")));
  `);
  w.service.clearCalls();
  expect(await stack.up()).toMatchObject({ code: 0 });
  expect((await stack.up()).text).not.toMatch(/\d+ (created|updated|replaced|deleted)/);
  const { node, appCred, tether } = (await stack.outputs()) as Record<string, Record<string, unknown>>;
  expect(node).toMatchObject({ consortiumId, environmentId, name: "n", provider: "quorum", consensusType: "raft" });
  for (const key of ["membershipId", "role", "urls", "publicAddress"]) expect(node![key]).toEqual(expect.anything());
  expect(appCred).toMatchObject({ name: "login", username: appCredId });
  expect(appCred).not.toHaveProperty("password");
  expect(tether).toMatchObject({ tetherId, account: expect.stringMatching(/^0x/) as string });

  expect(await stack.destroy()).toMatchObject({ code: 0 });
  expect((await w.network()).nodes).toHaveLength(1); // what is only read stays
  expect(w.service.calls.filter(({ method }) => method !== "GET")).toEqual([]);
});

/* Programs on a ledger. (Who is let in: tests/service/ledger/real-ledger.test.ts; reports on their chain: tests/service/tether.) */

test("a program connects to the node that it makes", async () => {
  const height = "connect(node, cred).apply((ledger) => ledger.getBlockNumber().finally(() => ledger.destroy()))";
  const { stack } = await world(`${wholeTree} exports.height = require("pulumi-consortium").${height};`, {
    ledger: true,
  });
  await done(stack.up());
  expect((await stack.outputs()).height).toBeGreaterThanOrEqual(0);
});

test("the example, as its README says", async () => {
  const w = await world({ example: "examples/ledger" }, { ledger: true });
  symlinkSync(join(root, "node_modules/ethers"), join(w.stack.folder, "node_modules/ethers"));
  expect(await w.stack.up()).toMatchObject({ code: 0 });
  const { stdout: input } = await w.stack.ok(["stack", "output", "--json", "--show-secrets"]);
  const use = spawn(process.execPath, ["use.mjs"], { cwd: w.stack.folder });
  use.stdin.end(input);
  const { stdout: lines } = await finished(use);
  expect(lines.trim().split("\n")).toEqual([
    expect.stringMatching(/^grower {2}deployed Deliveries at 0x\w{40}, on the chain \d+$/),
    expect.stringMatching(/^grower {2}wrote a note, in block \d+$/),
    expect.stringMatching(/^roaster reads "60 kg of Huehuetenango" from 0x\w{40}$/),
    'grower  reads "received, 59.8 kg": 2 notes in all',
    expect.stringMatching(/^grower {2}is refused at the roaster's node: /),
  ]);
});
