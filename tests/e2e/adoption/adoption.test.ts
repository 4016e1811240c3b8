import { send } from "../../support/network";
import { done } from "../support/stack";
import { tetherId, wholeTree, type World, world } from "../support/world";

let w: World;
let ids: Record<string, string>;

/** A network made by hand, as in the console. */
beforeAll(async () => {
  w = await world(wholeTree, { inline: true });
  const post = async (path: string, body: object) => (await send(w.service, "POST", path, body))._id;
  const c = await post("/consortia", { name: "c", description: "by hand" });
  const m = await post(`/consortia/${c}/memberships`, { org_name: "m" });
  const e = await post(`/consortia/${c}/environments`, { name: "e", provider: "quorum", consensus_type: "raft" });
  const n = await post(`/consortia/${c}/environments/${e}/nodes`, { name: "n", membership_id: m });
  ids = { c, m, e, n };
});

const adopting = (): string =>
  wholeTree
    .replace('{ description: "first" }', '{ description: "first", adopt: true }')
    .replace('"m", { consortium }', `"m", { consortium, adopt: "${ids.m}" }`)
    .replace('consensusType: "raft" }', 'consensusType: "raft", adopt: true }')
    .replace('"n", { environment, membership }', '"n", { environment, membership, adopt: true }');

/** A run's diagnostics about adoption. */
const adoptions = (text: string): string[] =>
  text
    .slice(text.indexOf("Diagnostics:"))
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => /\badopts\b/.test(line))
    .sort();

test("adopt takes objects by name and by id, preview and up report it once each, and only differences are changed", async () => {
  w.stack.program(adopting());
  const preview = await w.stack.preview();
  const byName = "adopts the existing object with this name, or creates a new one";
  expect(adoptions(preview.text)).toEqual([
    `consortium "c": adopts ${ids.c} (exists already; nothing is created)`,
    `environment "e": ${byName}`,
    `membership "m": adopts ${ids.m}`,
    `node "n": ${byName}`,
  ]);
  w.service.clearCalls();
  const { text } = await done(w.stack.up());
  const found = "(exists already; nothing is created";
  expect(adoptions(text)).toEqual([
    `consortium "c": adopts ${ids.c} ${found}; changes description)`,
    `environment "e": adopts ${ids.e} ${found})`,
    `membership "m": adopts ${ids.m} ${found})`,
    `node "n": adopts ${ids.n} ${found})`,
  ]);
  expect(text).toMatch(/^\s+\+ \d+ created$/m); // so the documentation says: Pulumi counts adoption there
  const created = w.service.calls.filter(({ method, route }) => method === "POST" && !route.startsWith("/tether"));
  expect(created.map(({ route }) => route.split("/").at(-1))).toEqual(["appcreds"]);
  const network = await w.network();
  expect(network.consortia).toMatchObject([{ _id: ids.c, description: "first" }]);
  expect([network.memberships[0]?._id, network.environments[0]?._id, network.nodes[0]?._id]).toEqual([
    ids.m,
    ids.e,
    ids.n,
  ]);
  expect(w.service.store.tethers.get(tetherId).fields).toMatchObject({ network: "rinkeby", interval: 1 });
  expect(await w.stack.preview({}, "--expect-no-changes")).toMatchObject({ code: 0 });
});
