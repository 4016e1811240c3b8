import { readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { type Service, type ServiceOptions } from "../../../service/index";
import { connection } from "../../cli/command";
import { allOf, changes, file, own, serviceWith, there } from "../../cli/probed";
import { begun, built, consortium, serveJson } from "../../service/child";
import { until } from "../../support/until";

/* `consortium probe` as a process: what it finds out, what it saves, and signals. */

beforeAll(built);

const begin = (service: Service, ...args: string[]) => begun(["probe", "--wait", "6", ...args], connection(service));
const probe = (service: Pick<Service, "baseUrl" | "apiKey">, ...args: string[]) =>
  consortium(["probe", "--wait", "6", ...args], connection(service));

/** question → answer */
function answersIn({ stdout }: { stdout: string }): Record<string, string> {
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

/** What it says is left, in the order of deletion. */
const leftIn = (stderr: string): string[] =>
  stderr.split("with `npx --no-install pulumi-consortium sweep --id`:\n")[1]?.trim().split("\n") ?? [];

const duration = /\d+(\.\d+)? m?s/g;
const timeless = (answers: object): unknown => JSON.parse(JSON.stringify(answers).replace(duration, "T"));

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
  "urls in a node": "none at first",
  "A node": "started after T",
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
/** What of the table differs, and what is saved. */
const cases: [string, ServiceOptions["answers"], Partial<typeof byDefault>, object][] = [
  [
    "the default",
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
      "An environment starts without a node": "not within T",
      "Autopause is called": "autopause_init_delay autopause_idle_hours",
      "urls in a node": "an empty wss at first",
      "publicAddress in its status": "in quorum",
      "DELETE of a zone exists": "no (HTTP 405)",
      "A DELETE answers": "node 204, environment 202, consortium 202",
      "A deleted object is listed as":
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
      "Something that does not exist": "410, JSON",
      "Beyond the specification": expect.stringMatching(/^not \/orgs \(404\) \/authtoken \(404\)/) as string,
      "The key's organization is shown": "no",
      "A create answers": "200, no body",
      "The field of ids": "id",
      "GET of one environment": "no (HTTP 404)",
      "PATCH changes in place": "no (HTTP 405)",
      "PATCH of the state pauses": "not asked: PATCH does not work",
      "Credentials are listed": "no (HTTP 403)",
      "DELETE of a zone exists": "not known: answered as an unknown path (HTTP 404)",
      "?limit= and ?skip= of lists": "ignored",
      "A DELETE answers": "node 202, environment 202, membership 204, consortium 202",
    },
    { extended: false, idField: "id", created: 200, emptyBodies: true, getById: false, patch: 405, gone: 410 },
  ],
];

describe.each(cases)("a service %s", (_, answers, differing, settings) => {
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
    const saved = JSON.parse(text) as { answers: object; timing: object };
    expect(saved.answers).toMatchObject(settings);
    const other = await serveJson(["--no-console", "--no-ledger", "--like", file("answers.json")]);
    const { baseUrl } = other.ready;
    const second = await probe({ baseUrl, apiKey: other.key }, "--yes", "--save", file("again.json"));
    other.child.kill();
    expect(timeless(answersIn(second))).toEqual(table);
    const again = JSON.parse(readFileSync(file("again.json"), "utf8")) as typeof saved;
    expect(again.answers).toEqual(saved.answers);
    expect(Object.keys(again.timing)).toEqual(Object.keys(saved.timing));

    const ids = changes(service).flatMap(({ path }) => path.split("/"));
    const [, name] = /name (probe-\w+)/.exec(first.stderr)!;
    const secrets = [service.apiKey, service.organizations[0]!.id, service.url, name!, kept];
    const inPaths = ids.filter((part) => part.length === 10); // "memberships" and the like are of another length
    expect(inPaths.length).toBeGreaterThan(3);
    expect([...secrets, ...inPaths].filter((secret) => text.includes(secret))).toEqual([]);
    expect(first.stdout).not.toContain(service.apiKey);
  });
});

/* One signal: tests/cli/probe.test.ts. */
describe("it deletes what it made", () => {
  const nodeAsked = ({ calls }: Service) =>
    until(() => calls.some(({ method, path }) => method === "POST" && path.endsWith("/nodes")));
  /** Presses Ctrl-C while a node starts, and again at the first deletion. */
  async function interruptedTwice(service: Service) {
    const { child, ended } = begin(service, "--yes");
    await nodeAsked(service);
    child.kill("SIGINT");
    await until(() => service.calls.some(({ method }) => method === "DELETE"));
    child.kill("SIGINT");
    return ended;
  }

  test("a second signal gives up at once, and says what is left", async () => {
    const timing = { nodeStart: 600_000, deleting: 600_000 };
    const service = await serviceWith({ answers: { like: "hosted" }, timing });
    const ended = interruptedTwice(service);
    const { code, stdout, stderr } = await ended;
    expect([code, stderr]).toEqual([130, expect.stringContaining("Stopping at once.")]);
    const made = allOf(service).filter((one) => !one.startsWith("membership")); // the founder's came by itself
    expect(leftIn(stderr)).toEqual(made.reverse().map((one) => `${one}: not waited for`));
    expect(stdout).not.toContain("is left.");
  });

  test("a second signal does not wait for a call that nobody answers", async () => {
    const service = await serviceWith({ timing: { nodeStart: 600_000 } });
    service.faults.add({ kind: "hang", method: "DELETE", times: Infinity });
    const ended = interruptedTwice(service);
    const over = Promise.race([ended, wait(20_000, "still running", { ref: false })]);
    expect(await over).toMatchObject({ code: 130 });
    const made = allOf(service).reverse();
    expect(leftIn((await ended).stderr)).toEqual(made.map((one) => `${one}: not waited for`));
  });

  test("and where the service goes away, it says exactly what is left, without trying each for long", async () => {
    const service = await serviceWith({ timing: { nodeStart: 600_000 } });
    const { ended } = begin(service, "--yes", "--wait", "3");
    await nodeAsked(service);
    const all = allOf(service);
    service.faults.add({ kind: "refuse", ms: 600_000 });
    const { code, stdout, stderr } = await ended;
    expect(code).toBe(1);
    expect(stderr).toContain("Deleting what was created.");
    const [node, ...others] = all.reverse();
    expect(leftIn(stderr)).toEqual([
      expect.stringMatching(new RegExp(`^${node}: DELETE /\\S+: the connection was .*cannot be reached`)),
      ...others.map((one) => `${one}: not tried, because the service cannot be reached`),
    ]);
    expect(stdout).not.toContain("is left.");
  });
});
