import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { render } from "../../../cli/report";
import { readPlan } from "../../../inventory/plan/read";
import { type Service, startService } from "../../../service/index";
import { Database } from "../../../service/storage/database";
import { temporary } from "../../fleet/made";
import { adapters, golden, keyOf, tetherOf } from "../../golden/service.mjs";
import { atTheEnd } from "../support/ending";
import { done, failed, root, Stack, type StateResource } from "../support/stack";
import { callsBesidesKey, networkOf, writesOf } from "../support/world";

/* States of earlier versions work with this one, through the real CLI (see tests/golden/make.mjs). */

const folder = join(root, "tests/golden");

/** The versions that golden states are of. */
const versions = readdirSync(folder).filter((name) => /^\d/.test(name));

/** A clock that goes on an hour after the data was written, whenever that was. */
function clockAfter(data: string): () => number {
  const last = Math.max(...[...data.matchAll(/"changedAt":(\d+)/g)].map(([, at]) => Number(at)));
  const start = Date.now();
  return () => last + 3_600_000 + Date.now() - start;
}

/** Writes a service's objects, which version 0.2.0 kept as lines of JSON, into a data folder. */
async function fill(dataDir: string, data: string): Promise<void> {
  const database = await Database.open(join(dataDir, "objects"));
  const lines = data.trim().split("\n").slice(1);
  for (const [order, line] of lines.entries()) {
    const entity = JSON.parse(line) as { kind: string; id: string; fields: object };
    const fields = { ...entity.fields, ...(entity.kind === "organization" ? { apiKey: `key of ${entity.id}` } : {}) };
    await database.write([[`${entity.kind}/${entity.id}`, JSON.stringify({ ...entity, fields, order })]]);
  }
  await database.close();
}

interface Golden {
  service: Service;
  stack: Stack;
  /** The program that the state is of. */
  program: string;
  apiKey: string;
}

/** A state that an earlier version left (see tests/golden/make.mjs) as a stack, on the service that it tells of. */
async function goldenStack(
  version: string,
  adapter: (typeof adapters)[number],
  name: "stack" | "interrupted",
): Promise<Golden> {
  const kept = join(folder, version);
  const [data, state] = [join(kept, "service.jsonl"), join(kept, adapter, `${name}.json`)];
  const program = readFileSync(join(kept, name === "stack" ? "program.cjs" : "interrupted.cjs"), "utf8");
  const { deployment } = JSON.parse(readFileSync(state, "utf8")) as { deployment: { resources: StateResource[] } };
  const globex = deployment.resources.find(({ urn }) => urn.endsWith("::globex"))?.id;
  const dataDir = temporary();
  await fill(dataDir, readFileSync(data, "utf8"));
  const service = await startService({ ...golden, dataDir, clock: clockAfter(readFileSync(data, "utf8")) });
  atTheEnd(() => service.close());
  const apiKey = keyOf(adapter);
  const stack = await Stack.create({
    program,
    env: {
      CONSORTIUM_API_KEY: apiKey,
      CONSORTIUM_BASE_URL: service.baseUrl,
      CONSORTIUM_PLUGIN: String(adapter === "plugin"),
    },
    config: { "e2e:tether": tetherOf(adapter, name), ...(globex ? { "e2e:globex": globex } : {}) },
    inline: true,
    plugin: true,
  });
  await stack.ok(["stack", "import", "--file", state]);
  return { service, stack, program, apiKey };
}

test("one of them is from the first supported version", () => expect(versions).toContain("0.3.0"));

const all = versions.flatMap((version) => adapters.map((adapter) => [version, adapter] as const));

describe.each(all)("a state of version %s on the %s provider", (version, adapter) => {
  let state: Golden;
  beforeAll(async () => {
    state = await goldenStack(version, adapter, "stack");
  });

  test("states its form, needs no change, and a refresh changes nothing; an up only asks for the organization of a new key", async () => {
    for (const { outputs } of await state.stack.resources()) expect(outputs.__kept).toMatchObject({ version: 2 });
    await done(state.stack.up({}, "--expect-no-changes"));
    expect(callsBesidesKey(state.service)).toEqual([]);
    await done(state.stack.refresh({}, "--expect-no-changes"));
    expect((await state.stack.outputs()).password).toMatch(/\S{8}/);
  });

  if (adapter === "dynamic")
    test("moves to the plugin and back unchanged, with calls only about an unknown key; a report says so", async () => {
      const { stack, service } = state;
      const ids = await stack.ids();
      const onPlugin = { CONSORTIUM_PLUGIN: "true" };
      const streaming = { ...onPlugin, PULUMI_ENABLE_STREAMING_JSON_PREVIEW: "true" };
      const { stdout } = await stack.ok(["preview", "--json"], streaming);
      expect(render([readPlan(stdout, "plan")], { max: 60_000 })).toContain("Nothing to do: 25 unchanged.");
      service.clearCalls(); // of the preview, which asks for the key
      const { text } = await done(stack.up(onPlugin, "--expect-no-changes"));
      expect(text).toMatch(/Resources:\n +25 unchanged/);
      expect(callsBesidesKey(service)).toEqual([]);
      expect([await stack.ids(), await stack.adapters()]).toEqual([ids, ["consortium:index:"]]);
      await done(stack.refresh(onPlugin, "--expect-no-changes"));
      expect((await stack.outputs()).password).toMatch(/\S{8}/);
      service.clearCalls();
      await done(stack.up({}, "--expect-no-changes"));
      expect(service.calls).toEqual([]);
      expect([await stack.ids(), await stack.adapters()]).toEqual([ids, ["pulumi-nodejs:dynamic/consortium:"]]);
      await done(stack.refresh({}, "--expect-no-changes"));
    });

  test("is changed in place, where nothing else differs, and destroyed to nothing", async () => {
    state.service.clearCalls();
    state.stack.program(state.program.replace('"golden"', '"changed"'));
    const { text } = await done(state.stack.up());
    expect(text).toMatch(/~ 1 updated\n +24 unchanged\n/);
    expect(writesOf(state.service)).toEqual(["PATCH /consortia/:consortiumId"]);
    await done(state.stack.destroy());
    const { consortia } = await networkOf(state.service.baseUrl, state.apiKey);
    expect(consortia).toMatchObject([{ name: "interrupted" }]); // that of the other state
    expect(await state.stack.resources()).toEqual([]);
  });
});

describe.each(all)("a state of version %s on the %s provider, of an incomplete run", (version, adapter) => {
  let state: Golden;
  beforeAll(async () => {
    state = await goldenStack(version, adapter, "interrupted");
  });

  const within = "/consortia/:consortiumId/environments/:environmentId";

  test("is completed: the node is ready, the credential is created again, and the lost deployment is not paid for again", async () => {
    const text = await failed(state.stack.up({}, "--continue-on-error")); // the deployment may fail before the others begin
    expect(text).toContain("It may have been paid for, so it is not sent again.");
    expect(writesOf(state.service)).toEqual([`POST ${within}/appcreds`, `DELETE ${within}/appcreds/:credentialId`]);
    const resources = await state.stack.resources();
    const of = (name: string) => resources.find(({ urn }) => urn.endsWith(`::${name}`))!;
    expect(of("late-1")).toMatchObject({ outputs: { state: "started" } });
    expect(of("cred")).toMatchObject({ outputs: { name: "renamed" } });
  });

  test("deploys once the user says that there is no contract", async () => {
    const [, word] = /CONSORTIUM_NOT_DEPLOYED=(\S+)/.exec((await state.stack.up()).text)!;
    state.service.clearCalls();
    expect(await state.stack.up({ CONSORTIUM_NOT_DEPLOYED: word })).toMatchObject({ code: 0 });
    const tether = ["deploy", "activate"].map((verb) => `POST /tether/:tetherId/${verb}`);
    expect(writesOf(state.service)).toEqual(tether);
    expect(await state.stack.up({}, "--expect-no-changes")).toMatchObject({ code: 0 });
  });
});
