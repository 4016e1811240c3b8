import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Command } from "commander";
import { parse } from "yaml";
import { define } from "../../fleet/command";
import { readFleet } from "../../fleet/file";
import { FleetFile } from "../../fleet/schema";
import { temporary, writeIn } from "../fleet/made";
import { StubPulumi } from "../fleet/stub-pulumi";
import { built } from "../service/child";
import { pages, root } from "./markdown";

const pageOf = (name: string) => pages.find(({ file }) => file === name)!;
const [page, reference] = [pageOf("docs/fleet.md"), pageOf("docs/reference/fleet.md")];
const [network, ...fleets] = page.blocks.filter(({ language }) => language === "yaml");

const folder = temporary();
writeIn(folder, "networks/trade.yaml", network!.text);

test.each(fleets)("the fleet of $where is valid", ({ text }) => {
  for (const pack of ["node_modules/pulumi-consortium/policy-pack", "policies"])
    writeIn(folder, `${pack}/PulumiPolicy.yaml`, "runtime: nodejs\n");
  writeIn(folder, "rules.json", "{}");
  // Some only show additions to the first one.
  const file = writeIn(folder, "fleet.yaml", text.includes("organizations:") ? text : fleets[0]!.text + text);
  expect(readFleet(file).stacks.length).toBeGreaterThan(0);
});

test("commands, options and keys exist", () => {
  const program = new Command();
  define(program);
  const named = (pattern: RegExp) =>
    [...new Set([...reference.text.matchAll(pattern)].map(([, name]) => name!))].sort();
  expect(named(/^- `fleet (\w+)/gm)).toEqual(
    program.commands
      .map((command) => command.name())
      .filter((name) => name !== "doctor")
      .sort(),
  ); // `consortium doctor <file>`
  const options = program.commands.flatMap((command) => command.options.map(({ long }) => long!));
  expect(named(/^- `(--[\w-]+)/gm)).toEqual([...new Set(options)].sort());
  expect(
    Object.keys(FleetFile.shape)
      .filter((key) => key !== "concurrency") // an earlier name
      .filter((key) => !reference.text.includes(`\n- \`${key}\`:`)),
  ).toEqual([]);
});

/** The scripts of the pipelines, with a stub of Pulumi: a push changes one of two network files. */
describe("the pipelines of the example run", () => {
  interface Step {
    id?: string;
    run?: string;
  }
  type Github = { jobs: Record<string, { steps: Step[] }> };
  type Gitlab = Record<string, { script: string[] }>;
  const pipeline = <T>(name: string) => parse(readFileSync(join(root, "examples/fleet", name), "utf8")) as T;
  const [github, plan, jobs] = [
    pipeline<Github>(".github/workflows/fleet.yml"),
    pipeline<Gitlab>(".gitlab-ci.yml"),
    pipeline<Gitlab>("ci/fleet.yml"),
  ];
  const stepsOf = (job: string) => github.jobs[job]!.steps.flatMap(({ run }) => run ?? []);

  const checkout = temporary();
  let env: NodeJS.ProcessEnv;
  const git = (...args: string[]) => execFileSync("git", args, { cwd: checkout, encoding: "utf8" }).trim();
  const sh = (lines: string[], more: NodeJS.ProcessEnv = {}) =>
    spawnSync("bash", ["-e", "-c", lines.filter((line) => !line.startsWith("npm ci")).join("\n")], {
      cwd: checkout,
      env: { ...env, ...more },
      encoding: "utf8",
    });

  beforeAll(() => {
    built();
    const pulumi = new StubPulumi(join(checkout, ".stub"));
    writeIn(checkout, ".gitignore", ".*\nstate\n");
    const own = `"${process.execPath}" "${join(root, "dist/cli/consortium.js")}"`;
    // It must not fetch another package of the name.
    const npx = `#!/bin/sh\n[ "$1 $2" = "--no-install consortium" ] || exit 9\nshift 2\nexec ${own} "$@"\n`;
    writeFileSync(join(checkout, ".stub/bin/npx"), npx, { mode: 0o755 });
    for (const name of ["trade", "spice"]) writeIn(checkout, `networks/${name}.yaml`, network!.text);
    writeIn(checkout, "fleet.yaml", fleets[0]!.text.replace("prod: networks/trade", "prod: networks/spice"));
    git("init", "--quiet");
    const commit = ["-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "--quiet", "--message", "c"];
    git("add", "--all");
    git(...commit);
    writeIn(checkout, "networks/trade.yaml", `${network!.text}# changed\n`);
    git("add", "--all");
    git(...commit);
    const SINCE = git("rev-parse", "HEAD~1");
    env = { ...pulumi.env, ACME_API_KEY: "key-a", GLOBEX_API_KEY: "key-g", SINCE, CI_COMMIT_BEFORE_SHA: SINCE };
  });

  /** The stacks that use the network file which changed. */
  const changed = 'tests="2" failures="0"';

  test("on GitHub", () => {
    const output = join(checkout, ".output");
    expect(sh(stepsOf("plan"), { GITHUB_OUTPUT: output, SINCE: "1".repeat(40) }).status).not.toBe(0);
    expect(sh(stepsOf("plan"), { GITHUB_OUTPUT: output })).toMatchObject({ status: 0 });
    const [, stages = ""] = /^stages=(.*)\n$/.exec(readFileSync(output, "utf8")) ?? [];
    const [first] = JSON.parse(stages) as { shard: string[] }[];
    for (const [index, SHARD] of first!.shard.entries()) {
      expect(sh(stepsOf("stage-1"), { SHARD, JOB: "stage-1" })).toMatchObject({ status: 0 });
      mkdirSync(join(checkout, `results/results-${index}`), { recursive: true });
      renameSync(join(checkout, "results.json"), join(checkout, `results/results-${index}/results.json`));
    }
    expect(sh(stepsOf("merge"))).toMatchObject({ status: 0 });
    expect(readFileSync(join(checkout, "fleet.xml"), "utf8")).toContain(changed);
    rmSync(join(checkout, "results"), { recursive: true });
  });

  test("on GitLab", () => {
    expect(sh(plan.plan!.script)).toMatchObject({ status: 0 });
    interface Made {
      extends: string;
      variables: Record<string, string>;
      parallel: { matrix: { SHARD: string[] }[] };
    }
    const made = parse(readFileSync(join(checkout, "fleet-matrix.yml"), "utf8")) as Record<string, Made>;
    expect(Object.keys(made)).toEqual(["stage-1"]);
    const { extends: base, variables, parallel } = made["stage-1"]!;
    for (const SHARD of parallel.matrix[0]!.SHARD)
      expect(sh(jobs[base]!.script, { ...variables, SHARD })).toMatchObject({ status: 0 });
    expect(sh(jobs.merge!.script)).toMatchObject({ status: 0 });
    expect(readFileSync(join(checkout, "fleet.xml"), "utf8")).toContain(changed);
  });
});
