import { canaryKey, type World, world } from "../support/world";

/** What is given to the network holds for every part of it. */

interface Kept {
  urn: string;
  type: string;
  provider?: string;
  protect?: boolean;
  retainOnDelete?: boolean;
  inputs: Record<string, unknown>;
}

const program = `
  const { Network, Provider } = require("pulumi-consortium");
  const provider = new Provider("own", { apiKey: "${canaryKey}", baseUrl: process.env.CONSORTIUM_BASE_URL });
  const options = { provider, protect: !process.env.LOOSE, customTimeouts: { create: "7m" }, retainOnDelete: true, adopt: true };
  new Network("trade", {
    members: ["acme"],
    environments: { prod: { provider: "geth", consensusType: "poa", nodes: { acme: 1 } } },
  }, options);
`;

let w: World;
beforeAll(async () => {
  w = await world(program, { inline: true, ledger: false, env: { CONSORTIUM_API_KEY: undefined } });
});
afterAll(() => w.close());

test("protect, provider, customTimeouts, retainOnDelete and adopt reach every part", async () => {
  const { code, text } = await w.stack.up();
  expect({ code, text }).toMatchObject({ code: 0 });
  const { deployment } = JSON.parse(await w.stack.exported()) as { deployment: { resources: Kept[] } };
  const parts = deployment.resources.filter(({ type }) => type.startsWith("pulumi-nodejs:"));
  expect(parts).toHaveLength(5);
  for (const { type, provider, protect, retainOnDelete, inputs } of parts) {
    const adopt = type.endsWith("AppCred") ? undefined : true;
    expect([type, provider?.includes("::own::"), protect, retainOnDelete]).toEqual([type, true, true, true]);
    expect([type, inputs.customTimeouts, inputs.adopt]).toEqual([type, { create: 420 }, adopt]);
  }
});

test("what is protected is not destroyed; what is to be retained stays in the service", async () => {
  expect((await w.stack.destroy()).code).not.toBe(0);
  expect(await w.stack.up({ LOOSE: "1" })).toMatchObject({ code: 0 });
  const before = await w.network();
  expect(await w.stack.destroy()).toMatchObject({ code: 0 });
  expect(await w.network()).toEqual(before);
});
