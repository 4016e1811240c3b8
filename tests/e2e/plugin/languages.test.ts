import { readFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import { plugins, type Result, root } from "../support/stack";
import { canaryKey, type World, world } from "../support/world";

/* The quickstart's network in the languages of the plugin: the examples and templates as they are. */

jest.setTimeout(900_000); // the first time, packages for Python and Go are made

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

let w: World;
const start = async (language: "yaml" | "python" | "go"): Promise<void> => {
  w = await world({ example: `examples/${language}` }, { language, plugin: true, schema });
};

/** Another program in place of the example, as `pulumi new` writes it. */
function useTemplate(language: "yaml" | "python", file: string): void {
  const text = readFileSync(join(root, "templates", language, file), "utf8");
  const filled = text.replace("${PROJECT}", `quickstart-${language}`).replace("${DESCRIPTION}", "A network");
  w.stack.write(file, language === "yaml" ? filled + stringify({ plugins }) : filled);
}

/** The template's network takes the place of the example's, and is taken down. */
async function expectTemplateThenDestroy(): Promise<void> {
  const up = await w.stack.up();
  expect(up).toMatchObject({ code: 0 });
  expect(await names()).toMatchObject({ consortia: ["trade"], memberships: ["buyer", "seller"] });
  const { endpoints } = (await w.stack.outputs()) as { endpoints: Record<string, { url: string; password: string }> };
  expect(endpoints.buyer!.url).toMatch(/^http:/);
  expect(up.text + (await w.stack.exported())).not.toContain(endpoints.buyer!.password);
  await expectDestroyed();
}

async function expectDestroyed(): Promise<void> {
  expect(await w.stack.destroy()).toMatchObject({ code: 0 });
  expect((await w.network()).consortia).toEqual([]);
}

async function names(): Promise<Record<string, unknown[]>> {
  const found = Object.entries(await w.network());
  return Object.fromEntries(
    found.map(([kind, items]) => [kind, items.map((item) => item.name ?? item.org_name).sort()]),
  );
}

/** Nothing changed, said by the run itself. */
const expectUnchanged = (result: Result, all = count): void =>
  expect(result).toMatchObject({ code: 0, text: expect.stringContaining(`${all} unchanged`) as string });

/** The policy pack sees the network, whatever it is written in. */
async function expectPolicies(): Promise<void> {
  w.stack.write("rules.json", JSON.stringify({ "nodes-per-environment": { max: 3 } }));
  const pack = ["--policy-pack", join(root, "policy-pack"), "--policy-pack-config", join(w.stack.folder, "rules.json")];
  const { code, text } = await w.stack.preview({}, ...pack);
  expect(code).not.toBe(0);
  expect(text).toContain(
    'Environment "ledger" would have 4 nodes (in this stack "grower-1", "grower-2", "roaster-1" and "roaster-2"), but at most 3 are allowed.',
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

/** How the example's program says otherwise: a description, and what makes a credential a new one. */
const changes = {
  yaml: {
    file: "Pulumi.yaml",
    keepers: ["type: consortium:AppCred\n    properties:", "$&\n      keepers: { month: june }"],
  },
  python: { file: "__main__.py", keepers: ['"grower-app",', '$&\n    keepers={"month": "june"},'] },
  go: {
    file: "main.go",
    keepers: ['"grower-app", &consortium.AppCredArgs{', '$&\nKeepers: pulumi.Map{"month": pulumi.String("june")},'],
  },
} as const;

afterEach(() => w.close());

test.each(["yaml", "python", "go"] as const)(
  "%s: up, nothing to change, the policy pack, a change in place and a replacement, the template where there is one, destroy",
  async (language) => {
    await start(language);
    const up = await w.stack.up();
    expect(up).toMatchObject({ code: 0, text: expect.stringContaining(`${count} created`) as string });
    expect(await names()).toEqual(parts);
    await expectOutputs(up.text);
    expectUnchanged(await w.stack.preview());
    expectUnchanged(await w.stack.refresh());
    await expectPolicies();

    const { file, keepers } = changes[language];
    const text = readFileSync(join(w.stack.folder, file), "utf8");
    w.stack.write(file, text.replace("which beans", "whose beans").replace(keepers[0], keepers[1]));
    const before = (await w.network()).appcreds.find(({ name }) => name === "grower-app");
    const changed = await w.stack.up();
    expect(changed.text).toMatch(/~ 1 updated\n\s+\+-1 replaced/);
    const { consortia, appcreds } = await w.network();
    expect(consortia).toMatchObject([{ description: "Who delivered whose beans to whom" }]);
    expect(appcreds).toHaveLength(2);
    expect(appcreds).not.toContainEqual(before);
    await expectOutputs(changed.text);

    if (language === "go") return expectDestroyed(); // there is no template in Go
    useTemplate(language, file);
    await expectTemplateThenDestroy();
  },
);
