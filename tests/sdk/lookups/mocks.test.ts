import { ComponentResource, output, type Output, runtime, secret, isSecret } from "@pulumi/pulumi";
import * as sdk from "../../../sdk";
import { valueOf } from "../../support/program";
import { start } from "../../support/service";

/* Lookups in unit tests of programs call the mocks, never the service, although there is a key. */

type Name = Extract<keyof typeof sdk, `get${string}`>;
const names = (Object.keys(sdk) as (keyof typeof sdk)[]).filter((name): name is Name => name.startsWith("get"));

let calls: { token: string; inputs: unknown; provider: string }[] = [];
const mock = (answer: unknown, preview = false): Promise<void> =>
  runtime.setMocks(
    {
      call: ({ token, inputs, provider }) => {
        calls.push({ token, inputs, provider: provider ?? "" });
        if (answer instanceof Error) throw answer;
        return answer as Record<string, unknown>;
      },
      newResource: ({ name, inputs, id }) => ({ id: preview ? "" : id || `${name}-id`, state: inputs as object }),
    },
    "project",
    "stack",
    preview,
  );

afterEach(() => {
  calls = [];
});

test.each(names)("%s is a call of the mocks", async (name) => {
  const { service } = await start();
  await mock({ balanceWei: "7" });
  const run = sdk[name] as (args: object) => Promise<unknown> | Output<unknown>;
  const args = { consortiumId: "c", environmentId: "e" };
  const answer = name.endsWith("Output") ? await valueOf(run(args) as Output<unknown>) : await run(args);
  expect(calls).toEqual([{ token: `consortium:index:${name.replace(/Output$/, "")}`, inputs: args, provider: "" }]);
  expect(answer).toEqual({ balanceWei: "7" });
  expect(service.calls).toEqual([]);
});

test.each<[string, unknown, unknown]>([
  ["a list", [{ id: "c1" }, { id: "c2" }], [{ id: "c1" }, { id: "c2" }]],
  ["an empty list", [], []],
  ["an object with the list, as functions of plugins answer", { consortia: [{ id: "c1" }] }, [{ id: "c1" }]],
])("a mock answers %s", async (_, answer, expected) => {
  await mock(answer);
  expect(await sdk.getConsortia({})).toEqual(expected);
  expect(await valueOf(sdk.getConsortiaOutput({}))).toEqual(expected);
});

test("a mock that throws fails the lookup", async () => {
  await mock(new Error("no such network"));
  await expect(sdk.getConsortia({})).rejects.toThrow();
});

test("the call names the provider, given directly or through a parent", async () => {
  await mock([]);
  const provider = new sdk.Provider("acme", { apiKey: "k" });
  await sdk.getConsortia({}, { provider });
  await sdk.getConsortia({}, { parent: new sdk.Consortium("c", {}, { provider }) });
  const reference = `${await valueOf(provider.urn)}::acme-id`;
  expect(calls.map((call) => call.provider)).toEqual([reference, reference]);
});

describe("the Output forms", () => {
  const isKnown = (value: Output<unknown>): Promise<boolean> =>
    (value as unknown as { isKnown: Promise<boolean> }).isKnown;

  test("keep a secret argument secret", async () => {
    await mock([]);
    expect(await isSecret(sdk.getConsortiaOutput({ name: secret("n") }))).toBe(true);
    expect(await isSecret(sdk.getConsortiaOutput({ name: output("n") }))).toBe(false);
  });

  test("wait for their dependencies, and are unknown in the preview that creates these", async () => {
    for (const preview of [false, true]) {
      calls = [];
      await mock([], preview);
      const group = new ComponentResource("test:index:Group", "group");
      const inner = new sdk.Consortium("inner", {}, { parent: group });
      const plain = new ComponentResource("test:index:Group", "empty");
      for (const dependsOn of [inner, [inner], output([inner]), Promise.resolve(inner), group, [plain, group]])
        expect(await isKnown(sdk.getConsortiaOutput({}, { dependsOn }))).toBe(!preview);
      for (const dependsOn of [undefined, [], plain])
        expect(await isKnown(sdk.getConsortiaOutput({}, { dependsOn }))).toBe(true);
      expect(calls).toHaveLength(preview ? 3 : 9);
    }
  });

  test("are unknown while a setting of their provider is unknown; the plain form is an error then", async () => {
    await mock([], true);
    const { id } = new sdk.Consortium("vault");
    const provider = new sdk.Provider("acme", { apiKey: id });
    expect(await isKnown(sdk.getConsortiaOutput({}, { provider }))).toBe(false);
    expect(calls).toEqual([]);
  });
});
