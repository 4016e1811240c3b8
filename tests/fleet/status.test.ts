import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { labelsOf } from "../../fleet/manifests";
import { type StackObject } from "../../fleet/cluster";
import { finished } from "../../tools/lib/processes.mjs";
import { built } from "../service/child";
import { Kubernetes } from "./kubernetes-double";
import { fleetOf } from "./made";
import { StubFleet, type StubPulumi } from "./stub-pulumi";

/* `status` and `resume`, as processes: Jest does not load the client, which is an ECMAScript module. */

beforeAll(built);

const at = "2026-11-27T10:00:00Z";
let cluster: Kubernetes;
let config: string;
let own: StubFleet;
let pulumi: StubPulumi;
let fleet: string;
beforeEach(async () => {
  cluster = new Kubernetes();
  config = await cluster.start();
  ({ pulumi } = own = new StubFleet("trade"));
  const organizations = {
    acme: { apiKey: { env: "A" }, stacks: { prod: "trade.yaml", test: { definition: "trade.yaml", name: "test" } } },
    globex: { apiKey: { env: "G" }, stacks: { prod: "trade.yaml" } },
  };
  fleet = own.write(organizations, { project: "trade", kubernetes: { namespace: "networks" } });
});

const cli = join(__dirname, "../../dist/cli/consortium.js");
const run = (...args: string[]) => {
  const env = { ...process.env, ...pulumi.env, KUBECONFIG: config };
  return finished(
    spawn(process.execPath, [cli, "fleet", ...args], { cwd: own.folder, env, stdio: ["ignore", "pipe", "pipe"] }),
  );
};

type State = "Ready" | "Stalled";
function stack(name: string, state: State, reason = "", message?: string): StackObject {
  const lastUpdate = message === undefined ? undefined : { state: "failed", message };
  const [organization] = name.split("-");
  const labels = labelsOf(fleetOf([], { project: "trade" }));
  const conditions = [{ type: state, status: "True", reason, message: "", lastTransitionTime: at }];
  const one = {
    metadata: { name, namespace: `networks-${organization}`, generation: 1, labels },
    spec: { stack: name },
    status: { observedGeneration: 1, conditions, lastUpdate, projectInfo: { name: "trade" } },
  };
  cluster.stacks.push(one);
  return one;
}
const lockOf = (host: string, since = at) => `locked by 1 lock(s)\n created by root@${host} (pid 7) at ${since}`;
const started = ({ metadata }: StackObject) =>
  metadata.annotations?.["pulumi.com/reconciliation-request"] !== undefined;

describe("status", () => {
  test("lists the Stacks of all organizations of a file, and missing ones; Stacks of others do not count", async () => {
    stack("acme-prod", "Ready");
    stack("globex-prod", "Stalled", "UpdateFailed");
    const other = stack("acme-other", "Stalled");
    Object.assign(other.metadata, { labels: {} });
    const { code, stdout } = await run("status", fleet);
    expect(stdout).toMatch(/^networks-globex\/globex-prod +stalled +2026-11-27T10:00:00Z/m);
    expect(stdout).toMatch(/^networks-acme\/acme-test +new .*no Stack in the namespace networks-acme$/m);
    expect(stdout).toContain("1 of 3 stacks ready (33 %), 1 stalled, 1 new");
    expect(code).toBe(1);
    expect(await run("status", fleet, "--only", "acme-prod")).toMatchObject({ code: 0 });
  });

  test("previews alone are not the Stacks, which are missing", async () => {
    for (const name of ["acme-prod", "acme-test", "globex-prod"])
      Object.assign(stack(name, "Ready").spec, { preview: true });
    const { code, stdout } = await run("status", fleet);
    expect(stdout).toContain("0 of 3 stacks ready (0 %), 3 new; 3 of 3 previews ready");
    expect(code).toBe(2);
  });

  test("Stacks that left the file are named, with the command that ends them", async () => {
    for (const name of ["acme-prod", "acme-test", "globex-prod", "globex-old", "acme-old"]) stack(name, "Ready");
    const { text } = await run("status", fleet);
    expect(text.match(/^\S+ is not in \S+, and the operator still runs it/gm)).toHaveLength(2);
    expect(text).toContain(
      "kubectl -n networks-globex delete stacks.pulumi.com globex-old. Its ledgers and its state stay.",
    );
  });

  test("a Stack that waits for its pod says why the pod does not run", async () => {
    const waits = ["acme-prod", "acme-test", "globex-prod"].map((name) => {
      const one = stack(name, "Stalled", "StackProcessing");
      const [condition] = one.status!.conditions!;
      Object.assign(condition!, { type: "Reconciling", message: "waiting for workspace readiness" });
      cluster.pods.set(`${name}-workspace-0`, at);
      return one;
    });
    delete waits[0]!.status!.observedGeneration; // as the operator leaves it when it writes its finalizer
    cluster.waiting.set("acme-prod-workspace-0", { reason: "CreateContainerConfigError", message: "no secret" });
    cluster.waiting.set("acme-test-workspace-0", { reason: "ContainerCreating", message: "" });
    cluster.waiting.set("globex-prod-workspace-0", { reason: "ImagePullBackOff", message: "no such image" });
    const { stdout } = await run("status", fleet);
    expect(stdout).toMatch(/acme-prod +new .* CreateContainerConfigError: no secret \(acme-prod-workspace-0\)$/m);
    expect(stdout).toMatch(/acme-test +running .* StackProcessing: waiting for workspace readiness$/m);
    expect(stdout).toMatch(/globex-prod +running .* ImagePullBackOff: no such image \(globex-prod-workspace-0\)$/m);
  });

  test("a thousand Stacks of a namespace, in pages, as JSON, JUnit and metrics", async () => {
    for (let at = 0; at < 1_000; at++) stack(`acme-${at}`, at < 990 ? "Ready" : "Stalled", "UpdateFailed");
    const files = ["status.xml", "status.prom"].map((name) => join(own.folder, name));
    const args = ["--json", "--junit", files[0]!, "--prometheus", files[1]!];
    const { code, stdout } = await run("status", ...args);
    expect([code, JSON.parse(stdout)]).toMatchObject([1, { total: { ready: 990, stalled: 10 } }]);
    expect(readFileSync(files[0]!, "utf8")).toContain('tests="1000" failures="10"');
    expect(readFileSync(files[1]!, "utf8")).toContain('consortium_fleet_stacks{state="stalled"} 10');
    expect(cluster.calls).toHaveLength(5);
  });

  test.each<[string, string[], typeof cluster.refusal, RegExp]>([
    [
      "a refusal",
      [],
      { status: 403, message: "no, no" },
      /Cannot list the Stacks of networks-acme at http.*no, no \[not-allowed: /,
    ],
    ["an error", [], { status: 500, message: "not now" }, /not now \[unreachable: /],
    [
      "a missing context",
      ["--context", "there"],
      undefined,
      /Choose from here: .* no context there\. \[invalid-argument/,
    ],
  ])("%s says what failed and where", async (_, args, refusal, said) => {
    cluster.refusal = refusal;
    const { code, text } = await run("status", ...args);
    expect({ code, text }).toEqual({ code: 1, text: expect.stringMatching(said) as string });
  });
});

describe("resume", () => {
  test("starts only stalled Stacks again, and recreates a workspace with a failed installation", async () => {
    const [ready, failed, install] = [
      stack("acme-prod", "Ready"),
      stack("acme-test", "Stalled", "UpdateFailed", "the service does not answer"),
      stack("globex-prod", "Stalled", "WorkspaceFailed"),
    ];
    const { code, stdout } = await run("resume", fleet);
    expect([ready, failed, install].map(started)).toEqual([false, true, true]);
    expect(stdout).toContain("networks-acme/acme-test  started again");
    expect(stdout).toContain("networks-globex/globex-prod  workspace deleted; started again");
    expect(stdout).toContain("2 of 2 stalled Stacks started again");
    expect(code).toBe(0);
    expect(cluster.calls.filter((call) => call.startsWith("DELETE"))).toEqual([
      expect.stringMatching(/networks-globex\/workspaces\/globex-prod$/) as string,
    ]);
  });

  interface Case {
    /** Who holds the lock. */
    host?: string;
    /** The start of its pod, and of the one that the operator makes next. */
    pod?: string;
    next?: string;
    /** Of the stack, where that is not the fleet's. */
    project?: string;
    update?: object;
    agrees?: boolean;
    /** What is said; `isLeft`: why the lock stays. */
    said: string;
    isLeft?: boolean;
  }
  const older = "2026-11-27T09:00:00Z"; // than the lock
  const [newer, next] = ["2026-11-27T11:00:00Z", "2026-11-27T12:00:00Z"];
  const own = "acme-prod-workspace-0";
  const [lockOfOwn, again] = [`lock of root@${own}`, "cleared; started again"];
  const unagreed = { agrees: false, isLeft: true, said: "was not cleared: answer y, or use --yes" };
  const others =
    "root@laptop (process 7) since 2026-11-27T10:00:00Z, which may be at work. If not: pulumi cancel --yes";
  test.each<[string, Case]>([
    ["gone", { said: lockOfOwn }],
    ["made again", { pod: newer, said: again }],
    ["gone, but nobody agrees", unagreed],
    ["alive, but its Pulumi was killed", { pod: older, said: `workspace deleted; ${lockOfOwn}` }],
    ["alive, and is made again at once, of a Program", { pod: older, next, project: "acme-prod", said: again }],
    ["alive, but nobody agrees", { pod: older, ...unagreed }],
    ["at work again", { pod: older, update: { name: "u" }, isLeft: true, said: "which may be at work" }],
    ["not this Stack's", { host: "laptop", isLeft: true, said: `${others} --stack organization/trade/acme-prod` }],
  ])("a lock of a workspace that is %s", async (_, { host = own, pod, agrees = true, ...given }) => {
    const locked = stack("acme-prod", "Stalled", "UpdateFailed", lockOf(host));
    const { project = "trade", said, isLeft = false } = given;
    Object.assign(locked.status!, { currentUpdate: given.update, projectInfo: { name: project } });
    pulumi.stacks = { [`${project}/acme-prod`]: { tags: {}, networks: [], ids: [] } };
    if (pod !== undefined) cluster.pods.set(host, pod);
    if (given.next !== undefined) cluster.next.set(host, given.next);
    const { code, stdout } = await run("resume", fleet, ...(agrees ? ["--yes"] : []));
    expect(stdout).toContain(said);
    expect({ code, started: started(locked) }).toEqual({ code: isLeft ? 1 : 0, started: !isLeft });
    expect(cluster.calls.filter((call) => call.startsWith("DELETE"))).toHaveLength(isLeft ? 0 : 1);
    const calls = isLeft ? [] : pulumi.calls.filter((call) => call.startsWith("cancel"));
    expect(calls).toEqual(isLeft ? [] : [expect.stringContaining("--stack acme-prod")]);
  });

  test("without a fleet file or a backend, a lock stays and the others continue", async () => {
    const locked = stack("acme-prod", "Stalled", "UpdateFailed", lockOf("acme-prod-workspace-0"));
    const free = stack("acme-test", "Stalled", "UpdateFailed");
    const { code, stdout } = await run("resume", "--yes", "--json");
    expect([locked, free].map(started)).toEqual([false, true]);
    expect(JSON.parse(stdout)).toMatchObject([
      { stack: "acme-prod", left: expect.stringContaining("PULUMI_BACKEND_URL") as string },
      { done: ["started again"] },
    ]);
    expect(code).toBe(1);
  });
});
