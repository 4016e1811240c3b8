import { parse } from "yaml";
import { Membership, Network, type NetworkDefinition, Node } from "../../sdk";
import { Stack } from "../support/double/stack";
import { send } from "../support/network";
import { setEnvironment, start } from "../support/service";
import { temporary, writeIn } from "../fleet/made";
import { connection, consortium } from "./command";

/*
 * Manual steps that the embedded service has commands for: accepting an invitation, funding a tether. Other members' objects in the
 * consortium are never taken.
 */

async function world() {
  const { service } = await start({ organizations: [{ name: "north" }, { name: "south" }] });
  const { _id } = await send(service, "POST", "/consortia", { name: "trade" });
  const invited = { org_name: "south", email: "ops@south.example" };
  const invitation = await send(service, "POST", `/consortia/${_id}/invitations`, invited);
  const { baseUrl, organizations } = service;
  const run = (organization: number, ...args: string[]) =>
    consortium(["accept", ...args], connection({ baseUrl, apiKey: organizations[organization]!.apiKey }));
  return { service, consortium: _id, invitation: invitation._id, run };
}

test("it is listed for the invited organization, and accepted once", async () => {
  const { service, consortium, invitation, run } = await world();
  const said = (stdout: string) => ({ code: 0, stdout: `${stdout}\n`, stderr: "" });
  const none = said("No invitation to this organization is open.");
  expect(await run(0)).toEqual(none);
  const listed = `${invitation}  to the consortium trade (${consortium}) of north, sent to ops@south.example`;
  expect(await run(1)).toEqual(said(listed));
  const json = async (...args: string[]) => JSON.parse((await run(1, ...args, "--json")).stdout) as object;
  expect(await json()).toMatchObject({
    invitations: [{ id: invitation, from: "north", consortium: { name: "trade" } }],
  });
  expect((await run(0, invitation)).stderr).toContain(`no invitation ${invitation} to this organization is open`);
  expect(service.store.memberships.list()).toEqual([]);
  const accepted = "This organization is now a member of the consortium trade of north.";
  expect(await run(1, invitation)).toEqual(said(accepted));
  expect(service.store.memberships.list()).toMatchObject([{ fields: { org_name: "south" } }]);
  expect((await run(1, invitation)).code).toBe(1);
  expect(await run(1)).toEqual(none);
});

test.each([
  ["accept", [], "Accept it in the web console of the service."],
  ["fund", ["tether0001"], "has no faucet: only `consortium serve` has one"],
])("%s: on another service, the error says where to do it", async (command, args, why) => {
  const { service, run } = await world();
  const elsewhere = connection({ baseUrl: `${service.url}/elsewhere/api/v1`, apiKey: service.apiKey });
  const { code, stderr } = await consortium([command, ...args], elsewhere);
  expect([code, stderr]).toEqual([1, expect.stringContaining(why)]);
  expect((await run(0)).code).toBe(0);
});

test("accepted with --json", async () => {
  const { invitation, run } = await world();
  expect(JSON.parse((await run(1, invitation, "--json")).stdout)).toMatchObject({ accepted: { id: invitation } });
});

test("funded with --json", async () => {
  const { service } = await start({ tethers: [{ id: "tether0001" }] });
  const funding = ["fund", "tether0001", "--network", "rinkeby", "--ether", "2", "--json"];
  const { stdout, stderr } = await consortium(funding, connection(service));
  expect(stderr).toBe("");
  expect(JSON.parse(stdout)).toEqual({
    account: expect.stringMatching(/^0x/) as string,
    network: "rinkeby",
    balanceWei: "3000000000000000000",
  });
});

test("fund: the key of the service in this folder goes to no other address", async () => {
  const folder = temporary();
  const local = {
    baseUrl: "http://127.0.0.1:1/api/v1",
    apiKeyFile: writeIn(folder, "local.key", "key-of-this-folder"),
  };
  writeIn(folder, ".consortium/service.json", JSON.stringify(local));
  const { service } = await start({ tethers: [{ id: "tether0001" }] });
  const before = process.cwd();
  process.chdir(folder);
  const sent = await consortium(["fund", "tether0001", "--url", service.baseUrl], { CONSORTIUM_API_KEY: "" });
  process.chdir(before);
  expect(sent).toMatchObject({ code: 1, stderr: expect.stringContaining("an API key is required") as string });
  expect(service.calls).toEqual([]);
});

test("fund: an unknown tether is named in the error", async () => {
  const { service } = await world();
  const { code, stderr } = await consortium(["fund", "tether0001"], connection(service));
  expect([code, stderr]).toEqual([1, expect.stringContaining("tether0001")]);
  expect(stderr).not.toContain("has no faucet");
});

describe("in a consortium of another organization", () => {
  /** Each organization has a node in the environment of north. */
  async function both() {
    const { service, consortium: c, invitation, run } = await world();
    await run(1, invitation);
    const { baseUrl, organizations } = service;
    const as = (organization: number) => ({ baseUrl, apiKey: organizations[organization]!.apiKey });
    const make = async (organization: number, path: string, body: object): Promise<string> =>
      (await send(as(organization), "POST", `/consortia/${c}${path}`, body))._id;
    const e = await make(0, "/environments", { name: "prod", provider: "geth", consensus_type: "poa" });
    const theirs = await make(0, "/memberships", { org_name: "north" });
    const mine = service.store.memberships.list().find(({ fields }) => fields.org_name === "south")!.id;
    await make(0, `/environments/${e}/nodes`, { name: "old-n", membership_id: theirs });
    const n = await make(1, `/environments/${e}/nodes`, { name: "old-s", membership_id: mine });
    const south = (...args: string[]) => consortium(args, connection({ baseUrl, apiKey: organizations[1]!.apiKey }));
    setEnvironment({ CONSORTIUM_API_KEY: organizations[1]!.apiKey });
    return { service, c, e, theirs, mine, n, south };
  }
  const said = /belongs to the organization \w+: the file has only your own members/;

  test("export --adopt and --import take only objects of the caller's own members", async () => {
    const { c, e, mine, n, south } = await both();
    const adopted = await south("export", "--adopt");
    expect(adopted.stderr).toMatch(said);
    expect(parse(adopted.stdout)).toEqual({
      name: "trade",
      consortium: { name: "trade", adopt: c },
      members: { south: { adopt: mine } },
      environments: {
        prod: expect.objectContaining({
          adopt: e,
          nodes: { south: { "old-s": { adopt: n, size: "small" } } },
        }) as object,
      },
    });
    const imported = await south("export", "--import");
    expect(imported.stderr).toMatch(said);
    const { resources } = JSON.parse(imported.stdout) as { resources: { id: string }[] };
    expect(resources.map(({ id }) => id.split("/").at(-1)).sort()).toEqual([c, e, mine, n].sort());
    expect((await south("export")).stdout).toMatch(/old-n/); // a copy has all of it
  });

  test.each(["dynamic", "plugin"] as const)("%s: destroy deletes only its own adopted objects", async (adapter) => {
    const { service, c, e, theirs, south } = await both();
    const definition = parse((await south("export", "--adopt")).stdout) as NetworkDefinition;
    const node = service.store.nodes.list().find(({ fields }) => fields.name === "old-n")!.id;
    const stack = new Stack(adapter);
    const program = () => {
      new Network("trade", definition);
      const within = { consortiumId: c, environmentId: e };
      new Membership("theirs", { consortiumId: c, orgName: "north", adopt: theirs });
      new Node("theirs", { ...within, membershipId: theirs, name: "old-n", adopt: node });
    };
    expect((await stack.up(program)).errors).toEqual([]);
    expect((await stack.up(program)).changes).toEqual([]);
    const { errors, said } = await stack.destroy();
    expect(errors).toEqual([]);
    expect(said.match(/is left as it is, because it was adopted, and others may share it/g)).toHaveLength(4);
    expect(service.store.nodes.list().map(({ id }) => id)).toEqual([node]);
    expect(service.store.memberships.list().map(({ id }) => id)).toEqual([theirs]);
    expect(service.store.environments.list().map(({ id }) => id)).toEqual([e]);
  });

  test("sweep deletes nothing else", async () => {
    const { service, c, e, n, south } = await both();
    expect(await south("sweep", "--id", c, "--yes")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(c) as string,
    });
    expect(await south("sweep", "--id", e, "--yes")).toMatchObject({ code: 1 });
    const swept = await south("sweep", "--prefix", "old", "--older-than", "0.001m", "--yes", "--json");
    expect(JSON.parse(swept.stdout)).toMatchObject({ found: [{ id: n }], deleted: [n] });
    expect(service.store.nodes.list().map(({ fields }) => fields.name)).toEqual(["old-n"]);
  });
});
