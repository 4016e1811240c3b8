import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse, stringify } from "yaml";
import { fillCacheFolder } from "../../../tools/lib/cache.mjs";
import { nodeOf } from "../../../tools/lib/nodes.mjs";
import { finished, succeed } from "../../../tools/lib/processes.mjs";
import { cacheRoot } from "../../../tools/lib/pulumi-cli.mjs";
import { programOf } from "./backends/programs";
import { type Job, type Runner, tokenWith } from "./forges";
import { root } from "./root";

/* Pipelines of GitLab: their files with what they include, and gitlab-ci-local to run them. */

const version = "4.75.1";

interface Template {
  spec: { inputs: Record<string, { default?: unknown; regex?: string }> };
}
interface Include {
  local?: string;
  remote?: string;
  inputs: Record<string, unknown>;
}

/** A template with its inputs in their places, as text: lists as JSON. */
export function interpolated(template: string, given: Record<string, unknown>): string {
  const [head = "", body = ""] = template.split(/^---$/m);
  const known = (parse(head) as Template).spec.inputs;
  const stray = Object.keys(given).filter((name) => !(name in known));
  const missing = Object.keys(known).filter((name) => known[name]!.default === undefined && !(name in given));
  if (stray.length + missing.length > 0) throw new Error(`Unknown or missing inputs: ${[...stray, ...missing].join()}`);
  return body.replaceAll(/\$\[\[ inputs\.(\w+) \]\]/g, (_, name: string) => {
    const value = given[name] ?? known[name]!.default;
    if (!new RegExp(known[name]!.regex ?? "").test(String(value)))
      throw new Error(`${name} may not be ${String(value)}`);
    return typeof value === "string" ? value : JSON.stringify(value);
  });
}

/** .gitlab-ci.yml of a folder, with what it includes: what it says itself comes first. Paths are those of the repository's root; a remote template is this repository's. */
export function included(folder: string, repository = folder): Record<string, unknown> {
  const { include = [], ...own } = parse(readFileSync(join(folder, ".gitlab-ci.yml"), "utf8")) as {
    include?: Include[];
  } & Record<string, unknown>;
  const templates = include.map(({ local, inputs }) => {
    const file = local === undefined ? join(root, "gitops/gitlab.yml") : join(repository, local);
    return parse(interpolated(readFileSync(file, "utf8"), inputs)) as Record<string, unknown>;
  });
  return Object.assign({}, ...templates, own) as Record<string, unknown>;
}

/** gitlab-ci-local in the user's cache: it needs a newer Node.js than this may be, so `npm ci` has it not. */
async function gitlabCiLocal(): Promise<string[]> {
  const home = join(cacheRoot(), `gitlab-ci-local-${version}`);
  const program = join(home, "node_modules/gitlab-ci-local/dist/index.js");
  const what = `gitlab-ci-local ${version}`;
  const fill = async (draft: string): Promise<void> => {
    const args = ["install", "--prefix", draft, "--no-audit", "--force", "--ignore-scripts"];
    await succeed("npm", [...args, `gitlab-ci-local@${version}`], { cwd: draft });
  };
  await fillCacheFolder(home, { what, isWhole: () => existsSync(program), fill });
  await programOf("rsync", "rsync");
  return [await nodeOf("24"), program];
}

/**
 * Runs a pipeline of GitLab at a ref of the repository, from .gitlab-ci.yml as it is, with what became of each job: `staging`, or
 * `preview: [staging]` of a matrix, or `[run] -> merge` of the pipeline that `run` starts. gitlab-ci-local is the runner, without containers. It signs no tokens for jobs (`id_tokens`), and their
 * folder has no `.git`: here, the file of the token is elsewhere.
 * @param source GitLab's word for what started it: `merge_request_event`, `push`, `schedule` or `web`
 */
export async function gitlab(
  runner: Runner,
  ref: string,
  source: string,
  given: Record<string, string> = {},
): Promise<Record<string, Job>> {
  const { forge } = runner;
  const [node, program] = await gitlabCiLocal();
  const folder = mkdtempSync(join(forge.folder, "pipeline-"));
  const home = mkdtempSync(join(forge.folder, "home-"));
  const git = (...args: string[]) => execFileSync("git", ["-C", folder, ...args], { stdio: "pipe" });
  git("clone", "--quiet", runner.repository, ".");
  git("checkout", "--quiet", ref);
  git("remote", "set-url", "origin", "git@forge.example:acme/network.git");
  const stacks = ["staging", "production"].flatMap((stack) => [stack, `drift-${stack}`]);
  // A pipeline that a job starts gets these, and not those of the command line.
  const scoped: Record<string, { type: "variable"; values: Record<string, string> }> = Object.fromEntries(
    Object.entries(given).map(([key, value]) => [key, { type: "variable", values: { "*": value } }]),
  );
  for (const environment of ["*", ...stacks]) {
    const { vars, secrets } = runner.settings(environment.replace("*", ""));
    for (const [key, value = ""] of Object.entries({ ...vars, ...secrets }))
      (scoped[key] ??= { type: "variable", values: {} }).values[environment] = value;
  }
  mkdirSync(join(home, ".gitlab-ci-local"));
  writeFileSync(join(home, ".gitlab-ci-local/variables.yml"), stringify({ global: scoped }));
  const variables: Record<string, string> = {
    AWS_WEB_IDENTITY_TOKEN_FILE: join(home, "state-token"),
    CI_API_V4_URL: forge.address,
    CI_COMMIT_REF_PROTECTED: String(ref === "main"),
    CI_JOB_TOKEN: tokenWith({ packages: "write" }),
    CI_JOB_URL: "https://forge/jobs/1",
    CI_MERGE_REQUEST_IID: "3",
    CI_PIPELINE_SOURCE: source,
    CI_PROJECT_ID: "7",
    ...given,
  };
  const args = ["--force-shell-executor", "--shell-isolation", "--no-artifacts-to-source", "--no-color"];
  const all = Object.entries(variables).flatMap(([key, value]) => ["--variable", `${key}=${value}`]);
  const env = { ...runner.env, GCL_IGNORE_PREDEFINED_VARS: Object.keys(variables).join() };
  const child = spawn(node!, [program!, ...args, "--home", home, ...all], {
    cwd: folder,
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const { text } = await finished(child);
  const jobs: Record<string, Job> = {};
  for (const [, end, name = ""] of text.matchAll(/^ (PASS|FAIL) {2}(\S.*?) *$/gm)) {
    const said = text.split("\n").filter((line) => line.trimStart().startsWith(`${name} `));
    const code = end === "PASS" ? 0 : Number(/ FAIL (\d+)/.exec(said.join("\n"))?.[1] ?? 1);
    const built = join(folder, ".gitlab-ci-local/builds", name);
    jobs[name] = { code, stdout: "", text: said.join("\n"), skipped: false, folder: built };
  }
  if (Object.keys(jobs).length === 0) throw new Error(`No job of the pipeline ran:\n${text}`);
  return jobs;
}
