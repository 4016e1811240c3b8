import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type FaultKind, type FaultRule, type Service, type ServiceOptions } from "../../service/index";
import { anyText } from "../service/helpers";
import { send } from "../support/network";
import { connection, consortium, type Ended } from "./command";
import { type FactName, facts } from "../../cli/probe/facts";
import { likeWhom } from "../../service/command/options";
import {
  allOf,
  answersIn,
  changes,
  deletions,
  file,
  leftIn,
  own,
  type Saved,
  saved,
  serviceWith,
  there,
  timeless,
  when,
} from "./probed";

/*
 * What `consortium probe` finds out and saves, and that nothing of it is left, whatever happens. As a process:
 * tests/e2e/service/command.test.ts.
 */

const probe = (service: Service, ...args: string[]): Promise<Ended> =>
  consortium(["probe", "--wait", "6", ...args], connection(service));

describe("it deletes its objects, innermost first", () => {
  test("after an error in the middle, which is reported; what was seen until then is saved", async () => {
    const service = await serviceWith();
    service.faults.add({ kind: "status", status: 500, method: "GET", route: /\/appcreds$/, times: Infinity });
    service.faults.add({ kind: "resetAfter", method: "POST", route: /\/nodes$/ });
    const { code, stdout, stderr } = await probe(service, "--yes", "--save", file("part.json"));
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^consortium: .* POST \/consortia\/.*\[answer-lost: /m)]);
    expect(stdout).toContain("A create answers");
    expect(stdout).toContain("Everything that the probe created is deleted.");
    expect(deletions(service)).toEqual(["nodes", "environments", "memberships", "consortia"]);
    expect(there(service)).toEqual([]);
    const { answers, seen } = saved("part.json");
    expect(answers).toMatchObject({ created: 201, bareAddresses: false });
    const why = /: not asked: The service at … .* POST … the connection was reset [^/]*$/;
    expect(seen.facts.bareAddresses.is).toBe("otherwise");
    for (const name of ["regenerate", "deletion"] as const) {
      expect(seen.facts[name]).toMatchObject({ fact: facts[name].fact, is: "not seen" });
      expect(seen.facts[name].seen).toMatch(why);
    }
    expect(likeWhom(file("part.json")).answers).toEqual(answers);
  });

  test.each<FaultKind>([{ kind: "resetAfter" }, { kind: "truncated", wellFormed: true }])(
    "after a create of a consortium was answered by $kind: found by its name",
    async (fault) => {
      const service = await serviceWith();
      const kept = await own(service);
      service.faults.add({ ...fault, method: "POST", route: "/consortia" });
      expect((await probe(service, "--yes")).code).toBe(1);
      expect(there(service)).toEqual([kept]);
      expect(deletions(service)).toEqual(["consortia"]);
    },
  );

  const nodeAsked = /^POST .*\/nodes$/;

  test.each(["SIGINT", "SIGTERM"] as const)("after %s, without a wait for the end of their listing", async (signal) => {
    const service = await serviceWith({ timing: { nodeStart: 600_000, deletedVisible: 600_000 } });
    const listeners = process.listenerCount(signal);
    when(nodeAsked, () => process.emit(signal, signal));
    const { code, stdout, stderr } = await probe(service, "--yes", "--wait", "600");
    expect(code).toBe(signal === "SIGINT" ? 130 : 143);
    expect(stderr).toContain("Deleting what was created.");
    expect(stdout).toContain("Everything that the probe created is deleted.");
    expect(deletions(service)).toEqual(["nodes", "environments", "memberships", "consortia"]);
    expect(there(service)).toEqual([]);
    expect(process.listenerCount(signal)).toBe(listeners);
  });

  test("a second signal gives up at once, and says what is left", async () => {
    const timing = { nodeStart: 600_000, deleting: 600_000 };
    const service = await serviceWith({ answers: { like: "hosted" }, timing });
    for (const call of [nodeAsked, /^DELETE /]) when(call, () => process.emit("SIGINT", "SIGINT"));
    const { code, stdout, stderr } = await probe(service, "--yes");
    expect([code, stderr]).toEqual([130, expect.stringContaining("Stopping at once.")]);
    const made = allOf(service).filter((one) => !one.startsWith("membership")); // the founder's came by itself
    expect(leftIn(stderr)).toEqual(made.reverse().map((one) => `${one}: not waited for`));
    expect(stdout).not.toContain("is deleted.");
  });

  test("and where the service goes away, it says exactly what is left, without trying each for long", async () => {
    const service = await serviceWith({ timing: { nodeStart: 600_000 } });
    let all: string[] = [];
    when(nodeAsked, () => {
      all = allOf(service);
      service.faults.add({ kind: "refuse", ms: 600_000 });
    });
    const { code, stdout, stderr } = await probe(service, "--yes", "--wait", "3");
    expect(code).toBe(1);
    expect(stderr).toContain("Deleting what was created.");
    const [node, ...others] = all.reverse();
    expect(leftIn(stderr)).toEqual([
      expect.stringMatching(new RegExp(`^${node}: .*cannot be reached.*DELETE /\\S+: the connection was `)),
      ...others.map((one) => `${one}: not tried, because the service cannot be reached`),
    ]);
    expect(stdout).not.toContain("is deleted.");
  });

  test("and what could not be deleted alone, and goes with its consortium, is not left", async () => {
    const service = await serviceWith({ answers: { refuseChildren: false } });
    const route = "/consortia/:consortiumId/memberships/:membershipId";
    service.faults.add({ kind: "status", status: 403, method: "DELETE", route, times: Infinity });
    const { code, stdout } = await probe(service, "--yes");
    expect([code, stdout]).toEqual([0, expect.stringContaining("Everything that the probe created is deleted.")]);
    expect(there(service)).toEqual([]);
  });

  test("and says with ids what it could not delete", async () => {
    const service = await serviceWith();
    const ofConsortia = { method: "DELETE", route: "/consortia/:consortiumId" };
    service.faults.add({ kind: "status", status: 403, ...ofConsortia, times: Infinity });
    const { code, stderr, stdout } = await probe(service, "--yes");
    const [left] = there(service);
    expect([code, there(service).length]).toEqual([1, 1]);
    expect(stderr).toContain(`consortium ${left}: its deletion failed: HTTP 403`);
    expect(stdout).not.toContain("is deleted.");
  });
});

test("without a terminal or --yes, it creates nothing", async () => {
  const service = await serviceWith();
  const { code, stderr } = await probe(service);
  const why = "Confirm at a terminal, or use --yes: nothing was created.";
  expect([code, stderr]).toEqual([1, expect.stringContaining(why)]);
  expect(stderr).toMatch(
    /creates a consortium, .* an environment \(quorum, raft\)\nand a node of the default size, all with the name probe-\w+, and a credential\./,
  );
  expect(service.calls).toEqual([]);
});

test("if the plan has no room for a consortium, it creates nothing", async () => {
  const timing = { deletedVisible: 3_600_000 };
  const service = await serviceWith({ limits: { consortia: 1 }, answers: { deletion: "delete_pending" }, timing });
  await own(service);
  const { code, stderr } = await probe(service, "--yes");
  expect([code, stderr]).toEqual([1, expect.stringContaining("The plan allows 1 consortium, and 1 exists.")]);
  expect(changes(service).map(({ path }) => path)).toEqual(["/authtoken"]);
  // One that is deleted, and still listed, leaves room.
  await send(service, "DELETE", `/consortia/${there(service)[0]}`);
  expect(await probe(service, "--yes")).toMatchObject({ code: 0 });
});

test.each([
  ["nobody", "nobody cannot be read: there is no such file."],
  [file("broken.json"), "broken.json is not valid JSON."],
  [file("other.json"), "answers.gone: Invalid option"],
])("serve --like %s is refused with one sentence", async (whom, why) => {
  writeFileSync(file("broken.json"), "{");
  writeFileSync(file("other.json"), JSON.stringify({ answers: { gone: 200 } }));
  const { code, stderr } = await consortium(["serve", "--like", whom]);
  const takes = "consortium: --like takes specification, hosted, or a file that `consortium probe --save` wrote. ";
  expect([code, stderr]).toEqual([1, expect.stringContaining(takes)]);
  expect(stderr).toContain(why);
});

describe("it asks a node what its ledger really is", () => {
  const client = "Geth/v1.9.7-stable(quorum-v2.7.0)/linux-amd64/go1.13";
  test.each([
    ["the usual one", {}, { hardFork: "berlin", clock: "seconds", codeSize: 32_768 }],
    [
      "another one",
      { hardFork: "shanghai", clock: "nanoseconds", codeSize: 24_576, clientVersion: client },
      { hardFork: "shanghai", clock: "nanoseconds", codeSize: 24_576, clientVersion: client },
    ],
  ] as const)("%s", async (_what, quorumLedger, found) => {
    const service = await serviceWith({ ledger: true, answers: { quorumLedger } });
    const { code, stdout } = await probe(service, "--yes", "--wait", "60", "--save", file("ledger.json"));
    expect(code).toBe(0);
    expect(saved("ledger.json").answers.quorumLedger).toEqual({
      clientVersion: expect.stringContaining("quorum") as string,
      ...found,
    });
    for (const told of [`${found.codeSize} bytes`, found.clock, `${found.hardFork}: blocks have`])
      expect(stdout).toContain(told);
    expect(there(service)).toEqual([]);
  });
});

const byDefault = {
  "A wrong key": "401, JSON",
  "Something that does not exist": "404, JSON",
  "Beyond the specification": "/orgs /authtoken /apikeys /memberships /regions /plans /releases",
  "The key's organization is shown": "yes",
  "A create answers": "201, the object",
  "The field of ids": "_id",
  "The founder's membership is created with it": "no",
  prefunded_accounts: "taken with 0x",
  "An environment starts without a node": "yes: setup after T",
  "Autopause is called": "initial_delay idle_hours",
  "Consortia of others are listed": "none is",
  "/orgs shows a secret": "yes",
  "The plan's limits": "consortia 2, environments 3, nodes 4",
  Regions: "local; a key that begins with u0",
  "Clients of releases": "quorum geth pantheon",
  "A token is good for": "60 minutes; calls take T, T with the key",
  "Filters take operators": "no: taken as it is",
  "urls in a node": "none at first",
  "A node": "started after T",
  "urls of a started node": "in the node itself",
  "Another password for a credential": "yes (HTTP 200)",
  "The account of a new tether": "not asked: needs --tether",
  "Another public chain": "not asked: needs --tether",
  "A tether's interval counts": "not asked: needs --tether",
  "The service upgrades a release": "the release did not change during this run",
  "A membership stays while its node goes": "the node was gone at once",
  "publicAddress in its status": "in geth",
  "The ledger's client": expect.stringMatching(/^the node does not answer: HTTP 501 /) as string,
  "Its hard fork": "not asked: the node does not answer",
  "The clock of its blocks": "not asked: the node does not answer",
  "The largest code": "not asked: the node does not answer",
  "GET of one environment": "yes",
  "PATCH changes in place": "yes (HTTP 200)",
  "PATCH of the state pauses": "yes, and resumes it",
  "Credentials are listed": "yes",
  "DELETE of a zone exists": "yes",
  "?limit= and ?skip= of lists": "both work",
  "A DELETE answers": "node 204, environment 202, membership 204, consortium 202",
  "A deleted object is listed as":
    "node: gone at once; environment: deleted T; membership: gone at once; consortium: gone at once",
};
const [assumed, otherwise, unseen] = ["as assumed", "otherwise", "not seen"] as const;
const all =
  (...names: FactName[]) =>
  (is: string) =>
    Object.fromEntries(names.map((name) => [name, is]));
const verdicts = {
  ...all("environmentWaits", "plainErrors", "deletion", "bareAddresses", "zoneDelete", "quorumNode")(otherwise),
  ...all("autopause", "regions", "operators")(otherwise),
  ...all("upgrades", "invited", "interval", "tetherAccount", "membershipKept", "chains")(unseen),
  ...all("secretOfOrgs", "clients", "pause", "lists", "token", "regenerate", "limits")(assumed),
};
/** What of the table differs, what of the assumptions, and what is saved. */
const cases: [string, ServiceOptions["answers"], Partial<typeof byDefault>, Partial<typeof verdicts>, object][] = [
  [
    "the default",
    {},
    {},
    {},
    { extended: true, bareAddresses: false, environmentsWait: false, deletion: "deleting", plainErrors: false },
  ],
  [
    "like the hosted one",
    { like: "hosted" },
    {
      "A wrong key": "401, plain text",
      "Something that does not exist": "404, plain text",
      "The founder's membership is created with it": "yes",
      prefunded_accounts: "rejected with 0x (HTTP 400), accepted without",
      "An environment starts without a node": "not within 1.2 s",
      "Autopause is called": "autopause_init_delay autopause_idle_hours",
      "urls in a node": "an empty wss at first",
      "publicAddress in its status": "in quorum",
      "DELETE of a zone exists": "no (HTTP 405)",
      "A DELETE answers": "node 204, environment 202, consortium 202",
      "A membership stays while its node goes": "yes (HTTP 409)",
      "A deleted object is listed as":
        "node: delete_pending T, then deleted T; environment: delete_pending T, then deleted T; " +
        "consortium: delete_pending T, then deleted T",
    },
    all(
      ...(["environmentWaits", "plainErrors", "deletion", "bareAddresses"] as const),
      ...(["zoneDelete", "quorumNode", "autopause", "membershipKept"] as const),
    )(assumed),
    {
      foundingMembership: true,
      environmentsWait: true,
      deletion: "delete_pending",
      plainErrors: true,
      deleteZones: 405,
    },
  ],
  [
    "of the specification alone, and otherwise where that is open",
    {
      extended: false,
      idField: "id",
      created: 200,
      emptyBodies: true,
      getById: false,
      patch: 405,
      listCredentials: 403,
      gone: 410,
      deleted: { node: 202 },
    },
    {
      "Something that does not exist": "410, JSON",
      "Beyond the specification": expect.stringMatching(/^not \/orgs \(404\) \/authtoken \(404\)/) as string,
      "The key's organization is shown": "no",
      "A create answers": "200, no body",
      "The field of ids": "id",
      "GET of one environment": "no (HTTP 404)",
      "PATCH changes in place": "no (HTTP 405)",
      "PATCH of the state pauses": "PATCH does not work",
      "/orgs shows a secret": "there is none (HTTP 404)",
      "Consortia of others are listed": "not asked: the key's organization is not shown",
      "The plan's limits": "there is none (HTTP 404)",
      Regions: "there is none (HTTP 404)",
      "Clients of releases": "there is none (HTTP 404)",
      "A token is good for": "there is none (HTTP 404)",
      "Another password for a credential": "no (HTTP 404)",
      "urls of a started node": "none in the node itself",
      "Credentials are listed": "no (HTTP 403)",
      "DELETE of a zone exists": "not known: answered as an unknown path (HTTP 404)",
      "?limit= and ?skip= of lists": "ignored",
      "A DELETE answers": "node 202, environment 202, membership 204, consortium 202",
    },
    {
      ...all("secretOfOrgs", "clients", "pause", "lists", "token", "regenerate", "limits")(otherwise),
      zoneDelete: unseen,
    },
    { extended: false, idField: "id", created: 200, emptyBodies: true, getById: false, patch: 405, gone: 410 },
  ],
];

const verdictsIn = ({ seen }: Saved) =>
  Object.fromEntries(Object.entries(seen.facts).map(([name, { is }]) => [name, is]));

describe.each(cases)("a service %s", (_, answers, differing, judged, settings) => {
  const table = { ...byDefault, ...differing };
  test("is told in a table, cleaned up, and saved so that another service answers the same", async () => {
    const service = await serviceWith({ answers, timing: answers?.like === "hosted" ? { deleting: 300 } : {} });
    const kept = await own(service);
    const before = there(service);
    const first = await probe(service, "--yes", "--save", file("answers.json"));
    expect([first.code, first.stderr]).toEqual([0, expect.not.stringContaining("consortium:")]);
    expect(timeless(answersIn(first))).toEqual(table);
    expect(there(service)).toEqual(before);
    expect(changes(service).filter(({ path }) => path.includes(kept))).toEqual([]);

    const text = readFileSync(file("answers.json"), "utf8");
    const one = saved("answers.json");
    expect(one.answers).toMatchObject(settings);
    expect(verdictsIn(one)).toEqual({ ...verdicts, ...judged });
    expect(Object.values(one.seen.facts).map(({ fact }) => fact)).toEqual(Object.values(facts).map(({ fact }) => fact));
    const second = await probe(await serviceWith(one), "--yes", "--save", file("again.json"));
    expect(timeless(answersIn(second))).toEqual(table);
    const again = saved("again.json");
    expect([again.answers, verdictsIn(again)]).toEqual([one.answers, verdictsIn(one)]);
    expect(Object.keys(again.timing)).toEqual(Object.keys(one.timing));
    expect(one.seen.kinds["consortia/environments"]).toMatchObject({
      fields: expect.arrayContaining(["state", "consensus_type"]) as string[],
      states: expect.arrayContaining(["initializing", "deleted"]) as string[],
    });
    expect(one.seen.latency["GET /consortia/{id}/environments"]!.calls).toBeGreaterThan(3);
    const refusal = one.seen.refusals.find(({ call, status }) => call === "GET /consortia" && status === 401);
    expect(refusal?.words).toMatch(/^(The API key|Unauthorized)/);

    const ids = changes(service).flatMap(({ path }) => path.split("/"));
    const [, name] = /name (probe-\w+)/.exec(first.stderr)!;
    const secrets = [service.apiKey, service.organizations[0]!.id, service.url, name!, kept];
    const inPaths = ids.filter((part) => part.length === 10 && !["regenerate", "nosuchzone"].includes(part)); // "memberships" and the like are of another length
    expect(inPaths.length).toBeGreaterThan(3);
    expect([...secrets, ...inPaths].filter((secret) => text.includes(secret))).toEqual([]);
    expect([...secrets, ...inPaths].filter((secret) => first.stdout.includes(secret))).toEqual([]);
  });
});

describe("it tries a tether that nothing uses", () => {
  const id = "t0mytether";
  const tried = async (options: ServiceOptions, prepare?: (service: Service) => unknown) => {
    const service = await serviceWith({ tethers: [{ id }], ...options });
    await prepare?.(service);
    const { code, stdout } = await probe(service, "--yes", "--tether", id, "--save", file("tether.json"));
    const { facts: seen, ended } = saved("tether.json").seen;
    const rows = [seen.tetherAccount, seen.chains, seen.interval].map(({ is, seen: what }) => `${is}: ${what}`);
    const fields = service.store.tethers.list()[0]!.fields;
    return { code, rows, ended, isActive: fields.active, answers: saved("tether.json").answers, stdout };
  };
  const chain = expect.stringContaining("otherwise: Another public chain: sepolia: HTTP 400, ") as string;

  const notKnown = "not seen: A tether's interval counts: not known:";
  const refusal = { method: "POST", route: /deploy$/, errorMessage: "No funds of acme-7." };
  const noFunds: FaultRule = { kind: "status", status: 402, ...refusal };
  const isPaying = `${notKnown} 1 is shown as 1, and`;
  test.each<[string, ServiceOptions, FaultRule[], account: unknown, interval: string, object]>([
    [
      "whose account is made, and whose interval is of minutes; it is stopped again",
      { answers: { tetherAccounts: false, tetherConfig: true }, timing: { tetherHour: 300 } },
      [],
      "as assumed: The account of a new tether: none (HTTP 404), until it is asked for",
      "as assumed: A tether's interval counts: minutes",
      { tetherAccounts: false, tetherConfig: true },
    ],
    [
      "that has an account from the start, and whose second report does not come in the time of --wait",
      {},
      [],
      "otherwise: The account of a new tether: from the start",
      `${notKnown} no second report within 6 s; give --wait 150`,
      { tetherAccounts: true, tetherConfig: false },
    ],
    [
      "but pays nothing if the service does not show whether there is a contract",
      { answers: { getById: false } },
      [],
      anyText,
      `${isPaying} nothing was paid for`,
      {},
    ],
    [
      "which cannot pay",
      {},
      [noFunds],
      anyText,
      `${isPaying} on rinkeby, deploy is refused: HTTP 402, No funds of …`,
      {},
    ],
  ])("%s", async (_, options, faults, account, interval, answers) => {
    const found = await tried(options, (service) => faults.forEach((one) => service.faults.add(one)));
    expect(found).toMatchObject({ code: 0, isActive: false, rows: [account, chain, interval], answers });
  });

  test("but none that is in use, or does not exist: its settings stay", async () => {
    const inUse = async (service: Service) => {
      await send(service, "POST", `/tether/${id}/targetNetwork`, { network: "rinkeby" });
      await send(service, "POST", `/tether/${id}/interval`, { interval: 7 });
      await send(service, "POST", `/tether/${id}/deploy`, {});
    };
    const { code, ended, rows } = await tried({}, inUse);
    expect([code, ended, rows[2]]).toEqual([
      1,
      expect.stringContaining("so it may be in use"),
      expect.stringContaining("not seen: A tether's interval counts: not asked: "),
    ]);
    const none = await serviceWith();
    const { stderr } = await probe(none, "--yes", "--tether", "t0nothing1");
    expect(stderr).toContain("Check the id of --tether.");
    expect(there(none)).toEqual([]);
  });
});

test("docs/probe.md shows a whole run", async () => {
  const page = join(__dirname, "../../docs/probe.md");
  const text = readFileSync(page, "utf8");
  const service = await serviceWith({
    ledger: true,
    timing: { environmentStart: 500, nodeStart: 1_500, deletedVisible: 500 },
  });
  const { code, stdout } = await probe(service, "--yes", "--wait", "60", "--save", file("page.json"));
  expect(code).toBe(0);
  const shown = text.replace(/(?<=^```text\n)[^]*?(?=^```$)/m, stdout);
  if (process.env.UPDATE_PAGES) writeFileSync(page, shown);
  else expect(timeless([shown])).toEqual(timeless([text]));
});

const environment = "/consortia/:consortiumId/environments/:environmentId";
const always = { times: Infinity };
const answers = (status: number, method: string, route: string | RegExp, more: object = {}): FaultRule => ({
  kind: "status",
  status,
  method,
  route,
  ...more,
});
const notStarted = "not asked: the node did not start";
const ofStarted = {
  "urls of a started node": notStarted,
  "publicAddress in its status": notStarted,
  "The ledger's client": notStarted,
  "PATCH of the state pauses": notStarted,
};
const nodeStatus = { quorum: { consensus: "raft" }, geth: { public_address: "0x1" }, urls: { rpc: "" } };
const refusals: [string, ServiceOptions, FaultRule[], Partial<typeof byDefault>, object][] = [
  [
    "that refuses what it may",
    {},
    [
      { kind: "html", status: 401, nth: 2, route: "/consortia" },
      answers(404, "GET", /\/(regions|plans\/.*)$/, always),
      answers(400, "POST", "/consortia/:consortiumId/environments", { times: 2 }),
      answers(409, "POST", `${environment}/nodes`),
      answers(200, "PATCH", environment, { body: {}, ...always }),
      answers(501, "DELETE", /\/zones\/nosuchzone$/),
      answers(200, "GET", `${environment}/nodes/:nodeId/status`, { body: nodeStatus, ...always }),
    ],
    {
      "A wrong key": "401, HTML",
      "Beyond the specification": "/orgs /authtoken /apikeys /memberships /releases; not /regions (404) /plans (404)",
      "The plan's limits": "there is none (HTTP 404)",
      Regions: "there is none (HTTP 404)",
      prefunded_accounts: "refused (HTTP 400)",
      "The ledger's client": "not asked: the node has no address",
      "PATCH changes in place": "HTTP 200, but the list does not show it",
      "PATCH of the state pauses": "HTTP 200, but it is not paused",
      "DELETE of a zone exists": "no (HTTP 501)",
    },
    { plainErrors: true, extended: true, bareAddresses: false, patch: true, deleteZones: 501, quorumStatus: false },
  ],
  [
    "whose node fails",
    { answers: { quorumStatus: true } },
    [
      answers(200, "GET", `${environment}/nodes/:nodeId`, { body: { state: "failed" }, ...always }),
      answers(410, "GET", "/consortia/u0nothing0/environments"),
    ],
    {
      "Something that does not exist": "410, JSON",
      "A node": "failed after T",
      ...ofStarted,
    },
    { patch: true, emptyUrls: false, gone: 410 },
  ],
  [
    "whose node does not start in time",
    { timing: { nodeStart: 600_000 } },
    [],
    { "A node": "not within 6.0 s", ...ofStarted },
    {},
  ],
  [
    "that pauses, does not resume, and shows no password",
    {},
    [
      answers(403, "PATCH", environment, { nth: 3 }),
      answers(201, "POST", `${environment}/appcreds`, { body: { username: "u" } }),
      answers(502, "GET", `${environment}/appcreds`, always),
    ],
    {
      "The ledger's client": "not asked: no credential is shown",
      "Another password for a credential": "not asked: no credential is shown",
      "PATCH of the state pauses": "yes, but resuming it is refused (HTTP 403)",
      "Credentials are listed": "no (HTTP 502)",
    },
    { listCredentials: 502 },
  ],
];

test.each(refusals)("a service %s is told in a table", async (_, options, faults, differing, settings) => {
  const service = await serviceWith(options);
  for (const fault of faults) service.faults.add(fault);
  const probed = await probe(service, "--yes", "--save", file("refusals.json"));
  expect([probed.code, probed.stderr]).toEqual([0, expect.not.stringContaining("consortium:")]);
  expect(timeless(answersIn(probed))).toEqual({ ...byDefault, ...differing });
  const { answers, timing } = saved("refusals.json");
  expect(answers).toMatchObject(settings);
  expect("nodeStart" in timing).toBe(!/failed|not within/.test(differing["A node"] ?? ""));
  expect(there(service)).toEqual([]);
});
