import { readFileSync } from "node:fs";
import { join } from "node:path";
import { failed, root } from "../support/stack";
import { canaryKey, type World, world } from "../support/world";
import { patiently } from "../../support/jest/patience";

/* The quickstart's network in each language of the plugin: the examples as they are. (Templates: tests/e2e/install/languages.test.ts.) */

jest.setTimeout(patiently(900_000)); // the first time, packages for Python and Go are made

const schema = join(root, "schemas/schema.json");

/** Names of the network's parts in the service. */
const parts = {
  consortia: ["coffee-trade"],
  memberships: ["grower", "roaster"],
  environments: ["ledger"],
  nodes: ["grower-1", "grower-2", "roaster-1", "roaster-2"],
  appcreds: ["grower-app", "roaster-app"],
};
const count = Object.values(parts).flat().length + 1; // and the stack

/** The edit of the example's program that replaces a credential. */
const keepers = {
  yaml: ["Pulumi.yaml", "type: consortium:AppCred\n    properties:", "$&\n      keepers: { month: june }"],
  python: ["__main__.py", '"grower-app",', '$&\n    keepers={"month": "june"},'],
  go: ["main.go", '"grower-app", &consortium.AppCredArgs{', '$&\nKeepers: pulumi.Map{"month": pulumi.String("june")},'],
} as const;

let w: World;

async function names(): Promise<Record<string, unknown[]>> {
  const found = Object.entries(await w.network());
  return Object.fromEntries(
    found.map(([kind, items]) => [kind, items.map((item) => item.name ?? item.org_name).sort()]),
  );
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

test.each(["yaml", "python", "go"] as const)("%s: up, policies, a change, a replacement, destroy", async (language) => {
  w = await world({ example: `examples/${language}` }, { language, plugin: true, schema });
  const up = await w.stack.up();
  expect(up).toMatchObject({ code: 0, text: expect.stringContaining(`${count} created`) as string });
  expect(await names()).toEqual(parts);
  await expectOutputs(up.text);

  const [file, before, after] = keepers[language];
  const text = readFileSync(join(w.stack.folder, file), "utf8");
  w.stack.write(file, text.replace("which beans", "whose beans").replace(before, after));
  // The policy pack sees the network, whatever it is written in.
  w.stack.write("rules.json", JSON.stringify({ "nodes-per-environment": { max: 3 } }));
  const pack = ["--policy-pack", join(root, "policy-pack"), "--policy-pack-config", join(w.stack.folder, "rules.json")];
  const refused = await failed(w.stack.preview({}, ...pack));
  expect(refused).toContain(
    'Environment "ledger" would have 4 nodes (in this stack "grower-1", "grower-2", "roaster-1" and "roaster-2"), but at most 3 are allowed.',
  );
  expect(refused).toMatch(/~ +consortium:index:Consortium coffee-trade update \[diff: ~description\]/);
  expect(refused).toMatch(/\+- +consortium:index:AppCred grower-app replace /);

  const old = (await w.network()).appcreds.find(({ name }) => name === "grower-app");
  // A refresh before it finds all as it is: then nothing but these two changes.
  const changed = await w.stack.up({}, "--refresh");
  expect(changed.text).toMatch(/~ 1 updated\n\s+\+-1 replaced/);
  const { consortia, appcreds } = await w.network();
  expect(consortia).toMatchObject([{ description: "Who delivered whose beans to whom" }]);
  expect(appcreds).toHaveLength(2);
  expect(appcreds).not.toContainEqual(old);
  await expectOutputs(changed.text);

  expect(await w.stack.destroy()).toMatchObject({ code: 0 });
  expect((await w.network()).consortia).toEqual([]);
});
