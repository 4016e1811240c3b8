import { secret } from "@pulumi/pulumi";
import { NetworkDefinitionError, type NetworkDefinition } from "../../../sdk";
import { isShownAgain, keepSecret } from "../../../sdk/network/load";
import { type Path } from "../../../sdk/yaml/problems";
import { raft, registered } from "./registered";

/* The component of the plugin is given secrets within a definition (tests/e2e/plugin/component.test.ts). */

const of = (definition: NetworkDefinition, ...secrets: Path[]): NetworkDefinition => {
  keepSecret(definition, secrets);
  return definition;
};

const prod = { ...raft, chainId: 77, nodes: { acme: { main: { extra: { zone: "z" } } } } };

test("each stays secret, at any depth, and nothing else becomes secret", async () => {
  const definition = {
    consortium: { name: "Trade", description: "hush", extra: { a: { b: ["hush"] } } },
    members: { acme: { orgName: "Acme", extra: { a: "b" } } },
    environments: {
      prod: { ...prod, description: "hush", credentials: { acme: { keepers: { year: { of: "hush" } } } } },
      test: { ...raft, nodes: { acme: 1 }, nodeDefaults: { size: "small", kmsId: "hush" } },
    },
  };
  const { named } = await registered(
    of(
      definition,
      ["consortium", "description"],
      ["consortium", "extra", "a", "b", 0],
      ["members", "acme", "orgName"],
      ["environments", "prod", "description"],
      ["environments", "prod", "nodes", "acme", "main", "extra", "zone"],
      ["environments", "prod", "credentials", "acme", "keepers", "year", "of"],
      ["environments", "test", "nodeDefaults", "kmsId"],
    ),
  );
  const secretsOf = (name: string): string[] =>
    Object.entries(named[name]!.inputs).flatMap(([key, value]) =>
      typeof value === "object" && value !== null && "secret" in value ? [key] : [],
    );
  expect(Object.fromEntries(Object.keys(named).map((name) => [name, secretsOf(name)]))).toMatchObject({
    "Consortium trade": ["description", "extra"],
    "Membership trade/acme": ["orgName"],
    "Environment trade/prod": ["description"],
    "Environment trade/test": [],
    "Node trade/prod/main": ["extra"],
    "Node trade/test/acme-1": ["kmsId"],
    "AppCred trade/prod/acme": ["keepers"],
    "AppCred trade/test/acme": [],
  });
  expect(named["Consortium trade"]!.inputs.description).toEqual({ secret: "hush" });
});

test.each<[string, NetworkDefinition, Path, string, string]>([
  ["a consortium that is a name", { consortium: "Hush", members: ["a"] }, ["consortium"], "Consortium trade", "name"],
  ["the name of the network", { name: "hush", members: ["a"] }, ["name"], "Consortium trade", "name"],
  [
    "all environments",
    { members: ["acme"], environments: { prod } },
    ["environments"],
    "Environment trade/prod",
    "chainId",
  ],
  [
    "one of several",
    { consortia: { x: { description: "hush", members: ["a"] } } },
    ["consortia", "x"],
    "Consortium trade/x",
    "description",
  ],
])("%s", async (_, definition, path, name, key) => {
  const { named } = await registered(of(definition, path));
  expect(named[name]!.inputs[key]).toEqual({ secret: expect.anything() as unknown });
});

test.each<[string, NetworkDefinition, Path]>([
  ["a list of members", { members: ["hush"] }, ["members"]],
  ["a member in a list", { members: ["hush"] }, ["members", 0]],
  [
    "a count of nodes",
    { members: ["a"], environments: { prod: { ...raft, nodes: { a: 3 } } } },
    ["environments", "prod", "nodes", "a"],
  ],
  ["a former key", { members: { a: { formerly: "hush" } } }, ["members", "a", "formerly"]],
  [
    "a reference",
    { members: ["acme"], environments: { prod: { ...prod, nodeDefaults: { zone: "hush" } } } },
    ["environments", "prod", "nodeDefaults", "zone"],
  ],
  [
    "the owner of a service",
    { members: ["a"], environments: { prod: { ...raft, services: { s: { member: "hush", service: "ipfs" } } } } },
    ["environments", "prod", "services", "s", "member"],
  ],
  [
    "a destination",
    {
      members: ["a"],
      environments: {
        prod: { ...raft, services: { s: { member: "a", service: "documentstore", destinations: ["hush"] } } },
      },
    },
    ["environments", "prod", "services", "s", "destinations", 0],
  ],
])("%s cannot be: it becomes a name", async (_, definition, path) => {
  const error: unknown = await registered(of(definition, path)).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(NetworkDefinitionError);
  expect((error as Error).message).toMatch(/it must not be secret: keys and counts become names of resources/);
  expect((error as Error).message).not.toContain("hush");
});

describe("details", () => {
  const details = { rpc: { env: "CONSORTIUM_TEST_SECRET" }, list: [{ env: "CONSORTIUM_TEST_SECRET" }, { env: 3 }] };
  const definition = (details: Record<string, unknown>, extra = {}): NetworkDefinition => ({
    members: ["a"],
    environments: {
      prod: {
        ...raft,
        configurations: { keys: { member: "a", type: "kms", details } },
        services: { s: { member: "a", service: "hdwallet", details } },
        nodes: { a: { main: { extra } } },
      },
    },
  });
  const detailsOf = async (given: NetworkDefinition): Promise<unknown[]> => {
    const { named } = await registered(given);
    const [keys, service] = [named["Configuration trade/prod/keys"]!, named["Service trade/prod/s"]!];
    return [keys.inputs.details, service.inputs.details];
  };
  afterEach(() => delete process.env.CONSORTIUM_TEST_SECRET);

  test("take values of environment variables, and are secret with them; nothing else does", async () => {
    process.env.CONSORTIUM_TEST_SECRET = "hush";
    const filled = { rpc: "hush", list: ["hush", { env: 3 }] };
    expect(await detailsOf(definition(details))).toEqual([{ secret: filled }, { secret: filled }]);
    const { named } = await registered(definition({}, details));
    expect(named["Node trade/prod/main"]!.inputs.extra).toEqual(details);
    const plain = { env: { env: 2 }, both: { env: "A", more: 1 } };
    expect(await detailsOf(definition(plain))).toEqual([{ secret: plain }, plain]);
  });

  test("may hold Outputs, such as secrets of a program's configuration; nothing else may", async () => {
    const later = { key: secret("hush") };
    expect(await detailsOf(definition(later))).toEqual([{ secret: { key: "hush" } }, { key: { secret: "hush" } }]);
    const where = "environments.prod.nodes.a.main.extra.key: the value is known only later";
    await expect(registered(definition({}, later))).rejects.toThrow(where);
  });
});

test.each<[boolean, ...Path]>([
  [true],
  [true, "consortia", "x"],
  [true, "environments"],
  [true, "environments", "prod"],
  [true, "consortia", "x", "environments", "prod", "chainId"],
  [false, "environments", "prod", "description"],
  [false, "members"],
  [false, "members", "acme", "chainId"],
])("what a network shows again as an output is the chain id: %j, %s %s", (is, ...path) => {
  expect(isShownAgain(path)).toBe(is);
});

test("an error about a secret does not show it", async () => {
  const definition = { members: { a: { orgName: 12345 } } } as unknown as NetworkDefinition;
  const error = await registered(of(definition, ["members", "a", "orgName"])).catch(
    (thrown: unknown) => thrown as Error,
  );
  expect((error as Error).message).toContain("members.a.orgName");
  expect((error as Error).message).not.toContain("12345");
});
