import { type World, world } from "../support/world";

/* Facts that only the real engine tells of its own provider. YAML stands for every language except TypeScript. */

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
