#!/usr/bin/env node
// forge.mjs save-plan STACK: keeps plans/STACK.json for apply.sh, by the commit's content.
// forge.mjs save-copy STACK: keeps copies/STACK.json for preview.sh, if apply.sh or drift.sh made it. Both on GitLab only: on GitHub, the
// action does it.
// forge.mjs plan STACK: fetches the plan of a pull or merge request with the same content as this commit, if there is one, into approved/.
// forge.mjs copy STACK: fetches the newest copy of the state, which apply.sh and drift.sh made on the main branch, into copies/.
// forge.mjs comment STACK…: writes report.md as a comment on the pull or merge request.
// forge.mjs issue STACK: writes it into an issue about the drift of STACK. GitHub only.
// The last two replace what they wrote before: they find it by a mark, and touch nothing else.
// GITHUB_TOKEN: the job's token. PULL_REQUEST: its number. GITLAB_COMMENT_TOKEN: for comment, a project access token with the scope api.
// The other variables are GitHub's and GitLab's own.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const { env } = process;
const [command, ...stacks] = process.argv.slice(2);
const project = /^name:\s*(\S+)/m.exec(readFileSync("Pulumi.yaml", "utf8"))?.[1];
const mark = `<!-- consortium ${command}: ${stacks.map((stack) => (stack.includes("/") ? stack : `${project}/${stack}`)).join(" ")} -->`;
const body = () => `${mark}\n\n${readFileSync("report.md", "utf8")}`;
/** A hash of the folder's content: the request's last commit and main after the merge have the same one. */
const content = () => execFileSync("git", ["rev-parse", "HEAD:./"], { encoding: "utf8" }).trim();
/** A name of files, artifacts and packages has no slash, which the full name of a stack has: organization/project/stack. */
const fileOf = (stack) => stack.replaceAll("/", ".");
const folders = { plan: "approved", copy: "copies" };
const isThere = (stack) => existsSync(join("copies", `${fileOf(stack)}.json`));
const nameOf = (what, stack) => `${what}-${fileOf(stack)}`;
const pageSize = 100;

const onGitHub = {
  request: "pull",
  api: `${env.GITHUB_API_URL}/repos/${env.GITHUB_REPOSITORY}`,
  headers: { authorization: `Bearer ${env.GITHUB_TOKEN}`, accept: "application/vnd.github+json" },
  comments: `/issues/${env.PULL_REQUEST}/comments`,
  comment: "/issues/comments",
  change: "PATCH",

  /**
   * The newest plan for exactly these files, or the newest copy from the branch that a pull request is for. Those from forks do not count:
   * anybody can make them.
   */
  async fetch(what, stack) {
    const name = what === "plan" ? `${nameOf(what, stack)}-${content()}` : nameOf(what, stack);
    const { artifacts } = await (await call("GET", `/actions/artifacts?per_page=${pageSize}&name=${name}`)).json();
    const isOurs = ({ head_repository_id: head, repository_id: own, head_branch: branch }) =>
      head === own && (what === "plan" || branch === env.GITHUB_BASE_REF);
    const [newest] = artifacts
      .filter(({ expired, workflow_run: run }) => !expired && run && isOurs(run))
      .sort((a, b) => Date.parse(b.created_at) - Date.parse(a.created_at));
    if (newest === undefined) return false;
    const folder = mkdtempSync(join(tmpdir(), "plan-"));
    const file = join(folder, "plan.zip");
    const zip = await call("GET", `/actions/artifacts/${newest.id}/zip`);
    writeFileSync(file, new Uint8Array(await zip.arrayBuffer()));
    execFileSync("unzip", ["-q", "-o", file, "-d", folders[what]]);
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

  /** In the package registry. Of files with the same name, it answers the newest. */
  kept: (what, stack) =>
    `/packages/generic/${nameOf(what, stack)}/${what === "plan" ? content() : "latest"}/${fileOf(stack)}.json`,
  save: (what, folder, stack) =>
    call("PUT", onGitLab.kept(what, stack), readFileSync(join(folder, `${fileOf(stack)}.json`))),
  async fetch(what, stack) {
    const answer = await call("GET", this.kept(what, stack), undefined, 404);
    if (!answer.ok) return false;
    mkdirSync(folders[what]);
    writeFileSync(join(folders[what], `${fileOf(stack)}.json`), new Uint8Array(await answer.arrayBuffer()));
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
  "save-plan": ([stack]) => forge.save("plan", "plans", stack),
  "save-copy": ([stack]) => isThere(stack) && forge.save("copy", "copies", stack),
  async copy([stack]) {
    rmSync(folders.copy, { recursive: true, force: true });
    if (await forge.fetch("copy", stack)) return;
    const next = env.GITLAB_CI ? "the pipeline schedule for the main branch" : "the workflow drift on the main branch";
    throw new Error(
      `run ${next} once, which makes a copy of the state of ${stack} without its secrets: there is none, and previews have no other state.`,
    );
  },
  async plan([stack]) {
    rmSync(folders.plan, { recursive: true, force: true });
    if (!(await forge.fetch("plan", stack)))
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
