import { canaryKey, type World, world } from "../support/world";

/* Facts that only the real engine tells: its own provider, and secrets. YAML stands for every language except TypeScript. */

const withProvider = `
config:
  consortium:apiKey: { type: string, secret: true }
resources:
  default:
    type: pulumi:providers:consortium
    properties: { apiKey: "\${consortium:apiKey}" }
  trade: { type: consortium:Consortium, options: { provider: "\${default}" } }
`;

describe("an explicit provider that is called default", () => {
  let w: World;
  beforeAll(async () => {
    w = await world(withProvider, { language: "yaml", inline: true, plugin: true, ledger: false });
    w.stack.secrets({ "consortium:apiKey": w.service.addOrganization("globex").apiKey });
  });

  const owner = (): string | undefined => {
    const [made] = w.service.store.consortia.list();
    return w.service.organizations.find(({ id }) => id === made?.parent)?.name;
  };

  // Only the constant of the schema distinguishes it from the engine's. (A key of its own: tests/plugin/service.test.ts.)
  test("wins over the environment with the key of the stack", async () => {
    expect(await w.stack.up()).toMatchObject({ code: 0 });
    expect(owner()).toBe("globex");
    expect(await w.stack.refresh()).toMatchObject({ code: 0 });
    expect(await w.stack.destroy()).toMatchObject({ code: 0 });
    expect(w.service.store.consortia.list()).toEqual([]);
  });

  test("the engine's own takes the key of the environment, as before, for destroy, too", async () => {
    w.stack.program("resources: { trade: { type: consortium:Consortium } }");
    w.stack.secrets({ "consortium:apiKey": "stale" });
    expect(await w.stack.up()).toMatchObject({ code: 0 });
    expect(owner()).toBe("local");
    const rotated = w.service.rotateKey("local");
    expect(await w.stack.destroy({ CONSORTIUM_API_KEY: rotated })).toMatchObject({ code: 0 });
    expect(w.service.store.consortia.list()).toEqual([]);
  });
});

test("secrets in a network stay secret, at any depth: in previews, in the state, in errors", async () => {
  const program = (word: string): string => `
config:
  word: { type: string, secret: true }
resources:
  trade:
    type: consortium:Network
    properties:
      consortium:
        description: ${word}
        extra: { a: { b: [${word}] } }
      members:
        acme: { extra: { label: ${word} } }
      environments:
        prod:
          provider: geth
          consensusType: poa
          description: ${word}
          chainId: { fn::secret: 4242424242 }
          nodes: { acme: { main: { extra: { zone: ${word} } } } }
          credentials: { acme: { keepers: { year: { of: ${word} } } } }
outputs:
  chain: \${trade.consortia["trade"].environments["prod"].chainId}
`;
  const w = await world(program('"${word}"'), {
    language: "yaml",
    plugin: true,
    ledger: false,
    secrets: { word: "canary-word-1" },
  });
  const clean = async (text: string): Promise<void> => {
    const all = text + (await w.stack.exported());
    for (const canary of ["canary-word", "4242424242", canaryKey]) expect(all).not.toContain(canary);
  };
  const { text } = await w.stack.ok(["preview", "--diff"]);
  await clean(text);
  for (const open of [/name +: "trade"/, /consensusType +: "poa"/, /orgName +: "acme"/]) expect(text).toMatch(open);
  await clean((await w.stack.ok(["up", "--yes", "--diff"])).text);
  expect((await w.network()).consortia).toMatchObject([{ description: "canary-word-1" }]);
  w.stack.secrets({ word: "canary-word-2" });
  await clean((await w.stack.ok(["preview", "--diff"])).text);
  w.service.faults.add({ kind: "status", status: 422, errorMessage: "no canary-word-2 here", method: "POST" });
  const failed = await w.stack.up();
  expect(failed.text).toContain("no [secret] here");
  await clean(failed.text);
});
