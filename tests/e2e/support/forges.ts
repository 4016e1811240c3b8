import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import { type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "yaml";
import { finished, type Result, root } from "./stack";

/* As much of GitHub and GitLab as the pipelines of examples/gitops use: their API, and a runner for GitHub's files. */

export interface Written {
  id: number;
  number: number;
  title?: string;
  body: string;
  pull_request?: object;
}

interface Artifact {
  id: number;
  name: string;
  expired: boolean;
  created_at: string;
  workflow_run: { id: number; repository_id: number; head_repository_id: number };
  zip: Buffer;
}

export type Env = Record<string, string | undefined>;
type Rights = Record<string, string>;

/** What a token may do is in the token. */
export const tokenWith = (rights: Rights): string => Buffer.from(JSON.stringify(rights)).toString("base64url");
const rightsIn = (token: string): Rights => {
  try {
    return JSON.parse(Buffer.from(token, "base64url").toString()) as Rights;
  } catch {
    return {};
  }
};

const running: Forge[] = [];
afterAll(() => running.splice(0).forEach((forge) => forge.close()));

/** Comments, issues, artifacts and packages, over HTTP. It ends with the tests of the file. */
export class Forge {
  /** Comments and issues; a list for all. */
  readonly written: Written[];
  readonly artifacts: Artifact[] = [];
  readonly packages = new Map<string, Buffer>();
  readonly folder = mkdtempSync(join(tmpdir(), "consortium-forge-"));
  address = "";
  #server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const { status, body } = this.#answer(request, Buffer.concat(parts));
      response.statusCode = status;
      response.end(Buffer.isBuffer(body) ? body : JSON.stringify(body));
    });
  });

  private constructor(written: Written[]) {
    this.written = written;
  }

  static async start(written: Written[] = []): Promise<Forge> {
    const forge = new Forge(written);
    running.push(forge);
    await new Promise<void>((listening) => forge.#server.listen(0, "127.0.0.1", listening));
    forge.address = `http://127.0.0.1:${(forge.#server.address() as AddressInfo).port}`;
    return forge;
  }

  /** A bare repository, and where the team works: a clone of it, on main. */
  repository(clone = join(this.folder, "clone")): { repository: string; clone: string } {
    const repository = join(this.folder, "network.git");
    execFileSync("git", ["init", "--quiet", "--bare", repository]);
    execFileSync("git", ["clone", "--quiet", repository, clone], { stdio: "pipe" });
    const team = { "user.name": "team", "user.email": "team@example.com" };
    for (const setting of Object.entries(team)) execFileSync("git", ["-C", clone, "config", ...setting]);
    execFileSync("git", ["-C", clone, "checkout", "--quiet", "-b", "main"]);
    return { repository, clone };
  }

  /** A folder of programs that stand in for others of these names. @param programs scripts for a shell */
  programs(programs: Record<string, string>): string {
    const bin = join(this.folder, "bin");
    mkdirSync(bin);
    for (const [name, text] of Object.entries(programs))
      writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
    return bin;
  }

  close(): void {
    this.#server.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  #answer(request: IncomingMessage, content: Buffer): { status: number; body: unknown } {
    const { pathname, searchParams } = new URL(request.url!, this.address);
    const token = String(
      request.headers["private-token"] ?? request.headers["job-token"] ?? request.headers.authorization,
    );
    const rights = rightsIn(token.replace("Bearer ", ""));
    const may = (right: string, least = "read"): boolean => [least, "write"].includes(rights[right] ?? "none");
    const method = request.method!;
    const refused = { status: 403, body: {} };

    if (pathname.includes("/packages/generic/")) {
      if (!may("packages", method === "PUT" ? "write" : "read")) return refused;
      if (method === "PUT") this.packages.set(pathname, content);
      const kept = this.packages.get(pathname);
      return kept ? { status: 200, body: kept } : { status: 404, body: {} };
    }
    if (pathname.includes("/actions/artifacts")) {
      if (!may("actions")) return refused;
      const one = this.artifacts.find(({ id }) => pathname.endsWith(`/${id}/zip`));
      if (one) return { status: 200, body: one.zip };
      const artifacts = this.artifacts.filter(({ name }) => name === searchParams.get("name"));
      return { status: 200, body: { artifacts: artifacts.map(({ zip: _, ...rest }) => rest) } };
    }
    if (!may(/comments|notes/.test(pathname) ? "pull-requests" : "issues", "write")) return refused;
    const fields = JSON.parse(content.toString() || "{}") as Written;
    const id = this.written.length + 1;
    if (method === "POST") this.written.push({ ...fields, id, number: id });
    else if (method !== "GET") Object.assign(this.written[Number(pathname.split("/").at(-1)) - 1]!, fields);
    const [page, size] = [Number(searchParams.get("page") ?? 1), Number(searchParams.get("per_page") ?? 20)];
    return { status: 200, body: method === "GET" ? this.written.slice((page - 1) * size, page * size) : {} };
  }
}

/** Where pipelines run: a bare repository, and the programs that a runner has. */
export interface Runner {
  forge: Forge;
  /** The bare repository. */
  repository: string;
  env: Env;
  /** The stacks of a matrix that it takes on (default: all). */
  stacks?: string[];
  /** By environment, what a forge gives its jobs. */
  settings: (environment: string) => { vars: Env; secrets: Env };
}

export interface Job extends Omit<Result, "ms"> {
  /** Whether a job that it needs failed, or its condition does not hold. */
  skipped: boolean;
  folder: string;
}

const shell = async (script: string, cwd: string, env: Env): Promise<Result> =>
  finished(spawn("bash", ["-e", "-c", script], { cwd, env, stdio: ["ignore", "pipe", "pipe"] }));

function checkout({ repository, forge }: Runner, ref: string): string {
  const folder = mkdtempSync(join(forge.folder, "job-"));
  const git = (...args: string[]) => execFileSync("git", ["-C", folder, ...args], { stdio: "pipe" });
  git("init", "--quiet");
  git("fetch", "--quiet", "--depth=1", repository, ref);
  git("checkout", "--quiet", "FETCH_HEAD");
  return folder;
}

interface Step {
  id?: string;
  if?: string;
  uses?: string;
  with?: Record<string, string>;
  run?: string;
  shell?: string;
  "working-directory"?: string;
  env?: Record<string, unknown>;
}
interface CompositeAction {
  inputs: Record<string, { default?: unknown }>;
  runs: { using: string; steps: Step[] };
}
interface ActionsJob {
  if?: string;
  needs?: string;
  environment?: string;
  permissions?: Rights;
  strategy?: { matrix: { stack: string[] } };
  steps: Step[];
}
type Context = Record<string, unknown>;

const memberOf = (path: string, from: unknown): unknown =>
  path.split(".").reduce<unknown>((at, key) => (at as Context | null | undefined)?.[key], from);

/** `a.b.c` in a context, `toJSON(a)`, `fromJSON(a).b`, or the first of several that is not empty; what is not there is empty. */
function valueOf(expression: string, context: Context): string {
  const [first = "", ...others] = expression.split(" || ");
  const [, call, given = "", member = ""] = /^(\w+)\(([\w.-]+)\)(?:\.(\w+))?$/.exec(first) ?? [];
  let value = memberOf(first, context);
  if (call === "toJSON") value = JSON.stringify(memberOf(given, context) ?? {});
  else if (call === "fromJSON") value = memberOf(member, JSON.parse(valueOf(given, context)));
  else if (call !== undefined) throw new Error(`What does ${first} mean?`);
  const text = typeof value === "string" || typeof value === "number" ? String(value) : "";
  return text === "" && others.length > 0 ? valueOf(others.join(" || "), context) : text;
}
const filled = (text: unknown, context: Context): string =>
  String(text).replaceAll(/\$\{\{ *(.*?) *\}\}/g, (_, path: string) => valueOf(path, context));
const allFilled = (all: Record<string, unknown> | undefined, context: Context): Env =>
  Object.fromEntries(Object.entries(all ?? {}).map(([key, value]) => [key, filled(value, context)]));

/** Conditions are terms with `&&`; each compares a path with a path or a text, or is a value in brackets. */
function holds(condition: string | undefined, context: Context, soFar: boolean): boolean {
  const terms = (condition ?? "").split("&&").map((term) => term.trim());
  const isTrue = (term: string): boolean => {
    const [, value] = /^\((.*)\)$/.exec(term) ?? [];
    if (value !== undefined) return valueOf(value, context) !== "";
    const [, left = "", operator, right = ""] = /^(\S+) (==|!=) (\S+)$/.exec(term) ?? [];
    if (operator === undefined) throw new Error(`What does ${term} mean?`);
    const other = right.startsWith("'") ? right.slice(1, -1) : valueOf(right, context);
    return (valueOf(left, context) === other) === (operator === "==");
  };
  return (soFar || terms.includes("always()")) && terms.every((term) => /^(always\(\))?$/.test(term) || isTrue(term));
}

/** Runs a workflow of GitHub Actions at a ref: `staging`, or `plan (staging)` of a matrix, with what became of each job. */
export async function actions(
  runner: Runner,
  file: string,
  ref: string,
  event: Context = {},
): Promise<Record<string, Job>> {
  const folder = checkout(runner, ref);
  const text = readFileSync(join(folder, ".github/workflows", file), "utf8");
  const workflow = parse(text) as { permissions: Rights; jobs: Record<string, ActionsJob> };
  const run = { id: Date.now(), repository_id: 1, head_repository_id: 1 };
  const done: Record<string, Job> = {};
  const results: Record<string, { result: string }> = {};
  for (const [name, job] of Object.entries(workflow.jobs)) {
    const needed = job.needs === undefined || results[job.needs]!.result === "success";
    const github = { repository: "acme/network", server_url: "https://forge", run_id: String(run.id), ...event };
    const begun = holds(job.if, { github, needs: results }, needed);
    const stacks = job.strategy?.matrix.stack.filter((stack) => runner.stacks?.includes(stack) ?? true);
    const runs = (stacks ?? [undefined]).map(async (stack) => {
      const permissions = job.permissions ?? workflow.permissions;
      const matrix = { stack };
      const { vars, secrets } = runner.settings(filled(job.environment ?? "", { matrix }));
      const context = { github: { ...github, token: tokenWith(permissions), job: name }, matrix, vars, secrets };
      const ended = begun ? await actionsJob(runner, ref, job, { context, permissions, run }) : undefined;
      done[stack === undefined ? name : `${name} (${stack})`] = ended ?? { ...skippedJob };
    });
    await Promise.all(runs);
    const ends = Object.entries(done).filter(([key]) => key === name || key.startsWith(`${name} (`));
    const result = begun ? (ends.every(([, { code }]) => code === 0) ? "success" : "failure") : "skipped";
    results[name] = { result };
  }
  return done;
}

const skippedJob: Job = { code: null, stdout: "", text: "", skipped: true, folder: "" };

interface Given {
  ref: string;
  context: Context;
  permissions: Rights;
  run: Artifact["workflow_run"];
  /** The folder of the action whose steps these are. */
  action?: string;
}

async function actionsJob(runner: Runner, ref: string, job: ActionsJob, given: Omit<Given, "ref">): Promise<Job> {
  const all: Job = { code: 0, stdout: "", text: "", skipped: false, folder: "" };
  await actionsSteps(runner, job.steps, { ...given, ref }, all);
  return all;
}

/** Steps of a job, or of an action in it, with what became of them in `all`; those of an action do not see the outputs of others. */
async function actionsSteps(runner: Runner, list: Step[], given: Given, all: Job): Promise<void> {
  const { forge } = runner;
  const { permissions, run } = given;
  const output = join(mkdtempSync(join(forge.folder, "output-")), "output");
  const github = { GITHUB_API_URL: forge.address, GITHUB_REPOSITORY: "acme/network", GITHUB_OUTPUT: output };
  const steps: Record<string, { outputs: Env }> = {};
  const context = { ...given.context, steps };
  for (const step of list) {
    if (!holds(step.if, context, all.code === 0)) continue;
    const options = allFilled(step.with, context) as Record<string, string>;
    const action = step.uses?.split("@")[0];
    if (action === "actions/checkout") all.folder = checkout(runner, given.ref);
    else if (action?.endsWith("/gitops")) await composite(runner, action, options, { ...given, context }, all);
    else if (action === "actions/upload-artifact") {
      const zip = join(forge.folder, `${forge.artifacts.length}.zip`);
      const from = join(all.folder, options.path!);
      if (!existsSync(from)) continue;
      execFileSync("zip", ["-q", "-r", zip, "."], { cwd: from });
      const [id, created_at] = [forge.artifacts.length + 1, new Date().toISOString()];
      const made = { id, name: options.name!, expired: false, created_at, workflow_run: run };
      forge.artifacts.push({ ...made, zip: readFileSync(zip) });
    } else if (action === "actions/download-artifact") {
      const prefix = options.pattern!.replace(/\*$/, "");
      for (const { zip } of forge.artifacts.filter((one) => one.workflow_run === run && one.name.startsWith(prefix))) {
        writeFileSync(`${output}.zip`, zip);
        execFileSync("unzip", ["-q", "-o", `${output}.zip`, "-d", join(all.folder, options.path!)]);
      }
    } else if (action === "aws-actions/configure-aws-credentials" && permissions["id-token"] !== "write") {
      throw new Error("GitHub gives this job no token for the role.");
    } else if (step.run !== undefined) {
      writeFileSync(output, "");
      const own = { ...github, GITHUB_ACTION_PATH: given.action };
      const env = { ...runner.env, ...own, ...allFilled(step.env, context) };
      const folder = join(all.folder, filled(step["working-directory"] ?? ".", context));
      const { code, stdout, text } = await shell(filled(step.run, context), folder, env);
      Object.assign(all, { code: all.code || code, stdout: all.stdout + stdout, text: all.text + text });
      const outputs = readFileSync(output, "utf8").matchAll(/^(\w+)=(.*)$/gm);
      const named = [...outputs].map(([, key = "", value = ""]) => [key, value] as const);
      if (step.id !== undefined) steps[step.id] = { outputs: Object.fromEntries(named) };
    }
  }
}

/** The steps of an action, one of the checkout (`./…`) or this repository's: they see inputs, and no variables or secrets. */
async function composite(
  runner: Runner,
  name: string,
  options: Record<string, string>,
  given: Given,
  all: Job,
): Promise<void> {
  const action = name.startsWith("./") ? join(all.folder, name) : join(root, "gitops");
  const { inputs: known, runs } = parse(readFileSync(join(action, "action.yml"), "utf8")) as CompositeAction;
  if (runs.using !== "composite") throw new Error(`What is ${runs.using}?`);
  const { github, matrix } = given.context;
  const seen = { github, matrix };
  const defaults = Object.entries(known).map(([key, { default: value }]) => [key, filled(value ?? "", seen)]);
  const inputs = { ...Object.fromEntries(defaults), ...options } as Record<string, string>;
  await actionsSteps(runner, runs.steps, { ...given, action, context: { ...seen, inputs } }, all);
}
