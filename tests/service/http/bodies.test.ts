import { limits } from "../../../provider/constants";
import { populated, refused, start, type World } from "../helpers";

const environment = { provider: "quorum", consensus_type: "raft" };
const environmentsOf = (w: World) => `${w.paths.consortium}/environments`;
const credentialsOf = (w: World) => `${w.paths.environment}/appcreds`;
const nodesOf = (w: World) => `${w.paths.environment}/nodes`;
const cases: [string, (world: World) => string, (world: World) => unknown, RegExp][] = [
  ["a consortium without name", () => "/consortia", () => ({}), /name/],
  ["a consortium with an empty name", () => "/consortia", () => ({ name: " " }), /name: must not be empty/],
  ["a consortium with a number as name", () => "/consortia", () => ({ name: 5 }), /name/],
  ["a number as description", () => "/consortia", () => ({ name: "a", description: 5 }), /description/],
  ["an array", () => "/consortia", () => [], /object/],
  ["a string", () => "/consortia", () => '"a"', /object/],
  ["a membership without org_name", (w) => `${w.paths.consortium}/memberships`, () => ({ name: "a" }), /org_name/],
  ["an environment without provider", environmentsOf, () => ({ consensus_type: "poa" }), /provider/],
  ["an environment without consensus", environmentsOf, () => ({ provider: "geth" }), /consensus_type/],
  ["quorum with poa", environmentsOf, () => ({ ...environment, consensus_type: "poa" }), /raft or ibft/],
  ["geth with raft", environmentsOf, () => ({ ...environment, provider: "geth" }), /use poa/],
  ["pantheon with raft", environmentsOf, () => ({ ...environment, provider: "pantheon" }), /use ibft or poa/],
  ["an unknown provider", environmentsOf, () => ({ ...environment, provider: "besu" }), /provider/],
  ["a chain_id of 0", environmentsOf, () => ({ ...environment, chain_id: 0 }), /chain_id/],
  ["a broken chain_id", environmentsOf, () => ({ ...environment, chain_id: 1.5 }), /chain_id/],
  ["a chain_id as text", environmentsOf, () => ({ ...environment, chain_id: "5" }), /chain_id/],
  ["a node without membership", nodesOf, () => ({ name: "n" }), /membership_id/],
  ["a node of an unknown membership", nodesOf, () => ({ membership_id: "m" }), /membership_id/],
  ["a node with an empty name", nodesOf, (w) => ({ membership_id: w.membership, name: "" }), /name/],
  ["a credential without membership", credentialsOf, () => ({}), /membership_id/],
  ["a credential of an unknown one", credentialsOf, () => ({ membership_id: "m" }), /membership_id/],
];

test.each(cases)("%s is refused", async (_what, path, body, message) => {
  const { send, ...world } = await populated();
  const there = async () => ((await send("GET", path(world))).body as unknown as object[]).length;
  const before = await there();
  expect(await send("POST", path(world), body(world))).toMatchObject(refused(400, message));
  expect(await there()).toBe(before);
});

test.each(['{"name": "a}', "{name: 1}", '{"name": "a",}', "nonsense"])(
  "%s is reported as broken JSON",
  async (text) => {
    const { send } = await start();
    const { status, body } = await send("POST", "/consortia", text);
    expect({ status, body }).toEqual(refused(400, /unexpected token in JSON/i));
  },
);

test("a body without the content type of JSON is refused", async () => {
  const { send } = await start();
  const answer = await send("POST", "/consortia", "name=a", { "content-type": "text/csv" });
  expect(answer).toMatchObject(refused(415));
});

test("an id in the wrong place of a path is unknown", async () => {
  const { send, environment } = await populated();
  const other = (await send("POST", "/consortia", { name: "other" })).body._id;
  expect((await send("GET", `/consortia/${other}/environments/${environment}`)).status).toBe(404);
  expect((await send("GET", `/consortia/${environment}/environments`)).status).toBe(404);
  expect((await send("POST", `/consortia/${other}/environments/${environment}/nodes`, {})).status).toBe(404);
});

test("limits of consortia, environments and nodes; deleted objects do not count", async () => {
  const { send, paths, membership } = await populated({ timing: { environmentStart: 0 } });
  const full = async (path: string, body: object, most: number) => {
    for (let made = 1; made < most; made++) expect((await send("POST", path, body)).status).toBe(201);
    const why = new RegExp(`at most ${most} .*--limit-\\w+ ${most + 1}`);
    expect(await send("POST", path, body)).toMatchObject(refused(409, why));
    expect((await send("GET", path)).body).toHaveLength(most);
  };
  await full(`${paths.environment}/nodes`, { membership_id: membership }, limits.nodes);
  await full(`${paths.consortium}/environments`, environment, limits.environments);
  await full("/consortia", { name: "c" }, limits.consortia);
  expect((await send("DELETE", paths.environment)).status).toBe(202);
  expect((await send("POST", `${paths.consortium}/environments`, environment)).status).toBe(201);
});
