import { Engine } from "../../support/engine";
import { newProcess } from "../../support/service";
import { world, type World } from "../support/world";

/* A ledger is replaced: when the old one goes, and that the test double of the engine does what the engine does. */

let w: World;
const program = (environment: string, options = "{}"): string => `
  const { Consortium, Environment } = require("pulumi-consortium");
  const consortium = new Consortium("c");
  new Environment("e", { consortium, provider: "quorum", ${environment} }, ${options});
  exports.consortiumId = consortium.id;
`;

beforeAll(async () => {
  w = await world(program('consensusType: "raft"'), { inline: true, limits: { environments: 9 } });
  expect(await w.stack.up()).toMatchObject({ code: 0 });
});
afterAll(() => w.close());

const route = "/consortia/:consortiumId/environments";
const changes = (): string[] =>
  w.service.calls.filter(({ method }) => method === "POST" || method === "DELETE").map(({ method }) => method);

/** The calls of a change, by the real engine. */
async function changed(environment: string, options?: string): Promise<string[]> {
  w.service.clearCalls();
  w.stack.program(program(environment, options));
  expect(await w.stack.up()).toMatchObject({ code: 0 });
  return changes();
}

let doubles = 0;
/** The calls of the same change by the double of the engine, on the same service. */
async function doubled(change: object, deleteBeforeReplace?: boolean): Promise<string[]> {
  const { consortiumId } = await w.stack.outputs();
  Object.assign(process.env, { CONSORTIUM_API_KEY: w.service.apiKey, CONSORTIUM_BASE_URL: w.service.baseUrl });
  newProcess();
  jest.spyOn(console, "log").mockImplementation(() => undefined);
  const engine = new Engine("environment", deleteBeforeReplace);
  const args = { consortiumId, name: `double ${++doubles}`, provider: "quorum", consensusType: "raft" };
  expect(await engine.up(args)).toEqual({ then: "created" });
  w.service.clearCalls();
  expect((await engine.up({ ...args, ...change })).then).toBe("replaced");
  const calls = changes();
  await engine.destroy();
  return calls;
}

test("a new one that fails leaves the old one", async () => {
  const [old] = (await w.network()).environments;
  const fault = w.service.faults.add({ kind: "status", status: 400, errorMessage: "no", method: "POST", route });
  w.stack.program(program('name: "next", consensusType: "ibft"'));
  expect(await w.stack.up()).toMatchObject({ code: 255 });
  fault.remove();
  expect((await w.network()).environments).toMatchObject([{ _id: old!._id, consensus_type: "raft" }]);
});

test("under a new name the old one goes last", async () => {
  expect(await changed('name: "next", consensusType: "ibft"')).toEqual(["POST", "DELETE"]);
  expect((await w.network()).environments).toMatchObject([{ name: "next", consensus_type: "ibft" }]);
  expect(await doubled({ name: "another", consensusType: "ibft" })).toEqual(["POST", "DELETE"]);
});

test("under the same name it goes first", async () => {
  expect(await changed('name: "next", consensusType: "raft"')).toEqual(["DELETE", "POST"]);
  expect(await doubled({ consensusType: "ibft" })).toEqual(["DELETE", "POST"]);
});

test("up --replace does not ask the provider: it says what to do instead, and nothing is made", async () => {
  const urn = (await w.stack.resources()).find(({ type }) => type.endsWith("Environment"))!.urn;
  const before = await w.stack.ids();
  w.service.clearCalls();
  const { code, text } = await w.stack.up({}, "--replace", urn);
  expect({ code, text }).toMatchObject({ code: 255 });
  expect(text).toMatch(
    /environment "next": the name is already taken by \w+\..*for `--replace`, set the resource option deleteBeforeReplace: true/,
  );
  expect(changes()).toEqual([]);
  expect(await w.stack.ids()).toEqual(before);
});

test("the resource option wins over what the provider says", async () => {
  const option = "{ deleteBeforeReplace: true }";
  expect(await changed('name: "last", consensusType: "ibft"', option)).toEqual(["DELETE", "POST"]);
  expect(await doubled({ name: "last one", consensusType: "ibft" }, true)).toEqual(["DELETE", "POST"]);
  const urn = (await w.stack.resources()).find(({ type }) => type.endsWith("Environment"))!.urn;
  w.service.clearCalls();
  expect(await w.stack.up({}, "--replace", urn)).toMatchObject({ code: 0 });
  expect(changes()).toEqual(["DELETE", "POST"]);
});
