import { send } from "../../support/network";
import { done, failed } from "../support/stack";
import { tetherId, wholeTree, type World, world } from "../support/world";

/* What a run reads of the service before it promises or pays. (Refusals, states and proof that an object is gone: provider/stacks.) */

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
  const { consortia, memberships, environments, nodes } = await w.network();
  expect(consortia).toMatchObject([{ _id: ids.c, description: "first" }]);
  expect([...memberships, ...environments, ...nodes].map(({ _id }) => _id)).toEqual([ids.m, ids.e, ids.n]);
  expect(w.service.store.tethers.get(tetherId).fields).toMatchObject({ network: "rinkeby", interval: 1 });
  expect(await w.stack.preview({}, "--expect-no-changes")).toMatchObject({ code: 0 });
});

test("an import of a tether that has made reports pays for nothing, and neither does the update after it", async () => {
  const tether = (options: string): string => `
    const { TetherService } = require("pulumi-consortium");
    new TetherService("i", { tetherId: "t0import00", network: "rinkeby", intervalHours: 2, active: false }, ${options});`;
  const { service, stack } = await world("", {
    inline: true,
    plugin: true,
    ledger: false,
    tethers: [{ id: "t0import00" }],
  });
  const trade = await send(service, "POST", "/consortia", { name: "trade" });
  await send(service, "POST", `/consortia/${trade._id}/environments`, { provider: "geth", consensus_type: "poa" });
  const shown = { "": { network: "rinkeby", interval: 2, state: "inactive" }, "/reportCount": 7 };
  for (const [end, body] of Object.entries(shown))
    service.faults.add({
      kind: "status",
      status: 200,
      method: "GET",
      route: RegExp(`t0import00${end}$`),
      body,
      times: Infinity,
    });
  await send(service, "POST", "/tether/t0import00/targetNetwork", { network: "rinkeby" });
  for (const options of ['{ import: "t0import00" }', "{}"]) {
    stack.program(tether(options));
    expect((await stack.preview()).text).toContain("pays for a contract on rinkeby from its account, unless");
    expect(await failed(stack.up())).toMatch(/CONSORTIUM_NOT_DEPLOYED=t0import00@/);
  }
  expect(service.store.tethers.get("t0import00").fields).toMatchObject({ deployments: { rinkeby: 0 } });
});
