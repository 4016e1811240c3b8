#!/usr/bin/env node
// forge.mjs save STACK: keeps plans/STACK.json and .plan for apply.sh, by the commit's content. GitLab only: on GitHub, the action does it.
// forge.mjs plan STACK: fetches the plan of a pull or merge request with the same content as this commit, if there is one, into approved/.
// forge.mjs comment STACK…: writes report.md as a comment on the pull or merge request.
// forge.mjs issue STACK: writes it into an issue about the drift of STACK. GitHub only.
// The last two replace what they wrote before: they find it by a mark, and touch nothing else.
// GITHUB_TOKEN: the job's token. PULL_REQUEST: its number. GITLAB_COMMENT_TOKEN: for comment, a project access token with the scope api.
// The other variables are GitHub's and GitLab's own.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const { env } = process;
const [command, ...stacks] = process.argv.slice(2);
const project = /^name:\s*(\S+)/m.exec(readFileSync("Pulumi.yaml", "utf8"))?.[1];
const mark = `<!-- consortium ${command}: ${stacks.map((stack) => `${project}/${stack}`).join(" ")} -->`;
const body = () => `${mark}\n\n${readFileSync("report.md", "utf8")}`;
/** A hash of the folder's content: the request's last commit and main after the merge have the same one. */
const content = () => execFileSync("git", ["rev-parse", "HEAD:./"], { encoding: "utf8" }).trim();
const pageSize = 100;

const onGitHub = {
  request: "pull",
  api: `${env.GITHUB_API_URL}/repos/${env.GITHUB_REPOSITORY}`,
  headers: { authorization: `Bearer ${env.GITHUB_TOKEN}`, accept: "application/vnd.github+json" },
  comments: `/issues/${env.PULL_REQUEST}/comments`,
  comment: "/issues/comments",
  change: "PATCH",

  /** The newest plan for exactly these files. Plans from forks do not count: anybody can make them. */
  async plan(stack) {
    const { artifacts } = await (
      await call("GET", `/actions/artifacts?per_page=${pageSize}&name=plan-${stack}-${content()}`)
    ).json();
    const [newest] = artifacts
      .filter(({ expired, workflow_run: run }) => !expired && run && run.head_repository_id === run.repository_id)
      .sort((a, b) => Date.parse(b.created_at) - Date.parse(a.created_at));
    if (newest === undefined) return false;
    const folder = mkdtempSync(join(tmpdir(), "plan-"));
    const file = join(folder, "plan.zip");
    const zip = await call("GET", `/actions/artifacts/${newest.id}/zip`);
    writeFileSync(file, new Uint8Array(await zip.arrayBuffer()));
    execFileSync("unzip", ["-q", "-o", file, "-d", "approved"]);
    rmSync(folder, { recursive: true });
    return true;
  },
};

const notes = `/merge_requests/${env.CI_MERGE_REQUEST_IID}/notes`;
const onGitLab = {
  request: "merge",
  api: `${env.CI_API_V4_URL}/projects/${env.CI_PROJECT_ID}`,
  headers: command === "comment" ? { "private-token": env.GITLAB_COMMENT_TOKEN } : { "job-token": env.CI_JOB_TOKEN },
  comments: notes,
  comment: notes,
  change: "PUT",

  /** In the package registry. */
  kept: (stack) =>
    [`${stack}.json`, `${stack}.plan`].map((file) => [file, `/packages/generic/plan-${stack}/${content()}/${file}`]),
  async save(stack) {
    for (const [file, place] of this.kept(stack)) await call("PUT", place, readFileSync(join("plans", file)));
  },
  async plan(stack) {
    const answers = await Promise.all(this.kept(stack).map(([, place]) => call("GET", place, undefined, 404)));
    if (answers.some(({ ok }) => !ok)) return false;
    mkdirSync("approved");
    for (const [at, [file]] of this.kept(stack).entries())
      writeFileSync(join("approved", file), new Uint8Array(await answers[at].arrayBuffer()));
    return true;
  },
};

const forge = env.GITLAB_CI ? onGitLab : onGitHub;

/** @param allowed a status that is not an error */
async function call(method, path, sent, allowed) {
  const { headers } = forge;
  const isJson = sent && !(sent instanceof Uint8Array);
  const answer = await fetch(forge.api + path, {
    method,
    headers: isJson ? { ...headers, "content-type": "application/json" } : headers,
    body: isJson ? JSON.stringify(sent) : sent,
  });
  if (!answer.ok && answer.status !== allowed)
    throw new Error(`${method} ${path}: HTTP ${answer.status}: ${await answer.text()}`);
  return answer;
}

/** Finds the entry with the mark, on any page. The list of issues includes pull requests. */
async function earlier(path) {
  for (let page = 1; ; page++) {
    const list = await (await call("GET", `${path}?state=open&per_page=${pageSize}&page=${page}`)).json();
    const found = list.find((one) => one.pull_request === undefined && one.body?.startsWith(mark));
    if (found !== undefined || list.length < pageSize) return found;
  }
}

const commands = {
  save: ([stack]) => forge.save(stack),
  async plan([stack]) {
    rmSync("approved", { recursive: true, force: true });
    if (!(await forge.plan(stack)))
      console.error(
        `forge.mjs: found no ${forge.request} request with a plan for ${stack} and this content of the repository.`,
      );
  },
  async comment() {
    const found = await earlier(forge.comments);
    const place = found ? `${forge.comment}/${found.id}` : forge.comments;
    await call(found ? forge.change : "POST", place, { body: body() });
  },
  async issue() {
    const found = await earlier("/issues");
    const title = `Drift of ${stacks.join(", ")}`;
    await (found
      ? call("PATCH", `/issues/${found.number}`, { body: body() })
      : call("POST", "/issues", { title, body: body() }));
  },
};

try {
  if (!Object.hasOwn(commands, command ?? "") || stacks.length === 0)
    throw new Error(`say what to do, and for which stack: ${Object.keys(commands).join(", ")}`);
  await commands[command](stacks);
} catch (error) {
  console.error(`forge.mjs: ${error.message}`);
  process.exitCode = 1;
}
