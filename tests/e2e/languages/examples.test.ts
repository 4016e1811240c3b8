import { readFileSync } from "node:fs";
import { join } from "node:path";
import { transformSync } from "esbuild";
import { ConsortiumClient, resolveSettings } from "../../../provider/api";
import { examples, lookupExamples, sampleIds, whole } from "../../../plugin/schema/examples";
import { languages, type Program } from "../../../plugin/schema/languages";
import { generatedSdk } from "../support/languages/sdk";
import { done, root, Stack } from "../support/stack";
import { until } from "../../support/until";
import { canaryKey, type World, world } from "../support/world";
import { patiently } from "../../support/jest/patience";

/* The examples of the reference pages and of the schema, in each language: the whole network and all lookups as one program. */

jest.setTimeout(patiently(900_000)); // the first time, packages for Python and Go are made

const { Network } = examples;
const schema = join(root, "schemas/schema.json");

function merged(programs: readonly Program[]): Program {
  const parts = new Map(programs.flatMap((program) => program.parts.map((part) => [part.name, part])));
  return {
    parts: [...parts.values()],
    lookups: programs.flatMap(({ lookups = [] }) => lookups),
    outputs: Object.fromEntries(programs.flatMap(({ outputs }) => Object.entries(outputs))),
  };
}

/** The objects for the lookups: an existing network. */
const names = { consortium: "elder", membership: "miller", environment: "old-ledger", node: "n" };

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

const commonJs = (text: string): string => transformSync(text, { loader: "ts", format: "cjs" }).code;
const textOf = { ...languages, typescript: (program: Program) => commonJs(languages.typescript(program)) };

let w: World;

async function inWorld(language: keyof typeof languages): Promise<Program> {
  const how = language === "typescript" ? { inline: true } : { language, plugin: true, schema };
  const tethers = [{ id: sampleIds.tether }];
  w = await world("", { ...how, tethers });
  const looks = lookupExamples(await existing(w.service.baseUrl), names);
  return merged([whole, ...Object.values(looks).map(({ program }) => program)]);
}

/** The test's settings replace those of the YAML project. */
const written = (language: keyof typeof languages, program: Program): string => {
  const text = textOf[language](program);
  return language === "yaml" ? text.replace(/^name: .*\nruntime: .*\n/, "") : text;
};

test.each(["typescript", "yaml"] as const)("%s: they create the resources that they show", async (language) => {
  const program = await inWorld(language);
  w.stack.program(written(language, program));
  expect(await w.stack.up()).toMatchObject({ code: 0 });
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
  w.stack.program(written(language, Network!.program));
  expect(await w.stack.destroy()).toMatchObject({ code: 0 });
  expect(await w.stack.up()).toMatchObject({ code: 0 });
  expect((await w.network()).nodes).toHaveLength(5);
});

test.each(["python", "go"] as const)("%s: they compile, and the engine accepts them", async (language) => {
  const program = await inWorld(language);
  w.stack.program(written(language, program));
  w.service.clearCalls();
  const { text } = await done(w.stack.preview());
  expect(text).toContain(`${program.parts.length + 1} to create`);
  const asked = w.service.calls.map(({ path }) => path).join("\n");
  for (const path of [/\/logs\//, /\/status/, /\/balance\//, /\/memberships/]) expect(asked).toMatch(path);
  w.stack.program(written(language, Network!.program));
  expect(await w.stack.preview()).toMatchObject({ code: 0 });
});

/* Other work of the tests' language hosts. tests/e2e/stories/languages.test.ts runs programs. */
test("the CLI generates an SDK for Node.js, and programs in each language", async () => {
  const sdk = await generatedSdk("nodejs", schema);
  const vars = readFileSync(join(sdk, "config", "vars.ts"), "utf8");
  expect(vars).toContain('from "../utilities"'); // of the parent folder, whatever Go the hosts are built with
  const stack = await Stack.create({ language: "yaml", program: 'outputs:\n  said: "hello"\n' });
  for (const [language, file] of Object.entries({ typescript: "index.ts", python: "__main__.py", go: "main.go" })) {
    await stack.ok(["convert", "--from", "yaml", "--language", language, "--out", language, "--generate-only"]);
    expect(readFileSync(join(stack.folder, language, file), "utf8")).toContain('"hello"');
  }
});
