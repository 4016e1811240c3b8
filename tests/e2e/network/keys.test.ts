import { done } from "../support/stack";
import { type World, world, writesOf } from "../support/world";

/**
 * Keys of a network file that become others: without `formerly` an environment is another ledger, and the preview says so.
 * Then the network of one consortium gets a second one, and another name.
 */

const program = `
  const { Network } = require("pulumi-consortium");
  const network = Network.fromFile("network.yaml");
  exports.ids = Object.fromEntries(Object.entries(network.consortia).map(([key, { consortium }]) => [key, consortium.id]));
`;
const settings = "provider: geth, consensusType: poa, nodes: { acme: 1 }";
const environments = (...lines: string[]): string =>
  ["members: { acme: {}, globex: {} }", "environments:", ...lines.map((line) => `  ${line}`)].join("\n");

let w: World;
const write = (text: string): void => w.stack.write("network.yaml", text);
const trade = (...lines: string[]): void => write(`name: trade\n${environments(...lines)}\n`);
beforeAll(async () => {
  w = await world(program, { inline: true, plugin: true, ledger: false });
  trade(`prod: { ${settings} }`, `test: { ${settings} }`);
  expect(await w.stack.up()).toMatchObject({ code: 0 });
});

const loss =
  'warning: environment "trade/prod": DELETING AN ENVIRONMENT DESTROYS ITS LEDGER, its nodes and its credentials (its key is no longer in the definition of the network)';
const hint =
  'environment "trade/prod": if you only renamed its key ("live"), write "formerly: prod" there, and nothing is deleted.';

async function preview(...args: string[]): Promise<string> {
  const { text } = await done(w.stack.preview({}, ...args));
  return text;
}

/** One story: each test goes on where the one before it ended. */
describe("an environment", () => {
  test("under another key: the preview warns, and names formerly", async () => {
    trade(`live: { ${settings} }`, `test: { ${settings} }`);
    const text = await preview();
    expect(text).toContain(loss);
    expect(text).toContain(hint);
  });

  test("that is removed is a loss, too", async () => {
    trade(`test: { ${settings} }`);
    const { text } = await done(w.stack.up());
    expect(text).toContain(loss);
    expect(text).not.toContain("formerly");
  });
});

const one = environments(`test: { ${settings} }`).replaceAll(/^/gm, "    ");
const two = `consortia:\n  trade:\n${one}\n  spice:\n${one.replaceAll("acme", "zest")}\n`;

describe("a second consortium", () => {
  test("does not affect the first, and an environment that is gone is not mentioned again", async () => {
    const before = await w.stack.ids();
    write(`name: trade\n${two}`);
    const text = await preview();
    expect(text).toMatch(/\+ 6 to create\n +8 unchanged/);
    expect(text).not.toContain("DESTROYS");
    expect(await w.stack.up()).toMatchObject({ code: 0 });
    expect(await w.stack.ids()).toEqual(expect.arrayContaining(before));
    expect(await w.stack.outputs()).toMatchObject({
      ids: { trade: expect.any(String) as string, spice: expect.any(String) as string },
    });
  });

  test("another name of the network, on the other provider, replaces nothing; afterwards formerly can be removed, and the move back replaces nothing, either", async () => {
    const before = await w.stack.ids();
    write(`name: commerce\nformerly: trade\n${two}`);
    expect(await preview("--diff")).not.toMatch(/\((replace|create|delete)\)/);
    w.service.clearCalls();
    expect(await w.stack.up({ CONSORTIUM_PLUGIN: "false" })).toMatchObject({ code: 0 });
    write(`name: commerce\n${two}`);
    await preview("--expect-no-changes");
    expect([writesOf(w.service), await w.stack.ids()]).toEqual([[], before]);
  });
});
