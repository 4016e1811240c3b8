import { render } from "../../../cli/report";
import { readPlan } from "../../../inventory/plan/read";
import { adapters } from "../../golden/service.mjs";
import { type Golden, goldenStack, versions } from "../support/golden";
import { done, failed } from "../support/stack";
import { callsBesidesKey, networkOf, writesOf } from "../support/world";

/* States of earlier versions work with this one, through the real CLI (see tests/golden/make.mjs). */

test("one of them is from the first supported version", () => expect(versions).toContain("0.3.0"));

const all = versions.flatMap((version) => adapters.map((adapter) => [version, adapter] as const));

describe.each(all)("a state of version %s on the %s provider", (version, adapter) => {
  let state: Golden;
  beforeAll(async () => {
    state = await goldenStack(version, adapter, "stack");
  });

  test("states its form", async () => {
    for (const { outputs } of await state.stack.resources()) expect(outputs.__kept).toMatchObject({ version: 2 });
  });

  test("needs no change, and an up only asks for the organization of a new key", async () => {
    expect(await state.stack.up({}, "--expect-no-changes")).toMatchObject({ code: 0 });
    expect(callsBesidesKey(state.service)).toEqual([]);
  });

  test("is unchanged by a refresh", async () => {
    expect(await state.stack.refresh({}, "--expect-no-changes")).toMatchObject({ code: 0 });
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

  test("is changed in place, and nothing else differs after the refreshes", async () => {
    state.service.clearCalls();
    state.stack.program(state.program.replace('"golden"', '"changed"'));
    const { text } = await done(state.stack.up());
    expect(text).toMatch(/~ 1 updated\n +24 unchanged\n/);
    expect(writesOf(state.service)).toEqual(["PATCH /consortia/:consortiumId"]);
  });

  test("is destroyed to nothing", async () => {
    await state.stack.ok(["destroy", "--yes", "--skip-preview"]);
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
