import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { parse } from "yaml";
import { type Job, type Rights, type Runner, tokenWith } from "./forges";
import { goProgram } from "./go";
import { finished } from "./stack";

/*
 * Workflows of GitHub, run by act, without containers. Actions of the marketplace are those of the folder `actions` here. What GitHub does,
 * and act does not: it has environments, whose secrets only their jobs get; it gives each job a token of its own; it runs no two jobs of a
 * group at once, and knows `queue` of a group, which is taken out here (gitops/linters.test.ts asks GitHub's own schema for it).
 */

/** The runner, in the user's cache: the first time, it is built. */
const act = (): Promise<string> =>
  goProgram({ what: "act", name: "act", module: join(__dirname, "../gitops/act"), target: "github.com/nektos/act" });

/**
 * act does not wait for the output of a command that fails (`exec` of its host_environment.go), so a busy machine loses the last lines.
 * This shell keeps them beside the workspace of the job.
 */
const bash = `#!/bin/bash
set -o pipefail
/bin/bash "$@" 2>&1 | tee -a "$(readlink -f "$GITHUB_WORKSPACE").said"
`;

interface Workflow {
  permissions: Rights;
  jobs: Record<string, { environment?: string; permissions?: Rights; strategy?: object }>;
}
/** A line of act's log. */
interface Line {
  jobID?: string;
  matrix?: Record<string, string>;
  msg: string;
  raw_output?: boolean;
  jobResult?: string;
}
interface Event {
  /** GitHub's word for what started it: `pull_request`, `push`, `schedule` or `workflow_dispatch`. */
  name: string;
  payload?: object;
}

/**
 * Runs a workflow at a ref of the repository, as it is, with what became of each job: `staging`, or `plan (staging)` of a matrix.
 * @param file in .github/workflows
 */
export async function github(
  runner: Runner,
  file: string,
  ref: string,
  { name, payload = {} }: Event,
): Promise<Record<string, Job>> {
  const { forge, repository, stack } = runner;
  const folder = mkdtempSync(join(forge.folder, "workflow-"));
  const git = (...args: string[]) => execFileSync("git", ["-C", folder, ...args], { stdio: "pipe" });
  git("init", "--quiet");
  git("fetch", "--quiet", repository, ref);
  git("checkout", "--quiet", "FETCH_HEAD");
  const path = join(folder, ".github/workflows", file);
  const text = readFileSync(path, "utf8");
  writeFileSync(path, text.replace(/(, |\n +)queue: max\b/, ""));
  const { jobs, permissions } = parse(text) as Workflow;

  const all = Object.values(jobs);
  const settings = all.map(({ environment = "" }) => runner.settings(environment.replace(/\$\{\{.*\}\}/, "staging")));
  if (settings.some((one) => !isDeepStrictEqual(one, settings[0])))
    throw new Error(`act gives all jobs of ${file} the same secrets: their environments must have the same.`);
  const { vars, secrets } = settings[0]!;
  const rights = Object.assign({}, ...all.map((job) => job.permissions ?? permissions)) as Rights;
  const given = Object.entries({ GITHUB_TOKEN: tokenWith(rights), ...secrets });

  const action = join(folder, "gitops/action.yml");
  const used = [path, action].flatMap((one) => (existsSync(one) ? [readFileSync(one, "utf8")] : []));
  const actions = used.flatMap((one) => [...one.matchAll(/uses: (([\w-]+)\/([\w-]+)@[0-9a-f]{40})\b/g)]);
  const stubs = actions.map(([, pinned = "", , short = ""]) => {
    const own = join(__dirname, "actions", short);
    return ["--local-repository", `${pinned}=${existsSync(own) ? own : join(__dirname, "actions/nothing")}`];
  });

  const event = join(folder, ".git/event.json");
  writeFileSync(event, JSON.stringify(payload));
  const kept = join(folder, ".git/kept");
  mkdirSync(kept);
  const bin = join(folder, ".git/bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "bash"), bash, { mode: 0o755 });
  const here = { GITHUB_API_URL: forge.address, GITHUB_SERVER_URL: "https://forge", GITHUB_RUN_ID: String(Date.now()) };
  const args = [
    ...[name, "--workflows", path, "--eventpath", event, "--platform", "ubuntu-latest=-self-hosted"],
    ...["--json", "--verbose", "--no-skip-checkout", "--no-cache-server", "--pull=false"],
    ...["--action-cache-path", join(folder, ".git/act")],
    ...Object.entries({ ...here, GITHUB_REPOSITORY: "acme/network" }).flatMap(([key, value]) => [
      "--env",
      `${key}=${value}`,
    ]),
    ...Object.entries(vars).flatMap(([key, value]) => ["--var", `${key}=${value}`]),
    ...given.flatMap(([key, value]) => ["--secret", `${key}=${value}`]),
    ...(stack === undefined ? [] : ["--matrix", `stack:${stack}`]),
    ...stubs.flat(),
  ];
  const env = {
    ...runner.env,
    PATH: `${bin}${delimiter}${runner.env.PATH}`,
    ACT_DISABLE_VERSION_CHECK: "1",
    XDG_CONFIG_HOME: join(folder, ".git/config-of-act"),
    FORGE_KEPT: kept,
    FORGE_REF: ref,
    FORGE_REPOSITORY: repository,
    FORGE_UPLOADS: forge.uploads,
  };
  const { stdout, text: said } = await finished(
    spawn(await act(), args, { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] }),
  );
  const lines = stdout.split("\n").flatMap((line) => (line.startsWith("{") ? [JSON.parse(line) as Line] : []));
  const titled = lines.map((line) => ({ ...line, title: titleOf(line) }));
  const ends = titled.filter(({ jobResult }) => jobResult !== undefined);
  if (ends.length === 0) throw new Error(`No job of the workflow ran:\n${said}`);
  return Object.fromEntries(
    ends.map(({ title, jobResult }) => {
      const own = titled.filter((line) => line.title === title);
      const heard = own.flatMap(({ raw_output: isOutput, msg }) => (isOutput ? [msg] : [])).join("\n");
      const failure = own.map(({ msg }) => /^exit status (\d+)$/.exec(msg)?.[1]).find((code) => code !== undefined);
      const code = jobResult === "success" ? 0 : Number(failure ?? 1);
      const workspace = /^workspace: (.*)$/m.exec(heard)?.[1] ?? "";
      const isSkipped = jobResult === "skipped";
      const said = `${workspace}.said`; // none before the checkout
      const text = code !== 0 && existsSync(said) ? `${heard}\n${readFileSync(said, "utf8")}` : heard;
      return [title, { code: isSkipped ? null : code, stdout: text, text, skipped: isSkipped, folder: workspace }];
    }),
  );
}

const titleOf = ({ jobID = "", matrix }: Line): string =>
  Object.keys(matrix ?? {}).length > 0 ? `${jobID} (${Object.values(matrix!).join(", ")})` : jobID;
