import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse, stringify } from "yaml";
import { done, failed } from "../support/stack";
import { type World, world } from "../support/world";

/* `pulumi:autonaming` with the newest CLI. The plugin's answers to each proposal are in tests/plugin/autonaming.test.ts. */

const program = `resources:
  trade: { type: consortium:Consortium }
  mill: { type: consortium:Membership, properties: { consortiumId: "\${trade.id}" } }
`;

let w: World;
const other = { PULUMI_STACK: "other" };

/** Sets it for all stacks of the project. */
function autonaming(value?: object): void {
  const settings = parse(readFileSync(join(w.stack.folder, "Pulumi.yaml"), "utf8")) as { config?: object };
  const config = value && { "pulumi:autonaming": { value } };
  w.stack.write("Pulumi.yaml", stringify({ ...settings, config }));
}

async function names() {
  const { consortia, memberships } = await w.network();
  return { consortia: consortia.map(({ name }) => name).sort(), members: memberships.map((one) => one.org_name) };
}

beforeAll(async () => {
  const onPlugin = { language: "yaml", release: "newest", inline: true, plugin: true } as const;
  w = await world(program, { ...onPlugin, ledger: false, limits: { consortia: 3 } });
  await w.stack.ok(["stack", "init", "other"]);
});

test("two stacks of one organization clash without a pattern; the error names the setting", async () => {
  await done(w.stack.up());
  expect(await failed(w.stack.up(other))).toMatch(/name is already taken[^]*pulumi:autonaming/);
  autonaming({
    pattern: "${stack}-${name}",
    providers: { consortium: { resources: { "consortium:index:Membership": { mode: "verbatim" } } } },
  });
  await done(w.stack.up(other));
  expect(await names()).toEqual({ consortia: ["other-trade", "trade"], members: ["mill", "mill"] });
});
