import { execFileSync } from "node:child_process";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import { exactly, FleetWorld, keys } from "../support/fleet";
import { Forge, type Job, type Runner } from "../support/forges";
import { gitlab } from "../support/gitlab";
import { root } from "../support/stack";

/*
 * The pipeline of examples/fleet for GitLab as it is printed, on an independent runner: a stage after the other, and a merged report. The
 * runner is less than GitLab where a job of the pipeline that `run` starts fails: it calls `run` passed, and does not go on to `merge`.
 */

let w: FleetWorld;
let runner: Runner;
const clone = (): string => join(w.folder, "clone");
const git = (...args: string[]): string =>
  execFileSync("git", ["-C", clone(), ...args], { encoding: "utf8", stdio: "pipe" });

/** The canary, and the stack that waits for it. */
function fleet(canary: string): void {
  const stack = (definition: string, dependsOn: string[]) => ({ prod: { definition, dependsOn } });
  const organizations = {
    acme: { apiKey: { env: "ACME_API_KEY" }, stacks: stack(canary, []) },
    globex: { apiKey: { env: "GLOBEX_API_KEY" }, stacks: stack("networks/trade.yaml", ["acme-prod"]) },
  };
  w.write("clone/fleet.yaml", stringify({ project: "fleet", backend: `file://${w.folder}/state`, organizations }));
}

function push(message: string): void {
  git("add", "--all");
  git("commit", "--quiet", "-m", message);
  git("push", "--quiet", "origin", "main");
}

const pipeline = (since: string): Promise<Record<string, Job>> =>
  gitlab(runner, "main", "push", { CI_COMMIT_BEFORE_SHA: since });

beforeAll(async () => {
  w = await FleetWorld.create();
  const forge = await Forge.start();
  const { repository } = forge.repository(clone());
  cpSync(join(root, "examples/fleet"), clone(), { recursive: true });
  cpSync(join(w.folder, "networks"), join(clone(), "networks"), { recursive: true });
  // What `npm ci` and `npx` do, without npm, which takes long to start.
  const cli = join(root, "dist/cli/consortium.js");
  const bin = forge.programs({ npm: "true", npx: `shift 2; exec node "${cli}" "$@"` });
  runner = {
    forge,
    repository,
    env: { ...w.env, ACME_API_KEY: undefined, PATH: `${bin}:${w.env.PATH}` },
    settings: () => ({ vars: {}, secrets: { ACME_API_KEY: keys.acme, GLOBEX_API_KEY: keys.globex } }),
  };
});

test("a fleet in two stages: the canary first, then the stack that depends on it, and one report", async () => {
  fleet("networks/trade.yaml");
  push("A fleet");
  const jobs = await pipeline("0".repeat(40));
  const ran = ["[run] -> stage-1: [1/1]", "[run] -> stage-2: [1/1]", "[run] -> merge", "plan", "run"];
  expect(jobs).toMatchObject(Object.fromEntries(ran.map((name) => [name, { code: 0 }])));
  expect([await w.counts("acme"), await w.counts("globex")]).toEqual([exactly, exactly]);
  const made = w.service.calls.filter(({ method, route }) => method === "POST" && route === "/consortia");
  expect(made).toHaveLength(2);
  expect(jobs["[run] -> merge"]!.text).toContain("2 of 2 stacks ok; 10 created");
});

test("a canary that fails stops the next stage", async () => {
  const since = git("rev-parse", "HEAD").trim();
  const environments = { e: { provider: "quorum", consensusType: "raft", nodes: { m: 2 } } };
  w.write("clone/networks/two.yaml", stringify({ name: "trade", members: ["m"], environments }));
  fleet("networks/two.yaml");
  push("A second node for the canary");
  w.service.faults.add({ kind: "status", status: 400, method: "POST", route: /nodes$/ });
  const jobs = await pipeline(since);
  expect(jobs).toMatchObject({ plan: { code: 0 }, "stage-1: [1/1]": { code: 1 } });
  expect(Object.keys(jobs).filter((name) => name.includes("stage-2"))).toEqual([]);
  expect([await w.counts("acme"), await w.counts("globex")]).toEqual([exactly, exactly]);
});
