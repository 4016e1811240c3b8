import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { pages } from "../docs/markdown";
import { action, folder, gitlab, stages, workflows } from "./files";

/* The table of docs/reference/pipelines.md for reviewers, from the workflow files. */

interface Job {
  environment?: string | { name: string };
  permissions?: Record<string, string>;
  needs?: unknown;
  steps: { run?: string; with?: Record<string, string>; env?: Record<string, string> }[];
}

const fleet = join(folder, "../fleet");
const ofFleet = parse(readFileSync(join(fleet, ".github/workflows/fleet.yml"), "utf8")) as {
  permissions: Record<string, string>;
  jobs: Record<string, Job>;
};

const code = (names: readonly string[]): string =>
  [...new Set(names)].map((one) => `\`${one}\``).join(", ") || "nothing";
const place = (environment: Job["environment"]): string => {
  const name = typeof environment === "object" ? environment.name : environment;
  return name === undefined ? "none" : `\`${name.replace(/\$\{\{ matrix\.stack \}\}|\$STACK/, "…")}\``;
};
const rightsOf = (rights: Record<string, string>): string =>
  code(Object.entries(rights).flatMap(([name, right]) => (name === "id-token" ? [] : `${name}: ${right}`)));
const secretsIn = (value: unknown): string[] =>
  [...JSON.stringify(value).matchAll(/secrets\.(\w+)/g)].map(([, name]) => name!);
/** The token of comments, which the job takes from its environment. */
const used = (job: string): string[] => (job === "comment" ? ["GITLAB_COMMENT_TOKEN"] : []);

/** A row of the table; `hasToken`: of the forge, for the role. */
const row = (
  job: string,
  environment: Job["environment"],
  secrets: string[],
  hasToken: boolean,
  rights = "job token",
) => [job, place(environment), code(secrets), hasToken ? "that of its environment" : "none", rights] as const;

const onGitHub = workflows.flatMap(({ workflow, jobs }) =>
  jobs.map((job) => {
    const rights = job.permissions ?? workflow.permissions;
    const hasToken = rights["id-token"] === "write";
    return row(`GitHub, \`${job.name}\``, job.environment, secretsIn(job), hasToken, rightsOf(rights));
  }),
);
const onGitLab = Object.entries(gitlab)
  .sort(([, one], [, other]) => stages.indexOf(one.stage!) - stages.indexOf(other.stage!))
  .map(([name, { environment, id_tokens: tokens }]) => {
    const own = environment?.name.replace("$STACK", name === "drift" ? "…" : name);
    return row(`GitLab, \`${name}\``, own, tokens ? ["CONSORTIUM_API_KEY"] : used(name), tokens !== undefined);
  });
const ofFleets = Object.entries(ofFleet.jobs).map(([name, job]) => {
  const rights = rightsOf(job.permissions ?? ofFleet.permissions);
  return row(`Fleet on GitHub, \`${name}\``, job.environment, secretsIn(job), false, rights);
});
const read = <T = Record<string, FleetJob>>(file: string) => parse(readFileSync(join(fleet, file), "utf8")) as T;
type FleetJob = Pick<Job, "environment"> & { script?: string[]; rules?: object[] };
const child = read("ci/fleet.yml");
const ofFleetsOnGitLab = Object.entries({
  plan: read(".gitlab-ci.yml").plan!,
  "stage-…": child[".fleet"]!,
  merge: child.merge!,
}).map(([name, { environment }]) =>
  // Variables of GitLab are an environment's: the file names none.
  row(`Fleet on GitLab, \`${name}\``, environment, environment ? secretsIn(ofFleet) : [], false),
);
const head = ["job", "environment", "secrets", "role for the state", "token of the job"];
const rows = [head, ...onGitHub, ...onGitLab, ...ofFleets, ...ofFleetsOnGitLab];

test("docs/reference/pipelines.md shows reviewers what each job can read", () => {
  const { text } = pages.find(({ file }) => file === "docs/reference/pipelines.md")!;
  const [, table = ""] = /<!-- readers: begin -->\n\n([^]*?)\n\n<!-- readers: end -->/.exec(text) ?? [];
  const cells = table.split("\n").map((line) => line.replaceAll(/^\| *| *\|$/g, "").split(/ *\| */));
  expect(cells.filter(([first]) => !/^-+$/.test(first!))).toEqual(rows);
});

test("no job that a branch decides about has an environment, a secret or a role, except the one that comments", () => {
  const open = [...onGitHub, ...onGitLab].filter(([job]) => /`(plan|preview|report|comment)`/.test(job));
  expect(open).toHaveLength(5);
  const having = open.filter((row) => row.slice(1, 4).join() !== "none,nothing,none");
  expect(having.map(([job]) => job)).toEqual(["GitLab, `comment`"]);
});

test("keys reach only the steps that run Pulumi", () => {
  for (const { steps } of Object.values(ofFleet.jobs))
    for (const step of steps) expect(secretsIn(step).length > 0).toBe(step.run?.includes("fleet up ") ?? false);
  for (const job of Object.values(ofFleet.jobs)) expect(secretsIn({ ...job, steps: [] })).toEqual([]);
  const keys = action.runs.steps.filter(({ env }) => env?.CONSORTIUM_API_KEY !== undefined);
  expect(keys.map((step) => step.if)).toEqual(["inputs.step == 'apply' || inputs.step == 'drift'"]);
  const installs = action.runs.steps.filter(({ run }) => run?.startsWith("npm ci"));
  expect(installs.map(({ run, env, ...step }) => [run, env, step.if])).toEqual([
    ["npm ci", undefined, "inputs.step != 'report'"],
    ["npm ci --ignore-scripts", undefined, "inputs.step == 'report'"],
  ]);
});

test("the fleet's pipeline for GitLab runs for pushes to the protected main branch; installing runs nothing where the keys are", () => {
  expect(read<{ workflow: object }>(".gitlab-ci.yml").workflow).toEqual({
    rules: [
      {
        if: '$CI_PIPELINE_SOURCE == "push" && $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH && $CI_COMMIT_REF_PROTECTED == "true"',
      },
    ],
  });
  expect(child[".fleet"]).toMatchObject({ environment: { name: "production" } });
  const jobs = Object.values({ ...read(".gitlab-ci.yml"), ...child }).filter(({ script }) => script);
  const installs = jobs.map((job) => [
    job.environment !== undefined,
    job.script!.find((one) => one.startsWith("npm ci")),
  ]);
  expect(installs).toEqual([
    [false, "npm ci"],
    [true, "npm ci --ignore-scripts"],
    [false, "npm ci"],
  ]);
});
