import { readFileSync } from "node:fs";
import { join } from "node:path";
import { transformSync } from "esbuild";
import { ConsortiumClient, resolveSettings } from "../../../provider/api";
import { examples, lookupExamples, quickstart, sampleIds, whole } from "../../../plugin/schema/examples";
import { languages, type Part, type Program } from "../../../plugin/schema/languages";
import { patiently } from "../../support/jest/patience";
import { until } from "../../support/until";
import { failed, root } from "../support/stack";
import { canaryKey, type World, world } from "../support/world";

/*
 * A life in each language: the quickstart's network as in examples/, policies, a change, a replacement, and the examples of the reference
 * pages and of the schema, the whole network and all lookups as one program. (Templates: tests/e2e/install/languages.test.ts.)
 */

jest.setTimeout(patiently(900_000)); // the first time, packages for Python and Go are made

const schema = join(root, "schemas/schema.json");
const how = { tethers: [{ id: sampleIds.tether }], limits: { consortia: 3 } };

/** Names of the network's parts in the service, and of those that were there. */
const parts = {
  consortia: ["coffee-trade"],
  memberships: ["grower", "roaster"],
  environments: ["ledger"],
  nodes: ["grower-1", "grower-2", "roaster-1", "roaster-2"],
  appcreds: ["grower-app", "roaster-app"],
};
const count = Object.values(parts).flat().length + 1; // and the stack
const names = { consortium: "elder", membership: "miller", environment: "old-ledger", node: "n" };

/** The objects for the lookups: an existing network. */
async function existing(baseUrl: string): Promise<typeof sampleIds> {
  const client = new ConsortiumClient(resolveSettings({ env: {}, given: { baseUrl, apiKey: canaryKey } }));
  try {
    const { id: consortium } = await client.createConsortium({ name: names.consortium });
    const { id: membership } = await client.createMembership(consortium, { org_name: names.membership });
    const ledger = { name: names.environment, provider: "geth", consensus_type: "poa" };
    const { id: environment } = await client.createEnvironment(consortium, ledger);
    const { id: node } = await client.createNode(consortium, environment, {
      name: names.node,
      membership_id: membership,
    });
    await until(async () => (await client.getNode(consortium, environment, node)).state === "started");
    return { ...sampleIds, consortium, membership, environment, node };
  } finally {
    await client.close();
  }
}

/** A resource of each kind, `Network`, and all lookups. */
async function everything(): Promise<Program & { parts: Part[] }> {
  const looks = Object.values(lookupExamples(await existing(w.service.baseUrl), names)).map(({ program }) => program);
  const network = { ...examples.Network!.program.parts[0]!, name: "spice-trade" };
  return {
    parts: [...whole.parts, network],
    lookups: looks.flatMap(({ lookups = [] }) => lookups),
    outputs: Object.assign({}, ...[whole, ...looks].map(({ outputs }) => outputs)) as Program["outputs"],
  };
}

/** The edit of a program that replaces a credential. */
const keepers = {
  yaml: ["Pulumi.yaml", "type: consortium:AppCred\n    properties:", "$&\n      keepers: { month: june }"],
  python: ["__main__.py", '"grower-app",', '$&\n    keepers={"month": "june"},'],
  go: ["main.go", '"grower-app", &consortium.AppCredArgs{', '$&\nKeepers: pulumi.Map{"month": pulumi.String("june")},'],
} as const;

let w: World;

async function inService(): Promise<Record<string, unknown[]>> {
  const found = Object.entries(await w.network());
  const here = new Set<unknown>(Object.values(names));
  const nameOf = (item: Record<string, unknown>) => item.name ?? item.org_name;
  const namesIn = (items: Record<string, unknown>[]) => items.map(nameOf).filter((name) => !here.has(name));
  return Object.fromEntries(found.map(([kind, items]) => [kind, namesIn(items).sort()]));
}

/** The outputs of the example; no secret of them is in clear in the state, or where it was printed. */
async function expectOutputs(printed: string): Promise<void> {
  const { rpcUrls, passwords } = (await w.stack.outputs()) as Record<"rpcUrls" | "passwords", Record<string, string>>;
  expect(Object.keys(rpcUrls).sort()).toEqual(parts.nodes);
  for (const url of Object.values(rpcUrls)) expect(url).toMatch(/^http:/);
  expect(Object.keys(passwords)).toEqual(["grower", "roaster"]);
  const seen = printed + (await w.stack.exported());
  for (const secret of [canaryKey, ...Object.values(passwords)]) expect(secret.length).toBeGreaterThan(8);
  expect([canaryKey, ...Object.values(passwords)].filter((secret) => seen.includes(secret))).toEqual([]);
}

/** The examples create the resources that they show, and find what there is. */
async function expectEverything(program: Program): Promise<void> {
  const up = await w.stack.up();
  expect([up.code, up.text]).toEqual([0, up.text]);
  expect(Object.keys(await w.stack.outputs()).sort()).toEqual(Object.keys(program.outputs).sort());
  expect(await w.stack.outputs()).toMatchObject({
    rpc: expect.stringContaining(w.service.url) as string,
    memberships: [{ orgName: "miller" }],
    environments: [{ name: "old-ledger" }],
    nodes: [{ name: "n" }],
    blockHeight: expect.any(Number) as number,
    lines: expect.any(Array) as string[],
    reports: [],
    account: expect.stringMatching(/^0x/) as string,
    balanceWei: expect.stringMatching(/^\d+$/) as string,
  });
  expect((await inService()).nodes).toEqual(["grower-1", ...parts.nodes]); // those of Network have these names, too
}

async function expectNothingLeft(): Promise<void> {
  expect(await w.stack.destroy()).toMatchObject({ code: 0 });
  expect((await inService()).consortia).toEqual([]);
}

test.each(["yaml", "python", "go"] as const)("%s: up, policies, a change, a replacement, destroy", async (language) => {
  w = await world({ example: `examples/${language}` }, { language, plugin: true, schema, ...how });
  const program = await everything();
  const up = await w.stack.up();
  expect(up).toMatchObject({ code: 0, text: expect.stringContaining(`${count} created`) as string });
  expect(await inService()).toEqual(parts);
  await expectOutputs(up.text);

  const [file, before, after] = keepers[language];
  const changed = (text: string): string => text.replace("which beans", "whose beans").replace(before, after);
  const example = readFileSync(join(w.stack.folder, file), "utf8");
  const [head] = /^[^]*?(?=resources:)/.exec(example) ?? [""]; // of YAML: the name, and the test's own settings
  const settings = /\nplugins:\n[^]*$/.exec(example)?.[0] ?? "";
  const text = languages[language](program);
  const written = language === "yaml" ? head + text.slice(text.indexOf("resources:")) + settings : text;
  w.stack.write(file, changed(written));
  // The policy pack sees the network, whatever it is written in.
  w.stack.write("rules.json", JSON.stringify({ "nodes-per-environment": { max: 0 } }));
  const pack = ["--policy-pack", join(root, "policy-pack"), "--policy-pack-config", join(w.stack.folder, "rules.json")];
  w.service.clearCalls();
  const refused = await failed(w.stack.preview({}, ...pack));
  expect(refused).toContain(
    'Environment "ledger" would have 1 nodes (in this stack "grower-1"), but at most 0 are allowed.',
  );
  expect(refused).toMatch(/~ +consortium:index:Consortium coffee-trade update \[diff: ~description\]/);
  expect(refused).toMatch(/\+- +consortium:index:AppCred grower-app replace /);
  const known = new Set(quickstart.parts.map(({ name }) => name));
  for (const { type, name } of program.parts.filter((part) => !known.has(part.name)))
    expect(refused).toMatch(new RegExp(`\\+ +consortium:index:${type} ${name} create`));
  const asked = w.service.calls.map(({ path }) => path).join("\n");
  for (const path of [/\/logs\//, /\/status/, /\/balance\//, /\/memberships/]) expect(asked).toMatch(path);

  w.stack.write(file, changed(example));
  const old = (await w.network()).appcreds.find(({ name }) => name === "grower-app");
  // A refresh before it finds all as it is: then nothing but these two changes.
  const update = await w.stack.up({}, "--refresh");
  expect(update.text).toMatch(/~ 1 updated\n\s+\+-1 replaced/);
  const { consortia, appcreds } = await w.network();
  expect(consortia).toContainEqual(expect.objectContaining({ description: "Who delivered whose beans to whom" }));
  expect(appcreds).toHaveLength(2);
  expect(appcreds).not.toContainEqual(old);
  await expectOutputs(update.text);

  if (language === "yaml") {
    w.stack.write(file, written);
    await expectEverything(program);
  }
  await expectNothingLeft();
});

test("typescript: the examples create the resources that they show, and destroy deletes them", async () => {
  w = await world("", { inline: true, ...how });
  const program = await everything();
  w.stack.program(transformSync(languages.typescript(program), { loader: "ts", format: "cjs" }).code);
  await expectEverything(program);
  await expectNothingLeft();
});
