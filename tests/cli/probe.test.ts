import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { likeWhom } from "../../service/command/like";
import { type FaultKind, type Service, type ServiceOptions, startService } from "../../service/index";
import { consortium, type Ended } from "./command";

/* What `consortium probe` finds out of a service, and that nothing of it is left, whatever happens. */

jest.setTimeout(60_000);

const folder = mkdtempSync(join(tmpdir(), "probe-"));
const file = (name: string): string => join(folder, name);
const running: Service[] = [];
afterEach(async () => {
  for (const service of running.splice(0)) await service.close();
});

const quick = { environmentStart: 300, nodeStart: 200, deletedVisible: 300 };

async function begin(options: ServiceOptions = {}): Promise<Service> {
  const service = await startService({ ...options, timing: { ...quick, ...options.timing } });
  running.push(service);
  return service;
}

/** Something of the organization's own, which no probe may touch. */
async function own(service: Service): Promise<string> {
  const headers = { authorization: `Bearer ${service.apiKey}`, "content-type": "application/json" };
  const body = JSON.stringify({ name: "production" });
  await fetch(`${service.baseUrl}/consortia`, { method: "POST", headers, body });
  service.clearCalls();
  return service.store.consortia.list()[0]!.id;
}

const connection = (service: Service) => ({
  CONSORTIUM_BASE_URL: service.baseUrl,
  CONSORTIUM_API_KEY: service.apiKey,
});
const probe = (service: Service, ...args: string[]): Promise<Ended> =>
  consortium(["probe", "--wait", "6", ...args], connection(service));

/** question → answer */
function answersIn({ stdout }: Ended): Record<string, string> {
  const rows = stdout.split("\n").filter((line) => line.startsWith("│"));
  const cells = rows.map((line) => line.split("│").map((cell) => cell.trim()));
  const answers: Record<string, string> = {};
  let last = "";
  for (const [, question = "", answer = ""] of cells.slice(1)) {
    last = question || last;
    answers[last] = question === "" ? `${answers[last]}; ${answer}` : answer;
  }
  return answers;
}

const kinds = ["consortia", "memberships", "environments", "nodes"] as const;
/** The ids of what is there: not deleted, and not on its way out. */
const there = ({ store }: Service): string[] =>
  kinds.flatMap((kind) => store[kind].list().filter(({ state }) => !/delet/.test(state))).map(({ id }) => id);
const changes = ({ calls }: Service) => calls.filter(({ method }) => method !== "GET");
const deletions = (service: Service): string[] =>
  changes(service)
    .filter(({ method, status }) => method === "DELETE" && status! < 300)
    .map(({ path }) => path.split("/").at(-2)!);

const duration = /\d+(\.\d+)? m?s/g;
const timeless = (answers: object): unknown => JSON.parse(JSON.stringify(answers).replace(duration, "T"));

const common = {
  "The key's organization is told": "yes",
  "A create answers": "201, the object",
  "The field of ids": "_id",
  "GET of one environment": "yes",
  "Credentials are listed": "yes",
  "The default size of a page": "not asked: it takes many objects",
  "Names are unique": "not asked: it takes a second object",
};
const cases: [string, ServiceOptions["answers"], Record<string, string>, object][] = [
  [
    "the default",
    {},
    {
      ...common,
      "A wrong key": "401, JSON",
      "Something that does not exist": "404, JSON",
      "Beyond the specification": "/orgs /authtoken /apikeys /memberships /regions /plans /releases",
      "The founder's membership comes with it": "no",
      prefunded_accounts: "taken with 0x",
      "An environment starts without a node": "yes: setup after T",
      "Autopause is called": "initial_delay idle_hours",
      "urls in a node": "none at first",
      "A node": "started after T",
      "publicAddress in its status": "in geth",
      "PATCH changes in place": "yes (HTTP 200)",
      "PATCH of the state pauses": "yes, and resumes it",
      "DELETE of a zone exists": "yes",
      "?limit= and ?skip= of lists": "both work",
      "A DELETE answers": "node 204, environment 202, membership 204, consortium 202",
      "What is deleted is listed as":
        "node: gone at once; environment: deleted T; membership: gone at once; consortium: gone at once",
    },
    { extended: true, bareAddresses: false, environmentsWait: false, deletion: "deleting", plainErrors: false },
  ],
  [
    "like the hosted one",
    { like: "hosted" },
    {
      ...common,
      "A wrong key": "401, plain text",
      "Something that does not exist": "404, plain text",
      "Beyond the specification": "/orgs /authtoken /apikeys /memberships /regions /plans /releases",
      "The founder's membership comes with it": "yes",
      prefunded_accounts: "refused with 0x (HTTP 400), taken without",
      "An environment starts without a node": "not within T",
      "Autopause is called": "autopause_init_delay autopause_idle_hours",
      "urls in a node": "an empty wss at first",
      "A node": "started after T",
      "publicAddress in its status": "in quorum",
      "PATCH changes in place": "yes (HTTP 200)",
      "PATCH of the state pauses": "yes, and resumes it",
      "DELETE of a zone exists": "no (HTTP 405)",
      "?limit= and ?skip= of lists": "both work",
      "A DELETE answers": "node 204, environment 202, consortium 202",
      "What is deleted is listed as":
        "node: delete_pending T, then deleted T; environment: delete_pending T, then deleted T; " +
        "consortium: delete_pending T, then deleted T",
    },
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
      "A wrong key": "401, JSON",
      "Something that does not exist": "410, JSON",
      "Beyond the specification": expect.stringMatching(/^not \/orgs \(404\) \/authtoken \(404\)/) as string,
      "The key's organization is told": "no",
      "A create answers": "200, no body",
      "The field of ids": "id",
      "The founder's membership comes with it": "no",
      prefunded_accounts: "taken with 0x",
      "An environment starts without a node": "yes: setup after T",
      "Autopause is called": "initial_delay idle_hours",
      "urls in a node": "none at first",
      "A node": "started after T",
      "publicAddress in its status": "in geth",
      "GET of one environment": "no (HTTP 404)",
      "PATCH changes in place": "no (HTTP 405)",
      "PATCH of the state pauses": "not asked: PATCH does not work",
      "Credentials are listed": "no (HTTP 403)",
      "DELETE of a zone exists": "not known: answered as an unknown path (HTTP 404)",
      "?limit= and ?skip= of lists": "ignored",
      "The default size of a page": "not asked: it takes many objects",
      "Names are unique": "not asked: it takes a second object",
      "A DELETE answers": "node 202, environment 202, membership 204, consortium 202",
      "What is deleted is listed as":
        "node: gone at once; environment: deleted T; membership: gone at once; consortium: gone at once",
    },
    { extended: false, idField: "id", created: 200, emptyBodies: true, getById: false, patch: 405, gone: 410 },
  ],
];

describe.each(cases)("a service %s", (_, answers, table, settings) => {
  test("is told in a table, cleaned up, and saved so that another service answers the same", async () => {
    const service = await begin({ answers, timing: answers?.like === "hosted" ? { deleting: 300 } : {} });
    const kept = await own(service);
    const before = there(service);
    const first = await probe(service, "--yes", "--save", file("answers.json"));
    expect([first.code, first.stderr]).toEqual([0, expect.not.stringContaining("consortium:")]);
    expect(timeless(answersIn(first))).toEqual(table);
    expect(there(service)).toEqual(before);
    expect(changes(service).filter(({ path }) => path.includes(kept))).toEqual([]);

    const text = readFileSync(file("answers.json"), "utf8");
    const saved = JSON.parse(text) as { answers: object; timing: object };
    expect(saved.answers).toMatchObject(settings);
    const other = await begin(likeWhom(file("answers.json")));
    const second = await probe(other, "--yes", "--save", file("again.json"));
    expect(timeless(answersIn(second))).toEqual(table);
    const again = JSON.parse(readFileSync(file("again.json"), "utf8")) as typeof saved;
    expect(again.answers).toEqual(saved.answers);
    expect(Object.keys(again.timing)).toEqual(Object.keys(saved.timing));

    const ids = changes(service).flatMap(({ path }) => path.split("/"));
    const [, name] = /name (probe-\w+)/.exec(first.stderr)!;
    const secrets = [service.apiKey, service.organizations[0]!.id, service.url, name!, kept];
    const inPaths = ids.filter((part) => /\d/.test(part));
    expect(inPaths.length).toBeGreaterThan(3);
    expect([...secrets, ...inPaths].filter((secret) => text.includes(secret))).toEqual([]);
    expect(first.stdout).not.toContain(service.apiKey);
  });
});

describe("it deletes what it made, innermost first", () => {
  test("after an error in the middle, which is said, and nothing is saved", async () => {
    const service = await begin();
    service.faults.add({ kind: "status", status: 500, method: "GET", route: /\/appcreds$/, times: Infinity });
    service.faults.add({ kind: "resetAfter", method: "POST", route: /\/nodes$/ });
    const { code, stdout, stderr } = await probe(service, "--yes", "--save", file("none.json"));
    expect([code, stderr]).toEqual([1, expect.stringContaining("consortium: POST /consortia/")]);
    expect(stdout).toContain("A create answers");
    expect(stdout).toContain("Nothing that the probe made is left.");
    expect(deletions(service)).toEqual(["nodes", "environments", "memberships", "consortia"]);
    expect(there(service)).toEqual([]);
    expect(() => readFileSync(file("none.json"))).toThrow("ENOENT");
  });

  test.each<FaultKind>([
    { kind: "resetAfter" },
    { kind: "status", status: 504, acted: true },
    { kind: "html", status: 200, acted: true },
    { kind: "truncated", wellFormed: true },
  ])("after a consortium whose create was answered by $kind, by its name", async (fault) => {
    const service = await begin();
    const kept = await own(service);
    service.faults.add({ ...fault, method: "POST", route: "/consortia" });
    expect((await probe(service, "--yes")).code).toBe(1);
    expect(there(service)).toEqual([kept]);
    expect(deletions(service)).toEqual(["consortia"]);
  });

  test.each(["SIGINT", "SIGTERM"] as const)("after %s", async (signal) => {
    const service = await begin({ timing: { nodeStart: 600_000 } });
    const listeners = process.listenerCount(signal);
    const ended = probe(service, "--yes");
    await until(() => service.calls.some(({ method, path }) => method === "POST" && path.endsWith("/nodes")));
    process.emit(signal, signal);
    const { code, stdout, stderr } = await ended;
    expect(code).toBe(signal === "SIGINT" ? 130 : 143);
    expect(stderr).toContain("Deleting what was made.");
    expect(stdout).toContain("Nothing that the probe made is left.");
    expect(deletions(service)).toEqual(["nodes", "environments", "memberships", "consortia"]);
    expect(there(service)).toEqual([]);
    expect(process.listenerCount(signal)).toBe(listeners);
  });

  test("and says with ids what it could not delete", async () => {
    const service = await begin();
    service.faults.add({
      kind: "status",
      status: 403,
      method: "DELETE",
      route: "/consortia/:consortiumId",
      times: Infinity,
    });
    const { code, stderr, stdout } = await probe(service, "--yes");
    const [left] = there(service);
    expect([code, there(service).length]).toEqual([1, 1]);
    expect(stderr).toContain(`consortium ${left}: HTTP 403 to its deletion`);
    expect(stdout).not.toContain("is left.");
  });

  test("a second signal gives up at once, and says what is left", async () => {
    const service = await begin({ answers: { like: "hosted" }, timing: { nodeStart: 600_000, deleting: 600_000 } });
    const ended = probe(service, "--yes");
    await until(() => service.calls.some(({ method, path }) => method === "POST" && path.endsWith("/nodes")));
    process.emit("SIGINT", "SIGINT");
    await until(() => service.calls.some(({ method }) => method === "DELETE"));
    process.emit("SIGINT", "SIGINT");
    const { code, stderr } = await ended;
    const [consortium] = service.store.consortia.list();
    expect([code, stderr]).toEqual([130, expect.stringContaining(`consortium ${consortium!.id}: not waited for`)]);
  });
});

test("without a terminal and without --yes, it makes nothing", async () => {
  const service = await begin();
  const { code, stderr } = await probe(service);
  expect([code, stderr]).toEqual([
    1,
    expect.stringContaining("Nothing was made: confirm at a terminal, or use --yes."),
  ]);
  expect(stderr).toMatch(
    /makes, all with the name probe-\w+: a consortium; .* an\nenvironment \(quorum, raft\); and a node/,
  );
  expect(service.calls).toEqual([]);
});

test("where the plan has no room for a consortium, it makes nothing", async () => {
  const service = await begin({ limits: { consortia: 1 } });
  await own(service);
  const { code, stderr } = await probe(service, "--yes");
  expect([code, stderr]).toEqual([1, expect.stringContaining("The plan allows 1 consortia, and there are 1.")]);
  expect(changes(service).map(({ path }) => path)).toEqual(["/authtoken"]);
});

test.each([
  ["nobody", "nobody cannot be read: there is no such file."],
  [file("broken.json"), "broken.json is not JSON."],
  [file("other.json"), "answers.gone: Invalid option"],
])("serve --like %s is refused in a sentence", async (whom, why) => {
  writeFileSync(file("broken.json"), "{");
  writeFileSync(file("other.json"), JSON.stringify({ answers: { gone: 200 } }));
  const { code, stderr } = await consortium(["serve", "--like", whom]);
  const takes = "consortium: --like takes specification, hosted, or a file that `consortium probe --save` wrote. ";
  expect([code, stderr]).toEqual([1, expect.stringContaining(takes)]);
  expect(stderr).toContain(why);
});

async function until(isSo: () => boolean): Promise<void> {
  const end = Date.now() + 20_000;
  while (!isSo() && Date.now() < end) await new Promise((done) => setTimeout(done, 10));
  expect(isSo()).toBe(true);
}
