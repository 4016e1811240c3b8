import { type World, world } from "../support/world";

/** A key of a network file that becomes another one: without `formerly` that is another ledger, and the preview says so. */

const program = `
  const { Network } = require("pulumi-consortium");
  Network.fromFile("network.yaml");
`;
const file = (environments: string): string => `name: trade\nmembers: [acme]\nenvironments:\n${environments}`;
const kind = "{ provider: geth, consensusType: poa, nodes: { acme: 1 } }";
const settings = kind.slice(2);

let w: World;
beforeAll(async () => {
  w = await world(program, { ledger: false });
  w.stack.write("network.yaml", file(`  prod: ${kind}\n  test: ${kind}\n`));
  expect(await w.stack.up()).toMatchObject({ code: 0 });
});
afterAll(() => w.close());

const loss =
  'WARNING: environment "trade/prod": DELETING AN ENVIRONMENT DESTROYS ITS LEDGER, its nodes and its credentials (its key is no longer in the definition of the network)';
const hint =
  'environment "trade/prod": if only its key is another one now ("live"), write "formerly: prod" there: then nothing is deleted.';

async function previewOf(environments: string): Promise<string> {
  w.stack.write("network.yaml", file(environments));
  const { code, text } = await w.stack.preview();
  expect({ code, text }).toMatchObject({ code: 0 });
  return text;
}

test("the preview warns, and names formerly; also after a refresh", async () => {
  const renamed = `  live: ${kind}\n  test: ${kind}\n`;
  for (const text of [await previewOf(renamed), (await w.stack.refresh()).code === 0 && (await previewOf(renamed))]) {
    expect(text).toContain(loss);
    expect(text).toContain(hint);
  }
});

test("with formerly, and where nothing is renamed, it does not", async () => {
  const text = await previewOf(`  live: { formerly: prod, ${settings}\n  test: ${kind}\n`);
  expect(text).not.toMatch(/WARNING|formerly:|to delete|to create/);
  expect(await previewOf(`  test: ${kind}\n  prod: ${kind}\n  another: ${kind}\n`)).not.toMatch(/WARNING|formerly:/);
});

test("an environment that is taken out is a loss, too; once it is gone, nothing more is said of it", async () => {
  const without = `  test: ${kind}\n`;
  const text = await previewOf(without);
  expect(text).toContain(loss);
  expect(text).not.toContain("formerly");
  expect((await w.stack.up()).text).toContain(loss);
  expect(await previewOf(without)).not.toContain("WARNING");
});
