import { hostname } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import { type Summary } from "../../fleet/made";
import { exactly, FleetWorld } from "../support/fleet";
import { finished, root } from "../support/stack";
import { until } from "../../support/until";

/*
 * Two concurrent runs of one fleet on its backend, like shards and pipelines, and policies that run before any create. (Two runs in one
 * folder: tests/fleet/recovery.test.ts.)
 */

let w: FleetWorld;
const checkouts = ["here", "there"];

/** The same fleet file in two folders, as on two machines. */
function fleet(more: object = {}, stacks: object = {}): void {
  const organizations = {
    acme: { apiKey: w.sources.acme, stacks: { prod: "../networks/trade.yaml" } },
    globex: { apiKey: { command: ["cat", "../globex.key"] }, stacks: { prod: "../networks/trade.yaml", ...stacks } },
  };
  const text = stringify({
    project: "fleet",
    id: "fleet",
    backend: `file://${w.folder}/state`,
    ...more,
    organizations,
  });
  for (const one of checkouts) w.write(`${one}/fleet.yaml`, text);
}

interface Ran {
  code: number | null;
  stacks: Summary["stacks"];
}

async function up(checkout: string, ...args: string[]): Promise<Ran> {
  const { code, stdout, text } = await finished(w.startOf(`${checkout}/fleet.yaml`, "up", "--yes", "--json", ...args));
  if (stdout === "") throw new Error(text);
  return { code, stacks: (JSON.parse(stdout) as Summary).stacks };
}

const nodes = () => w.service.store.nodes.list();
const letStart = (): void => nodes().forEach(({ id }) => w.service.store.nodes.setState(id, "started"));
const networks = async () => [await w.counts("acme"), await w.counts("globex")];

beforeAll(async () => {
  w = await FleetWorld.create({ nodeStart: 3_600_000 }); // until the test lets them
  fleet();
});

test("the second run changes nothing, and names the holder of the lock", async () => {
  const first = up("here");
  await until(() => nodes().length === 2);
  const second = await up("there");
  expect(second.code).toBe(1);
  for (const { outcome, error } of second.stacks) {
    expect(outcome).toBe("failed");
    expect(error).toMatch(
      new RegExp(`the stack is locked by \\S+@${hostname()} \\(process \\d+\\) since \\S+\\. Wait until`),
    );
  }
  letStart();
  expect(await first).toMatchObject({ code: 0, stacks: [{ created: 5 }, { created: 5 }] });
  expect(await networks()).toEqual([exactly, exactly]);
  expect(await up("there")).toMatchObject({ code: 0, stacks: [{ created: 0 }, { created: 0 }] });
});

test("two runs that create the same new stack at once create it once", async () => {
  const timer = setInterval(letStart, 100);
  fleet({}, { second: { definition: "../networks/trade.yaml", name: "second" } });
  const all = await Promise.all(checkouts.map((one) => up(one))).finally(() => clearInterval(timer));
  for (const { outcome, error } of all.flatMap(({ stacks }) => stacks))
    // Or Pulumi, before it looks for a lock, reads a state that the other run is writing.
    if (outcome !== "ok") expect(error).toMatch(/the stack is locked by |failed to load checkpoint: EOF/);
  letStart();
  expect(await up("here")).toMatchObject({ code: 0 });
  expect((await w.network("globex")).consortia.map(({ name }) => name).sort()).toEqual(["second", "trade"]);
});

test("a stack that violates a mandatory policy fails before creating anything; the others do not fail", async () => {
  w.write("networks/two.yaml", w.read("networks/trade.yaml").replace("m: 1", "m: 2"));
  w.write("rules.json", JSON.stringify({ "nodes-per-environment": { max: 1 } }));
  fleet(
    { policyPacks: [{ path: join(root, "policy-pack"), config: "../rules.json" }] },
    { second: "../networks/two.yaml" },
  );
  w.service.clearCalls();
  const { code, stacks } = await up("here");
  expect(code).toBe(1);
  expect(stacks.map(({ outcome }) => outcome)).toEqual(["ok", "ok", "failed"]);
  expect(stacks.at(-1)).toMatchObject({ code: "policy-violated" });
  expect(stacks.at(-1)!.error).toMatch(
    /^mandatory policy nodes-per-environment: Environment two\/e: .*at most 1.*\[policy-violated: docs/,
  );
  expect(w.service.calls.filter(({ method }) => method !== "GET")).toEqual([]);
});
