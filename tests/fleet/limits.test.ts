import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { failBeyondLimits } from "../../fleet/limits";
import { Progress } from "../../fleet/progress";
import { type FleetStack } from "../../fleet/schema";
import { type StackResult } from "../../fleet/results";
import { type EngineEvent } from "../../inventory/plan/read";
import { type Service, startService } from "../../service/index";
import { send } from "../support/network";
import { stackOf, temporary } from "./made";

/* Planned consortia together with existing ones: the organization has market and spice, and two are allowed. */

const folder = temporary();
const definition = join(folder, "network.yaml");
let service: Service;
let spice: string;
beforeAll(async () => {
  service = await startService({ organizations: [{ name: "acme", apiKey: "key" }] });
  await send(service, "POST", "/consortia", { name: "market" });
  spice = (await send(service, "POST", "/consortia", { name: "spice" }))._id;
});
afterAll(() => service.close());
beforeEach(() => writeFileSync(definition, "members: [m]\n"));

const step = (op: string, name: string, id?: string): EngineEvent => ({
  resOutputsEvent: {
    metadata: {
      op,
      urn: `urn:pulumi:s::p::consortium:index:Consortium::${name}`,
      type: "consortium:index:Consortium",
      ...(op === "create" ? { new: { custom: true, inputs: { name } } } : { old: { custom: true, id } }),
    },
  },
});

/** The result of a preview with these steps for a stack of acme. */
function previewed(events: EngineEvent[], change: Partial<FleetStack> = {}, env: NodeJS.ProcessEnv = {}) {
  const result = { outcome: "ok" } as StackResult;
  const progress = new Progress(result, String, "preview");
  events.forEach((event) => progress.take(event));
  const stack = stackOf({ definition, ...change });
  const own = { CONSORTIUM_API_KEY: "key", CONSORTIUM_BASE_URL: service.baseUrl, ...env };
  return { stack, organization: stack.organization, result, progress, env: own };
}

/** The error of a stack after a preview with these steps; undefined if there is none. */
async function error(...given: Parameters<typeof previewed>) {
  const one = previewed(...given);
  await failBeyondLimits([one], [one.stack]);
  expect(one.result.outcome).toBe(one.result.error === undefined ? "ok" : "failed");
  return one.result.error;
}

test("a stack that would exceed the organization's limit fails", async () => {
  expect(await error([step("create", "trade")])).toBe(
    "the organization acme would have 3 consortia, but the service allows 2: market, spice exist, and trade would be created. Delete " +
      "one, or leave one out; if your organization allows more, set limits.consortiaPerOrganization in one of its network files.",
  );
});

test("two names with the same key and address are one organization", async () => {
  const all = ["acme", "too"].map((name) =>
    previewed([step("create", `of-${name}`)], { organization: { name, apiKey: { env: "KEY" } } }),
  );
  const stacks = all.map(({ stack }) => stack);
  await failBeyondLimits(all, stacks);
  for (const { result } of all) expect(result.error).toContain("would have 4 consortia, but the service allows 2");
});

test("the plan's limit counts if the service shows it, or the network file's if it is higher", async () => {
  const larger = await startService({ organizations: [{ name: "acme", apiKey: "key" }], limits: { consortia: 3 } });
  try {
    const three = ["a", "b", "c"].map((name) => step("create", name));
    const env = { CONSORTIUM_BASE_URL: larger.baseUrl };
    expect(await error(three, {}, env)).toBeUndefined();
    const four = [...three, step("create", "d")];
    expect(await error(four, {}, env)).toMatch(/would have 4 consortia, but the service allows 3/);
    writeFileSync(definition, "members: [m]\nlimits: { consortiaPerOrganization: 4 }\n");
    expect(await error(four, {}, env)).toBeUndefined();
  } finally {
    await larger.close();
  }
});

test("the fleet file's limit for an organization wins, whether higher or lower, also without network files", async () => {
  const organization = { name: "acme", apiKey: { env: "KEY" } };
  const one = [step("create", "trade")];
  expect(await error(one, { organization: { ...organization, maxConsortia: 3 } })).toBeUndefined();
  writeFileSync(definition, "members: [m]\nlimits: { consortiaPerOrganization: 9 }\n");
  const refused =
    "the organization acme would have 3 consortia, but the fleet file (maxConsortia) allows 2: market, spice exist, and trade would be " +
    "created. Delete one, or leave one out.";
  const two = { organization: { ...organization, maxConsortia: 2 } };
  expect(await error(one, two)).toBe(refused);
  expect(await error(one, { ...two, definition: undefined, program: folder })).toBe(refused);
});

test("adopted consortia, consortia that the same fleet deletes, and unchanged stacks do not exceed it", async () => {
  expect(await error([step("create", "market")])).toBeUndefined();
  expect(await error([step("create", "trade"), step("delete", "spice", spice)])).toBeUndefined();
  expect(await error([])).toBeUndefined();
  const both = [[step("create", "trade")], [step("delete", "spice", spice)]].map((steps) => previewed(steps));
  for (const all of [both, both.toReversed()]) {
    await failBeyondLimits(all, all.map(({ stack }) => stack)); // prettier-ignore
    expect(all.map(({ result }) => result.error)).toEqual([undefined, undefined]);
  }
});

test("no error if the limit or the existing consortia are unknown", async () => {
  expect(await error([step("create", "trade")], { definition: undefined, program: folder })).toBeUndefined();
  expect(await error([step("create", "trade")], {}, { CONSORTIUM_API_KEY: "refused" })).toBeUndefined();
  writeFileSync(definition, "members: [m]\nlimits: { consortiaPerOrganization: 3 }\n");
  expect(await error([step("create", "trade")])).toBeUndefined();
});
