import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { included } from "../e2e/support/gitlab";

/* The files of examples/gitops and gitops, parsed. */

export const folder = join(__dirname, "../../examples/gitops");
export const text = (file: string): string => readFileSync(join(folder, file), "utf8");
export const filesIn = (path: string): string[] => readdirSync(join(folder, path)).map((name) => `${path}/${name}`);
/** The action, the template and the scripts that the workflows use. */
export const shared = join(__dirname, "../../gitops");
export const scripts = readdirSync(shared).filter((name) => /\.(sh|mjs)$/.test(name));
export const sharedText = (file: string): string => readFileSync(join(shared, file), "utf8");
export const found = (from: string, pattern: RegExp): string[] =>
  [...from.matchAll(pattern)].map(([, name = ""]) => name);

interface Concurrency {
  group: string;
  "cancel-in-progress": boolean;
  queue?: "max" | "single";
}
interface Step {
  id?: string;
  uses?: string;
  run?: string;
  if?: string;
  with?: Record<string, unknown>;
  env?: Record<string, string>;
}
interface Job {
  steps: Step[];
  needs?: string | string[];
  environment?: string;
  permissions?: Record<string, string>;
  concurrency?: Concurrency;
  strategy?: object;
  "timeout-minutes"?: number;
}
interface Workflow {
  on: object;
  env?: Record<string, string>;
  permissions: Record<string, string>;
  concurrency?: Concurrency;
  jobs: Record<string, Job>;
}

export const workflows = filesIn(".github/workflows").map((file) => {
  const workflow = parse(text(file)) as Workflow;
  const jobs = Object.entries(workflow.jobs).map(([name, job]) => ({ ...job, name }));
  return { file, workflow, jobs, steps: jobs.flatMap(({ steps }) => steps) };
});
export const workflowOf = (name: string): Workflow =>
  workflows.find(({ file }) => file.endsWith(`/${name}.yml`))!.workflow;

interface Action {
  inputs: Record<string, { description: string; default?: string }>;
  runs: { steps: Step[] };
}
export const action = parse(sharedText("action.yml")) as Action;

interface GitlabJob {
  extends?: string;
  stage?: string;
  needs?: string[];
  before_script?: string[];
  script?: string[];
  id_tokens?: object;
  variables?: { STACK?: string };
  environment?: { name: string };
  resource_group?: string;
  [key: string]: unknown;
}
export const { stages, ...gitlabRest } = included(folder, join(folder, "../..")) as { stages: string[] } & Record<
  string,
  GitlabJob
>;
const extended = (job: GitlabJob): GitlabJob =>
  job.extends === undefined ? job : { ...extended(gitlabRest[job.extends]!), ...job };
/** Jobs, merged with those that they extend. A name with a leading dot is not a job. */
export const gitlab: Record<string, GitlabJob> = Object.fromEntries(
  Object.entries(gitlabRest)
    .map(([name, job]) => [name, extended(job)] as const)
    .filter(([name, job]) => job.script !== undefined && !name.startsWith(".")),
);
