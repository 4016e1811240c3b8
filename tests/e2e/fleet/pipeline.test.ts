import { execFileSync } from "node:child_process";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import { exactly, FleetWorld, keys } from "../support/fleet";
import { Forge, type Job, type Runner } from "../support/forges";
import { github } from "../support/github";
import { gitlab } from "../support/gitlab";
import { root } from "../support/stack";

/*
 * The pipelines of examples/fleet as they are printed, on independent runners: a stage after the other, and a merged report. Each runner is
 * less than its forge in one point: gitlab-ci-local calls `run` passed where a job of the pipeline that it starts fails, and does not go on
 * to `merge`; act leaves `strategy.job-index` empty, so that a stage has only one shard here.
 */

interface Kind {
  /** @param since the commit that main was at */
  pipeline: (runner: Runner, since: string) => Promise<Record<string, Job>>;
  plan: string;
  stages: [string, string];
  merge: string;
  /** What becomes of `stages[0]`, where the canary fails, and of the others. */
  afterFailure: Record<string, object>;
}
const kinds: Record<string, Kind> = {
  GitLab: {
    pipeline: (runner, since) => gitlab(runner, "main", "push", { CI_COMMIT_BEFORE_SHA: since }),
    plan: "plan",
    stages: ["[run] -> stage-1: [1/1]", "[run] -> stage-2: [1/1]"],
    merge: "[run] -> merge",
    afterFailure: { "stage-1: [1/1]": { code: 1 } },
  },
  GitHub: {
    pipeline: (runner, since) => github(runner, "fleet.yml", "main", { name: "push", payload: { before: since } }),
    plan: "plan",
    stages: ["stage-1 (1/1)", "stage-2 (1/1)"],
    merge: "merge",
    afterFailure: { "stage-1 (1/1)": { code: 1 }, merge: { code: 1 } },
  },
};

describe.each(Object.entries(kinds))("the pipeline for %s", (_, { pipeline, plan, stages, merge, afterFailure }) => {
  let w: FleetWorld;
  let runner: Runner;
  const clone = (): string => join(w.folder, "clone");
  const git = (...args: string[]): string =>
    execFileSync("git", ["-C", clone(), ...args], { encoding: "utf8", stdio: "pipe" });
  const ran = async (since: string) => {
    const jobs = await pipeline(runner, since);
    return { jobs, codes: Object.fromEntries(Object.entries(jobs).map(([name, { code }]) => [name, code])) };
  };

  /** The canary, and the stack that waits for it. */
  function fleet(canary: string): void {
    const stack = (definition: string, dependsOn: string[]) => ({ prod: { definition, dependsOn } });
    const organizations = {
      acme: { apiKey: { env: "ACME_API_KEY" }, stacks: stack(canary, []) },
      globex: {
        apiKey: { command: ["cat", `${w.folder}/globex.key`] },
        stacks: stack("networks/trade.yaml", ["acme-prod"]),
      },
    };
    w.write("clone/fleet.yaml", stringify({ project: "fleet", backend: `file://${w.folder}/state`, organizations }));
  }

  function push(message: string): void {
    git("add", "--all");
    git("commit", "--quiet", "-m", message);
    git("push", "--quiet", "origin", "main");
  }

  beforeAll(async () => {
    w = await FleetWorld.create();
    const forge = await Forge.start();
    const { repository } = forge.repository(clone());
    cpSync(join(root, "examples/fleet"), clone(), { recursive: true });
    cpSync(join(w.folder, "networks"), join(clone(), "networks"), { recursive: true });
    // Replaces `npm ci` and `npx`, because npm is slow to start.
    const cli = join(root, "dist/cli/consortium.js");
    const bin = forge.programs({ npm: "true", npx: `shift 2; exec node "${cli}" "$@"` });
    const { PULUMI_CONFIG_PASSPHRASE } = w.env;
    const secrets = { ACME_API_KEY: keys.acme, PULUMI_CONFIG_PASSPHRASE };
    runner = {
      forge,
      repository,
      env: { ...w.env, ACME_API_KEY: undefined, PATH: `${bin}:${w.env.PATH}` },
      settings: () => ({ vars: {}, secrets }),
    };
  });

  test("runs the canary first, then the stack that depends on it, and merges one report", async () => {
    fleet("networks/trade.yaml");
    push("A fleet");
    const { jobs, codes } = await ran("0".repeat(40));
    expect(codes).toMatchObject(Object.fromEntries([plan, ...stages, merge].map((name) => [name, 0])));
    expect([await w.counts("acme"), await w.counts("globex")]).toEqual([exactly, exactly]);
    const made = w.service.calls.filter(({ method, route }) => method === "POST" && route === "/consortia");
    expect(made).toHaveLength(2);
    expect(jobs[merge]!.text).toContain("2 of 2 stacks ok; 10 created");
  });

  test("stops before the next stage if the canary fails", async () => {
    const since = git("rev-parse", "HEAD").trim();
    const environments = { e: { provider: "quorum", consensusType: "raft", nodes: { m: 2 } } };
    w.write("clone/networks/two.yaml", stringify({ name: "trade", members: ["m"], environments }));
    fleet("networks/two.yaml");
    push("A second node for the canary");
    w.service.faults.add({ kind: "status", status: 400, method: "POST", route: /nodes$/ });
    const { jobs } = await ran(since);
    expect(jobs).toMatchObject({ [plan]: { code: 0 }, ...afterFailure });
    expect(Object.keys(jobs).filter((name) => name.includes("stage-2") && !jobs[name]!.skipped)).toEqual([]);
    expect([await w.counts("acme"), await w.counts("globex")]).toEqual([exactly, exactly]);
  });
});
