import { tetherId, type World, world } from "../support/world";

/* One object, two resources of a program: what this run adopts is handed over, not deleted with the old resource. */

/** The whole tree under logical names with this suffix, while the names in the service stay. */
const tree = (suffix: string, more = ""): string => `
  const { AppCred, Consortium, Environment, Membership, Node, TetherService } = require("pulumi-consortium");
  const consortium = new Consortium("c${suffix}", { name: "trade" ${more} });
  const membership = new Membership("m${suffix}", { consortium, orgName: "harbour" ${more} });
  const network = { consortium, name: "prod", provider: "quorum", consensusType: "raft" ${more} };
  const environment = new Environment("e${suffix}", network);
  const node = new Node("n${suffix}", { environment, membership, name: "node-1" ${more} });
  new AppCred("a${suffix}", { environment, membership, name: "app" });
  new TetherService("t${suffix}", { tetherId: "${tetherId}", network: "rinkeby", intervalHours: 1 }, { dependsOn: node });
`;

const idsOf = (items: Record<string, unknown>[]): unknown[] => items.map(({ _id }) => _id);

describe.each([false, true])("on the plugin: %s", (plugin) => {
  let w: World;
  let before: Awaited<ReturnType<World["network"]>>;
  beforeAll(async () => {
    w = await world(tree(""), { inline: true, plugin });
    const { code, text } = await w.stack.up();
    if (code) console.log(text);
    expect({ code, text }).toMatchObject({ code: 0 });
    before = await w.network();
    w.service.clearCalls();
  });
  afterAll(() => w.close());

  /** Nothing that holds data was deleted, and no deployment was paid again. */
  async function untouched(): Promise<void> {
    const after = await w.network();
    for (const kind of ["consortia", "memberships", "environments", "nodes"] as const)
      expect(idsOf(after[kind])).toEqual(idsOf(before[kind]));
    expect(after.appcreds).toHaveLength(1);
    expect(w.service.store.tethers.get(tetherId).fields).toMatchObject({ active: true });
    const calls = w.service.calls.map(({ method, route }) => `${method} ${route}`);
    expect(calls.filter((call) => /DELETE(?!.*appcreds)|\/deploy$|deactivate/.test(call))).toEqual([]);
    expect(await w.stack.preview({}, "--expect-no-changes")).toMatchObject({ code: 0 });
    expect(await w.stack.refresh({}, "--expect-no-changes")).toMatchObject({ code: 0 });
  }

  test("new logical names with adopt: the objects stay, the old resources leave the state, one line each says so", async () => {
    w.stack.program(tree("2", ", adopt: true"));
    const { code, text } = await w.stack.up();
    expect({ code, text }).toMatchObject({ code: 0 });
    for (const name of ["c2", "m2", "e2", "n2", "t2"])
      expect(text.split(`not deleted, because it is "${name}" of the program now`).length).toBeGreaterThan(1);
    expect(await w.stack.resources()).toHaveLength(6);
    await untouched();
  });

  test("up --replace of an environment with adopt: it stays, and so does what is in it", async () => {
    const { urn } = (await w.stack.resources()).find(({ type }) => type.endsWith(":Environment"))!;
    const { code, text } = await w.stack.up({}, "--replace", urn);
    expect({ code, text }).toMatchObject({ code: 0 });
    await untouched();
  });
});
