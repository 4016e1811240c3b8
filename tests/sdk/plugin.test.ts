import { Consortium, Node, Provider } from "../../sdk";
import { setEnvironment } from "../support/service";
import { program, valueOf } from "../support/program";

/* The classes on the provider plugin: what they register with the engine (through the real CLI: tests/e2e/plugin). */

const within = { consortiumId: "c-id", environmentId: "e-id", membershipId: "m-id" };
const stack = (plugin: string): Record<string, string> => ({ "consortium:plugin": plugin });

async function typesWith(config: Record<string, string>): Promise<string[]> {
  const { registered } = await program({}, config);
  const provider = new Provider("acme", { apiKey: "k", region: "eu" });
  await valueOf(new Node("n", within, { provider }).urn);
  await valueOf(new Consortium("c").urn);
  return registered.map(({ type }) => type);
}

const onPlugin = ["pulumi:providers:consortium", "consortium:index:Node", "consortium:index:Consortium"];
const onDynamic = onPlugin.map((type) =>
  type.replace("consortium:index:", "pulumi-nodejs:dynamic/consortium:").replace(/:consortium$/, ":pulumi-nodejs"),
);

test.each([
  [undefined, {}, onDynamic],
  [undefined, stack("true"), onPlugin],
  [undefined, stack("false"), onDynamic],
  ["true", {}, onPlugin],
  ["true", stack("false"), onPlugin],
  ["false", stack("true"), onDynamic],
  ["", stack("true"), onPlugin],
])("CONSORTIUM_PLUGIN=%s, configuration %j", async (variable, config, types) => {
  setEnvironment({ CONSORTIUM_PLUGIN: variable });
  expect((await typesWith(config)).sort()).toEqual([...types].sort());
});

test.each([
  ["1", {}, "Environment variable CONSORTIUM_PLUGIN"],
  [undefined, stack("yes"), "Stack configuration consortium:plugin"],
])("what is neither true nor false is one clear error: %s, %j", async (variable, config, where) => {
  setEnvironment({ CONSORTIUM_PLUGIN: variable });
  await program({}, config);
  const value = variable ?? "yes";
  expect(() => new Consortium("c")).toThrow(`${where} is "${value}": it must be true or false.`);
});

test("settings of a Provider go to the plugin by their own names, with which of them are its own", async () => {
  setEnvironment({ CONSORTIUM_PLUGIN: "true" });
  const { registered } = await program({}, { "consortium:region": "ko", "consortium:maxConcurrency": "4" });
  await valueOf(new Provider("acme", { apiKey: "k", region: "eu" }).urn);
  expect(registered[0]?.inputs).toEqual({
    apiKey: { secret: "k" },
    region: "eu",
    maxConcurrency: "4",
    own: "apiKey,region",
  });
});

test("an error of the SDK shows where in the program the resource is", async () => {
  await program();
  const limit = Error.stackTraceLimit;
  let thrown: unknown;
  try {
    new Consortium("");
  } catch (error) {
    thrown = error;
  }
  expect((thrown as Error).stack).toContain("plugin.test.ts");
  expect(Error.stackTraceLimit).toBe(limit);
});
