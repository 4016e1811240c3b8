import { type ServiceOptions } from "../../../service/index";
import { profileOf } from "../../../service/settings/settings";
import { type Answer, build, client, furnished, listOf, matching, refused, start } from "../helpers";
import { blocks, eth, ledgered, rpc } from "../ledgers";
import { tethered } from "../tethered";

/* Effects of `like: "hosted"`, each compared with the specification. */

const manners = ["specification", "hosted"] as const;
type Manner = (typeof manners)[number];
const timing = { environmentStart: 1_000, nodeStart: 2_000, deleting: 700, deletedVisible: 900 };
const quorum = { provider: "quorum", consensus_type: "ibft" };
const address = matching(/^0x[\da-f]{40}$/);

/** A service where everything is started after the given time. */
async function world(like: Manner, options: ServiceOptions = {}, ms = 5_000) {
  const made = await furnished({ timing, ...options, answers: { ...options.answers, like } });
  made.clock.pass(ms);
  return { ...made, paths: made.all };
}

type Kind = keyof Awaited<ReturnType<typeof world>>["paths"];
/** How each kind is renamed, and the states that a list shows once it was deleted: at once, after 700 ms, after 1,600 ms. */
const lives: Record<Kind, { field: string } & Record<Manner, (string | undefined)[]>> = {
  consortium: { field: "name", specification: ["deleting"], hosted: ["delete_pending", "deleted"] },
  membership: { field: "org_name", specification: ["deleting"], hosted: ["delete_pending", "deleted"] },
  environment: { field: "name", specification: ["deleted", "deleted"], hosted: ["delete_pending", "deleted"] },
  node: { field: "name", specification: ["deleting"], hosted: ["delete_pending", "deleted"] },
  service: { field: "name", specification: ["deleting"], hosted: ["delete_pending"] },
  credential: { field: "name", specification: [], hosted: [] },
  configuration: { field: "name", specification: [], hosted: [] },
  invitation: { field: "org_name", specification: [], hosted: [] },
  consortiumZone: { field: "name", specification: [], hosted: ["active", "active", "active"] },
  environmentZone: { field: "name", specification: [], hosted: ["active", "active", "active"] },
};
const cases = manners.flatMap((like) => (Object.keys(lives) as Kind[]).map((kind) => [like, kind] as const));

test.each(cases)("like %s: the life of a %s", async (like, kind) => {
  const { send, clock, paths } = await world(like, { answers: { refuseChildren: false } });
  const path = paths[kind];
  const list = listOf(path);
  const id = path.split("/").at(-1);
  const listed = async () => (await send("GET", list)).body.find(({ _id }) => _id === id);

  const read = await send("GET", path);
  expect(read.status).toBe(200);
  expect(await listed()).toEqual(read.body);
  const { field } = lives[kind];
  const changed = await send("PATCH", path, { ...read.body, [field]: "renamed" });
  expect(changed).toMatchObject({ status: 200, body: { [field]: "renamed", _revision: "1" } });
  expect(await listed()).toEqual(changed.body);
  expect((await send("PATCH", path, { state: "nowhere" })).status).toBe(400);

  const { status } = await send("DELETE", path);
  const isKept = like === "hosted" && /Zone/.test(kind);
  expect(status).toBe(isKept ? 405 : ["consortium", "environment"].includes(kind) ? 202 : 204);
  const seen: (string | undefined)[] = [];
  for (const ms of [0, 700, 900]) {
    clock.pass(ms);
    seen.push((await listed())?.state);
  }
  expect(seen).toEqual([...lives[kind][like], ...Array<undefined>(3)].slice(0, 3));
  for (const method of ["GET", "PATCH", ...(isKept ? [] : ["DELETE"])])
    expect((await send(method, path, method === "PATCH" ? {} : undefined)).status).toBe(isKept ? 200 : 404);
});

test.each([
  ["specification", ["setup", "setup", "setup"]],
  ["hosted", ["initializing", "initializing", "setup"]],
] as const)("like %s: an environment is initializing until it has a node, or for a set time", async (like, states) => {
  const { send, clock, paths, membership, state } = await world(like);
  const { body } = await send("POST", listOf(paths.environment), quorum);
  const path = `${listOf(paths.environment)}/${body._id}`;
  const seen = [];
  clock.pass(600_000);
  seen.push(await state(path));
  expect((await send("POST", `${path}/nodes`, { membership_id: membership })).status).toBe(201);
  seen.push(await state(path));
  clock.pass(1_000);
  seen.push(await state(path));
  expect(seen).toEqual(states);
  clock.pass(1_000);
  expect(await state(path)).toBe("live");
  expect((await send("DELETE", path)).status).toBe(202);
  const { _id } = (await send("POST", listOf(paths.environment), quorum)).body; // hosted: it waits, and may go
  expect((await send("DELETE", `${listOf(paths.environment)}/${_id}`)).status).toBe(like === "hosted" ? 202 : 409);
});

describe("errors", () => {
  const kind = ({ status, headers, text }: Answer) => [status, headers.get("content-type")?.split(";")[0], text];
  test.each([
    ["specification", /^application\/json$/, /^\{"errorMessage":/, /^\{"errorMessage":/],
    ["hosted", /^text\/plain$/, /^[A-Z][A-Za-z ]+$/, /^$/],
  ] as const)("like %s: 401 and 404", async (like, type, text, empty) => {
    const { service, send } = await world(like);
    const stranger = client(service.baseUrl, "nobody");
    expect(kind(await stranger("GET", "/consortia"))).toEqual([401, matching(type), matching(text)]);
    for (const path of ["/consortia/x", "/nowhere", "/plans/x"])
      expect(kind(await send("GET", path))).toEqual([404, matching(type), matching(text)]);
    for (const method of ["PATCH", "DELETE"])
      expect(kind(await send(method, "/consortia/x", method === "PATCH" ? {} : undefined)).at(-1)).toMatch(empty);
  });

  test("hosted: all others are JSON, also on routes that only this service has", async () => {
    const { service, send, paths } = await world("hosted");
    const others = [
      await send("POST", "/consortia", {}),
      await send("DELETE", paths.membership),
      await send("DELETE", "/embedded/faults/x"),
      await client(service.baseUrl, "nobody")("GET", "/embedded"),
    ];
    expect(others.map(({ status }) => status)).toEqual([400, 409, 404, 401]);
    for (const { body } of others) expect(body.errorMessage).toMatch(/./);
  });
});

describe("deletion", () => {
  test("hosted: a membership is deleted after its nodes; an environment's nodes take as long as the environment", async () => {
    const { send, clock, paths, state } = await world("hosted");
    await send("DELETE", paths.configuration);
    expect((await send("DELETE", paths.environment)).body.state).toBe("delete_pending");
    expect(await state(paths.node)).toBe("delete_pending");
    const refusal = refused(409, "1 node(s)");
    expect(await send("DELETE", paths.membership)).toMatchObject(refusal);
    clock.pass(699);
    expect(await send("DELETE", paths.membership)).toMatchObject(refusal);
    clock.pass(1);
    expect((await send("DELETE", paths.membership)).status).toBe(204);
    expect((await send("GET", `${paths.environment}/nodes`)).status).toBe(404);
  });

  test("hosted: an object that is being deleted accepts nothing new, and a deleted one does not count", async () => {
    const { send, clock, paths, membership, state } = await world("hosted");
    const going = refused(409, "being deleted");
    await send("DELETE", paths.node);
    expect(await send("PUT", `${paths.node}/reset`, {})).toMatchObject(going);
    const members = `${paths.consortium}/memberships`;
    const { _id: other } = (await send("POST", members, { org_name: "other" })).body;
    await send("DELETE", `${members}/${other}`);
    expect(await send("POST", `${paths.environment}/nodes`, { membership_id: other })).toMatchObject(going);
    clock.pass(700);
    expect((await send("GET", listOf(paths.node))).body).toMatchObject([{ state: "deleted" }]);
    expect((await send("GET", paths.environment)).body.node_list).toEqual([]);
    expect(await state(paths.environment)).toBe("setup");
    await send("DELETE", paths.environment);
    expect(await send("POST", `${paths.environment}/nodes`, { membership_id: membership })).toMatchObject(going);
    expect((await send("DELETE", paths.consortium)).status).toBe(409);
    clock.pass(700);
    expect((await send("GET", listOf(paths.environment))).body).toMatchObject([{ state: "deleted" }]);
    expect((await send("DELETE", paths.membership)).status).toBe(204);
    clock.pass(700);
    expect((await send("DELETE", paths.consortium)).status).toBe(202);
  });

  test("hosted: objects that are being deleted do not block their consortium or a configuration, unlike a membership with nodes", async () => {
    const { send, clock, paths, membership } = await world("hosted");
    await send("DELETE", paths.configuration);
    await send("DELETE", paths.service);
    const given = { type: "node_config", membership_id: membership };
    const list = `${paths.environment}/configurations`;
    const node_config_id = (await send("POST", list, given)).body._id;
    await send("PATCH", paths.node, { node_config_id });
    expect((await send("DELETE", `${list}/${node_config_id}`)).status).toBe(409);
    await send("DELETE", paths.node);
    expect((await send("DELETE", `${list}/${node_config_id}`)).status).toBe(204);
    expect((await send("DELETE", paths.membership)).status).toBe(409);
    clock.pass(700);
    expect((await send("DELETE", paths.membership)).body).toBeUndefined();
    const holds = refused(409, "1 environment(s) and 0 membership(s)");
    expect(await send("DELETE", paths.consortium)).toMatchObject(holds);
    expect((await send("DELETE", paths.environment)).status).toBe(202);
    expect((await send("DELETE", paths.consortium)).status).toBe(202);
    clock.pass(700);
    expect((await send("GET", `/consortia?name=supply`)).body).toMatchObject([{ state: "deleted" }]);
  });

  test("hosted: an environment's ledger does not start again during the deletion", async () => {
    const { service, send, paths, urls, credential } = await ledgered(
      { answers: { like: "hosted" }, timing: { environmentStart: 0, nodeStart: 0, deleting: 600_000 } },
      { ...quorum, block_period: 1 },
    );
    await blocks(urls.rpc, credential, 1);
    await send("DELETE", paths.environment);
    expect(service.store.environments.list()).toMatchObject([{ state: "delete_pending" }]);
    expect((await rpc(urls.rpc, credential, eth("eth_chainId"))).status).toBe(401);
    const call = await send("POST", `/embedded${paths.environment}/rpc`, eth("eth_blockNumber"));
    expect(call).toMatchObject(refused(409, "being deleted"));
  });
});

describe("fields", () => {
  const someone = "a1".repeat(20);
  const balance = { balance: "5" };
  test.each([
    ["specification", `0x${someone}`, 201, `0x${someone}`],
    ["specification", someone, 201, someone],
    ["hosted", `0x${someone}`, 400, undefined],
    ["hosted", someone, 201, someone],
  ] as const)("like %s: prefunded %s is answered with %i", async (like, given, status, shown) => {
    const { send, paths } = await world(like);
    const body = { ...quorum, prefunded_accounts: { [given]: balance } };
    const made = await send("POST", listOf(paths.environment), body);
    expect(made.status).toBe(status);
    if (shown) expect(made.body.prefunded_accounts).toEqual({ [shown]: balance });
    else expect(made.body.errorMessage).toContain("prefunded_accounts");
  });

  test("hosted: addresses that were stored with 0x are shown without", async () => {
    const { service, send, environment, paths } = await world("hosted");
    service.store.environments.patch(environment, { prefunded_accounts: { [`0x${someone}`]: balance } });
    expect((await send("GET", paths.environment)).body.prefunded_accounts).toEqual({ [someone]: balance });
  });

  test.each([
    ["specification", { initial_delay: 0, idle_hours: 7 }],
    ["hosted", { autopause_init_delay: 0, autopause_idle_hours: 7 }],
  ] as const)("like %s: when an environment pauses is %j", async (like, shown) => {
    const { send, paths } = await world(like);
    for (const name of ["idle_hours", "autopause_idle_hours"]) {
      await send("PATCH", paths.environment, { [name]: 1 });
      const { body } = await send("PATCH", paths.environment, { [name]: 7 });
      expect(Object.entries(body).filter(([field]) => /delay|idle/.test(field))).toEqual(Object.entries(shown));
    }
  });

  test.each([
    ["specification", "quorum", "geth"],
    ["hosted", "quorum", "quorum"],
    ["hosted", "geth", "geth"],
  ] as const)("like %s: a %s node's status has its address under %s", async (like, provider, field) => {
    const { send, clock, paths, membership } = await world(like);
    const of = { provider, consensus_type: provider === "geth" ? "poa" : "raft" };
    const { body } = await send("POST", listOf(paths.environment), of);
    const nodes = `${listOf(paths.environment)}/${body._id}/nodes`;
    const node = (await send("POST", nodes, { membership_id: membership })).body._id;
    clock.pass(5_000);
    const shown = (await send("GET", `${nodes}/${node}/status`)).body as unknown as Record<string, object>;
    expect(["geth", "quorum"].filter((name) => name in shown)).toEqual([field]);
    const own = { quorum: { private_address: matching(/^[\w+/]{43}=$/) }, geth: { validators: [address] } }[field];
    expect(shown[field]).toEqual({ public_address: address, ...own });
  });

  test.each([
    ["specification", undefined],
    ["hosted", { wss: "" }],
  ] as const)("like %s: while a node starts, its urls are %j", async (like, urls) => {
    const { send, clock, paths } = await world(like, {}, 0);
    expect((await send("GET", paths.node)).body.urls).toEqual(urls);
    clock.pass(5_000);
    expect((await send("GET", paths.node)).body.urls).toEqual((await send("GET", `${paths.node}/status`)).body.urls);
  });

  test.each([
    ["specification", "initializing"],
    ["hosted", "provisioning"],
  ] as const)("like %s: a new service is %s", async (like, first) => {
    const { send, clock, paths, state } = await world(like, {}, 0);
    expect(await state(paths.service)).toBe(first);
    clock.pass(2_000);
    expect(await state(paths.service)).toBe("started");
    expect((await send("PUT", `${paths.service}/reset`, {})).body.state).toBe(first);
  });
});

describe("a tether", () => {
  test("hosted: has an account after a request for one", async () => {
    const { get, post, send } = await tethered({ answers: { like: "hosted" } });
    await post("/targetNetwork", { network: "rinkeby" });
    expect((await get("")).body).not.toHaveProperty("account");
    for (const path of ["/account", "/accounts", "/balance/rinkeby"]) expect((await get(path)).status).toBe(404);
    const fund = () => send("POST", "/embedded/tether/tether0001/fund", { network: "rinkeby", wei: "1" });
    expect([(await post("/deploy")).status, (await fund()).status]).toEqual([409, 404]);
    const { status, body } = await post("/account");
    expect([status, body]).toMatchObject([201, { account: { address } }]);
    expect((await get("/account")).body.address).toBe((body.account as unknown as { address: string }).address);
    expect([(await post("/deploy")).status, (await fund()).status]).toEqual([200, 200]);
  });

  test("hosted: shows its contract on a real chain", async () => {
    const { send } = await start({ ledger: true, tethers: [{ id: "t1" }], answers: { like: "hosted" } });
    const post = (path: string, body: object) => send("POST", `/tether/t1${path}`, body);
    const calls = [await post("/account", {}), await post("/targetNetwork", { network: "rinkeby" })];
    expect(calls.map(({ status }) => status)).toEqual([201, 200]);
    const { arbitratorAddress } = (await post("/deploy", {})).body.config as Record<string, unknown>;
    expect(arbitratorAddress).toMatch(/^0x[\da-f]{40}$/i);
    expect((await send("GET", "/tether/t1")).body.contracts).toEqual({ rinkeby: arbitratorAddress });
  });

  test("hosted: POSTs return the configuration, and (de)activation still returns true", async () => {
    const { get, post, send } = await tethered({ answers: { like: "hosted" } });
    const { environment, node } = await build(send);
    const { address } = (await post("/account")).body.account as unknown as { address: string };
    const shown = (config: object) => {
      const settings = { targetNetwork: "rinkeby", started: false, nodelist: [node], ...config };
      return { environment_id: environment, config: settings, account: { address } };
    };
    expect((await post("/targetNetwork", { network: "rinkeby" })).body).toEqual(shown({}));
    expect((await post("/interval", { interval: 3 })).body).toEqual(shown({ uploadInterval: 3 }));
    const arbitratorAddress = matching(/^0x[\da-f]{40}$/);
    expect((await post("/deploy", {})).body).toEqual(shown({ uploadInterval: 3, arbitratorAddress }));
    expect((await post("/activate", {})).text).toBe("true");
    expect((await get("")).body.state).toBe("active");
    expect((await post("/account")).body).toMatchObject({ config: { started: true } });
    expect((await post("/deactivate", {})).text).toBe("true");
  });
});

test("hosted: the service upgrades an environment by itself", async () => {
  const slow = { timing: { ...timing, upgrade: 4_000 } };
  const { service, send, clock, paths, environment, state } = await world("hosted", slow);
  service.store.environments.upgrade(environment, "quorum-2");
  expect((await send("GET", paths.environment)).body).toMatchObject({ state: "upgrade", release_id: "quorum-2" });
  clock.pass(4_000);
  expect(await state(paths.environment)).toBe("live");
  expect(await state(paths.node)).toBe("started");
});

describe("the setting", () => {
  test("implies others, which can also be set, and can change at runtime", async () => {
    const { service } = await start({ answers: { like: "hosted", plainErrors: false } });
    expect(service.answers).toMatchObject({ like: "hosted", plainErrors: false, deletion: "delete_pending" });
    const { timing } = service;
    service.setAnswers({ quorumStatus: false });
    expect(service.answers).toMatchObject({ like: "hosted", quorumStatus: false, deletion: "delete_pending" });
    service.setAnswers({ like: "specification", deleted: { node: 200 } });
    expect(service.answers).toEqual({ ...(await start()).service.answers, deleted: service.answers.deleted });
    service.setAnswers({ like: "hosted" });
    const { service: other } = await start({ answers: { like: "hosted" } });
    expect(service.answers).toEqual({ ...other.answers, deleted: service.answers.deleted });
    expect(service.timing).toEqual(timing);
    expect(() => service.setAnswers({ like: "other" as never })).toThrow(/like/);
  });

  test.each([
    ["specification", "seconds", "seconds"],
    ["hosted", "nanoseconds", "seconds"],
  ] as const)(
    "like %s, the clock of new quorum ledgers is in %s with raft, and in %s with ibft",
    async (like, ...clocks) => {
      const { answers } = (await start({ answers: { like } })).service;
      expect(["raft", "ibft"].map((protocol) => profileOf("quorum", protocol, answers).clock)).toEqual(clocks);
    },
  );

  test.each([
    ["specification", {}, 0],
    ["hosted", {}, 500],
    ["hosted", { deleting: 3 }, 3],
    ["hosted", { deleting: undefined, nodeStart: 1 }, 500],
  ] as const)("like %s with %j: deleting takes %i ms", async (like, timing, deleting) => {
    const { service } = await start({ answers: { like }, timing });
    expect(service.timing.deleting).toBe(deleting);
  });
});
