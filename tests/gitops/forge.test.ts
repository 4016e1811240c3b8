import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { programOf } from "../e2e/support/backends/programs";
import { Forge, tokenWith, type Written } from "../e2e/support/forges";
import { failed, finished } from "../e2e/support/stack";
import { shared } from "./files";

/* The requests of gitops/forge.mjs to a forge. For whole pipelines, see e2e/gitops. */

let clone: string;
const git = (...args: string[]): string =>
  execFileSync("git", ["-C", clone, ...args], { encoding: "utf8", stdio: "pipe" });
const write = (file: string, text: string): void => writeFileSync(join(clone, file), text);

const run = (args: string[], env: Record<string, string>) =>
  finished(spawn(join(shared, "forge.mjs"), args, { cwd: clone, env: { ...process.env, ...env } }));

beforeAll(async () => {
  for (const program of ["zip", "unzip"]) await programOf(program, program);
  clone = mkdtempSync(join(tmpdir(), "consortium-clone-"));
  git("init", "--quiet");
  write("Pulumi.yaml", "name: trade-network\nruntime: nodejs\n");
  git("add", "--all");
  git("-c", "user.name=team", "-c", "user.email=team@example.com", "commit", "--quiet", "-m", "A network");
});

/** Comments of others: more than a page, and the report of another project's bot. */
const others = (): Written[] => [
  ...Array.from({ length: 120 }, (_, at) => ({ id: at + 1, number: at + 1, body: `opinion ${at}` })),
  { id: 121, number: 121, body: "<!-- consortium comment: other/staging -->\n\n## Theirs\n" },
];

const marked = (kind: string, ...stacks: string[]): string =>
  `<!-- consortium ${kind}: ${stacks.map((stack) => `trade-network/${stack}`).join(" ")} -->\n\n`;
const tokens = (token: string): Record<string, string> => ({
  GITLAB_COMMENT_TOKEN: token,
  GITHUB_TOKEN: token,
  CI_JOB_TOKEN: token,
});
const allowed = tokenWith({ "pull-requests": "write", issues: "write", actions: "read", packages: "write" });
/** Another forge, and the variables of its jobs. */
async function forgeWith(written: Written[] = [], which: "GitHub" | "GitLab" = "GitHub") {
  const other = await Forge.start(written);
  const env = {
    ...(which === "GitLab" && { GITLAB_CI: "true" }),
    CI_API_V4_URL: other.address,
    CI_PROJECT_ID: "7",
    CI_MERGE_REQUEST_IID: "3",
    GITHUB_API_URL: other.address,
    GITHUB_REPOSITORY: "acme/network",
    PULL_REQUEST: "3",
    ...tokens(allowed),
  };
  return { other, env };
}

test.each([
  ["GitLab", ["comment", "staging", "production"], marked("comment", "staging", "production")],
  ["GitHub", ["comment", "staging", "production"], marked("comment", "staging", "production")],
  ["GitHub", ["issue", "staging"], marked("issue", "staging")],
] as const)("%s, %j: writes the report once, then replaces it, and leaves others alone", async (which, args, mark) => {
  const { other, env } = await forgeWith(others(), which);
  for (const text of ["## First\n", "## Second\n"]) {
    write("report.md", text);
    expect(await run([...args], env)).toMatchObject({ code: 0 });
    expect(other.written.slice(0, 121)).toEqual(others());
    expect(other.written.slice(121)).toMatchObject([{ body: mark + text }]);
  }
  await failed(run([...args], { ...env, ...tokens("wrong") }));
  expect(other.written).toHaveLength(122);
});

test("an issue belongs to one stack, and a pull request is never taken for an issue", async () => {
  const there: Written[] = [
    { id: 1, number: 1, body: marked("issue", "production") },
    { id: 2, number: 2, body: marked("issue", "staging"), pull_request: {} },
  ];
  const { other, env } = await forgeWith([...there]);
  write("report.md", "## Drift\n");
  expect(await run(["issue", "staging"], env)).toMatchObject({ code: 0 });
  expect(other.written.slice(0, 2)).toEqual(there);
  expect(other.written.slice(2)).toMatchObject([
    { title: "Drift of staging", body: `${marked("issue", "staging")}## Drift\n` },
  ]);
});

test.each([[[]], [["plan"]], [["toString", "staging"]]])("%j says nothing that it can do", async (args) => {
  const { env } = await forgeWith();
  const why = "forge.mjs: say what to do, and for which stack: save, plan, comment, issue";
  expect(await failed(run(args, env))).toContain(why);
});

test("the newest plan for the same files counts, in whatever order they are listed", async () => {
  const { other, env } = await forgeWith();
  const name = `plan-staging-${git("rev-parse", "HEAD^{tree}").trim()}`;
  for (const [run, day] of [2, 3, 1].entries()) {
    const folder = join(other.uploads, String(run));
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "day"), String(day));
    execFileSync("zip", ["-q", "-m", `${name}.zip`, "day"], { cwd: folder });
    const time = new Date(`2026-01-0${day}T00:00:00Z`);
    utimesSync(join(folder, `${name}.zip`), time, time);
  }
  expect(await run(["plan", "staging"], env)).toMatchObject({ code: 0 });
  expect(readFileSync(join(clone, "approved/day"), "utf8")).toBe("3");
  rmSync(join(clone, "approved"), { recursive: true });
});

test("GitLab keeps a plan byte by byte, and half of one counts as none", async () => {
  const { other, env } = await forgeWith([], "GitLab");
  const kinds = ["json", "plan"];
  const saved = (kind: string) => join(clone, "plans", `staging.${kind}`);
  mkdirSync(join(clone, "plans"));
  for (const kind of kinds) writeFileSync(saved(kind), Buffer.from([0, 255, kind.length, 10]));
  expect(await run(["save", "staging"], env)).toMatchObject({ code: 0 });
  expect(await run(["plan", "staging"], env)).toMatchObject({ code: 0, text: "" });
  const approved = join(clone, "approved");
  for (const kind of kinds) expect(readFileSync(join(approved, `staging.${kind}`))).toEqual(readFileSync(saved(kind)));
  other.packages.delete([...other.packages.keys()].at(-1)!);
  const { code, text } = await run(["plan", "staging"], env);
  expect([code, text]).toEqual([0, expect.stringContaining("found no merge request with a plan for staging")]);
  expect(existsSync(approved)).toBe(false);
  rmSync(join(clone, "plans"), { recursive: true });
});

test("plans that are from forks or expired do not count; an invalid answer is an error", async () => {
  const { other, env } = await forgeWith();
  const name = `plan-staging-${git("rev-parse", "HEAD^{tree}").trim()}`;
  const [own, fork] = [1, 2].map((id) => ({ id: 1, repository_id: 1, head_repository_id: id }));
  const made = { name, created_at: "2026-01-01T00:00:00Z", zip: Buffer.from("") };
  other.artifacts.push(
    { ...made, id: 1, expired: true, workflow_run: own! },
    { ...made, id: 2, expired: false, workflow_run: fork! },
  );
  const { code, text } = await run(["plan", "staging"], env);
  expect([code, text]).toEqual([0, expect.stringContaining("found no pull request with a plan for")]);
  const refused = { ...env, ...tokens("wrong") };
  for (const which of [{}, { GITLAB_CI: "true" }])
    expect(await failed(run(["plan", "staging"], { ...refused, ...which }))).toContain("HTTP 403");
});
