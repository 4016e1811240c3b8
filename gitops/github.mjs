#!/usr/bin/env node
// github.mjs plan STACK: fetches into approved/ what a pull request with the content of this commit kept of preview.sh, if any did.
// github.mjs comment STACK…: puts report.md on the pull request PULL_REQUEST.
// github.mjs issue STACK: puts it into an issue about the drift of STACK.
// What the last two wrote there before is replaced. They know that by a mark of their own, and touch nothing else.
// GITHUB_TOKEN: that of the job. GITHUB_REPOSITORY and GITHUB_API_URL are GitHub's own.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const { GITHUB_API_URL, GITHUB_REPOSITORY, GITHUB_TOKEN, PULL_REQUEST } = process.env;
const [kind, ...stacks] = process.argv.slice(2);
const project = /^name:\s*(\S+)/m.exec(readFileSync("Pulumi.yaml", "utf8"))?.[1];
const mark = `<!-- consortium ${kind}: ${stacks.map((stack) => `${project}/${stack}`).join(" ")} -->`;
const body = () => `${mark}\n\n${readFileSync("report.md", "utf8")}`;

async function call(method, path, content) {
  const answer = await fetch(`${GITHUB_API_URL}/repos/${GITHUB_REPOSITORY}${path}`, {
    method,
    headers: { authorization: `Bearer ${GITHUB_TOKEN}`, accept: "application/vnd.github+json" },
    body: content && JSON.stringify(content),
  });
  if (!answer.ok) throw new Error(`${method} ${path}: HTTP ${answer.status}: ${await answer.text()}`);
  return answer;
}

const pageSize = 100;

/** What bears the mark, on whatever page. The list of issues has pull requests in it. */
async function earlier(path) {
  for (let page = 1; ; page++) {
    const list = await (await call("GET", `${path}?state=open&per_page=${pageSize}&page=${page}`)).json();
    const found = list.find((one) => one.pull_request === undefined && one.body?.startsWith(mark));
    if (found !== undefined || list.length < pageSize) return found;
  }
}

/** The newest plan for these very files. One that a fork made is none: anybody can make that. */
async function fetchPlan(stack) {
  rmSync("approved", { recursive: true, force: true });
  const tree = execFileSync("git", ["rev-parse", "HEAD:./"], { encoding: "utf8" }).trim();
  const { artifacts } = await (
    await call("GET", `/actions/artifacts?per_page=${pageSize}&name=plan-${stack}-${tree}`)
  ).json();
  const [newest] = artifacts
    .filter(({ expired, workflow_run: run }) => !expired && run && run.head_repository_id === run.repository_id)
    .sort((a, b) => Date.parse(b.created_at) - Date.parse(a.created_at));
  if (newest === undefined) {
    console.error(`github.mjs: no pull request has planned this content of the repository for ${stack}.`);
    return;
  }
  const folder = mkdtempSync(join(tmpdir(), "plan-"));
  const file = join(folder, "plan.zip");
  const zip = await call("GET", `/actions/artifacts/${newest.id}/zip`);
  writeFileSync(file, new Uint8Array(await zip.arrayBuffer()));
  execFileSync("unzip", ["-q", "-o", file, "-d", "approved"]);
  rmSync(folder, { recursive: true });
}

if (kind === "plan") {
  await fetchPlan(stacks[0]);
} else if (kind === "comment") {
  const comments = `/issues/${PULL_REQUEST}/comments`;
  const found = await earlier(comments);
  const content = { body: body() };
  await (found ? call("PATCH", `/issues/comments/${found.id}`, content) : call("POST", comments, content));
} else if (kind === "issue") {
  const found = await earlier("/issues");
  const title = `Drift of ${stacks.join(", ")}`;
  await (found
    ? call("PATCH", `/issues/${found.number}`, { body: body() })
    : call("POST", "/issues", { title, body: body() }));
} else {
  throw new Error("say what to do: github.mjs plan STACK, github.mjs comment STACK…, or github.mjs issue STACK");
}
