#!/usr/bin/env node
// github.mjs comment STACK…: puts report.md on the pull request PULL_REQUEST.
// github.mjs issue STACK: puts it into an issue about the drift of STACK.
// What it wrote there before is replaced. It knows that by a mark of its own, and touches nothing else.
// GITHUB_TOKEN: that of the job. GITHUB_REPOSITORY and GITHUB_API_URL are GitHub's own.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));
const { GITHUB_API_URL, GITHUB_REPOSITORY, GITHUB_TOKEN, PULL_REQUEST } = process.env;
const [kind, ...stacks] = process.argv.slice(2);
const project = /^name:\s*(\S+)/m.exec(readFileSync("Pulumi.yaml", "utf8"))?.[1];
const mark = `<!-- consortium ${kind}: ${stacks.map((stack) => `${project}/${stack}`).join(" ")} -->`;
const body = `${mark}\n\n${readFileSync("report.md", "utf8")}`;

async function call(method, path, content) {
  const answer = await fetch(`${GITHUB_API_URL}/repos/${GITHUB_REPOSITORY}${path}`, {
    method,
    headers: { authorization: `Bearer ${GITHUB_TOKEN}`, accept: "application/vnd.github+json" },
    body: content && JSON.stringify(content),
  });
  if (!answer.ok) throw new Error(`${method} ${path}: HTTP ${answer.status}: ${await answer.text()}`);
  return answer.json();
}

const pageSize = 100;

/** What bears the mark, on whatever page. The list of issues has pull requests in it. */
async function earlier(path) {
  for (let page = 1; ; page++) {
    const list = await call("GET", `${path}?state=open&per_page=${pageSize}&page=${page}`);
    const found = list.find((one) => one.pull_request === undefined && one.body?.startsWith(mark));
    if (found !== undefined || list.length < pageSize) return found;
  }
}

if (kind === "comment") {
  const comments = `/issues/${PULL_REQUEST}/comments`;
  const found = await earlier(comments);
  await (found ? call("PATCH", `/issues/comments/${found.id}`, { body }) : call("POST", comments, { body }));
} else if (kind === "issue") {
  const found = await earlier("/issues");
  const title = `Drift of ${stacks.join(", ")}`;
  await (found ? call("PATCH", `/issues/${found.number}`, { body }) : call("POST", "/issues", { title, body }));
} else {
  throw new Error("say what to write: github.mjs comment STACK…, or github.mjs issue STACK");
}
