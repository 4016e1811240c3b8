import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { programOf } from "../e2e/support/backends/programs";
import { Forge, tokenWith, type Written } from "../e2e/support/forges";
import { finished, type Finished } from "../../tools/lib/processes.mjs";
import { shared } from "./files";

/* The requests of gitops/forge.mjs to a forge. For whole pipelines, see e2e/gitops. */

/** The project: a folder of a repository that has others. */
let clone: string;
/** A hash of what is in it. */
let content: string;
const git = (...args: string[]): string =>
  execFileSync("git", ["-C", clone, ...args], { encoding: "utf8", stdio: "pipe" });
const write = (file: string, text: string): void => writeFileSync(join(clone, file), text);

const run = (args: string[], env: Record<string, string>) =>
  finished(spawn(join(shared, "forge.mjs"), args, { cwd: clone, env: { ...process.env, ...env } }));

/** A run that has to fail; what it printed. */
async function failed(run: Promise<Finished>): Promise<string> {
  const { code, text } = await run;
  expect(code).not.toBe(0);
  return text;
}

beforeAll(async () => {
  for (const program of ["zip", "unzip"]) await programOf(program, program);
  clone = join(mkdtempSync(join(tmpdir(), "consortium-clone-")), "network");
  mkdirSync(clone);
  git("init", "--quiet", "..");
  write("Pulumi.yaml", "name: trade-network\nruntime: nodejs\n");
  for (const text of ["A network\n", "Two networks\n"]) {
    write("../README.md", text); // a plan stays good while others change
    git("add", "--all", "..");
    git("-c", "user.name=team", "-c", "user.email=team@example.com", "commit", "--quiet", "-m", text);
    content ??= git("rev-parse", "HEAD:network").trim();
  }
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
  const why = "forge.mjs: say what to do, and for which stack: save-plan, save-copy, copy, plan, comment, issue";
  expect(await failed(run(args, env))).toContain(why);
});

/** An artifact that a run uploaded on a day of January, and holds that day. */
function uploaded({ uploads }: Forge, run: string, name: string, day: string, branch?: string): void {
  const folder = join(uploads, run);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "day"), day);
  if (branch !== undefined) writeFileSync(join(folder, "branch"), branch);
  execFileSync("zip", ["-q", "-m", `${name}.zip`, "day"], { cwd: folder });
  const time = new Date(`2026-01-0${day}T00:00:00Z`);
  utimesSync(join(folder, `${name}.zip`), time, time);
}

test("the newest plan for the same files counts, in whatever order they are listed", async () => {
  const { other, env } = await forgeWith();
  for (const [run, day] of ["2", "3", "1"].entries()) uploaded(other, String(run), `plan-staging-${content}`, day);
  expect(await run(["plan", "staging"], env)).toMatchObject({ code: 0 });
  expect(readFileSync(join(clone, "approved/day"), "utf8")).toBe("3");
  rmSync(join(clone, "approved"), { recursive: true });
});

test("GitLab keeps plans and copies of two stacks byte by byte, under names without a slash", async () => {
  const { other, env } = await forgeWith([], "GitLab");
  const stacks = ["staging", "organization/trade-network/staging"];
  const kinds = { plan: ["plans", "approved"], copy: ["copies", "copies"] } as const;
  const bytes = (stack: string, kind: string) => Buffer.from([0, 255, stack.length, kind.length, kind.charCodeAt(0)]);
  const file = (folder: string, stack: string) => join(clone, folder, `${stack.replaceAll("/", ".")}.json`);
  for (const [kind, [from, into]] of Object.entries(kinds)) {
    mkdirSync(join(clone, from));
    for (const stack of stacks) {
      writeFileSync(file(from, stack), bytes(stack, kind));
      expect(await run([`save-${kind}`, stack], env)).toMatchObject({ code: 0 });
    }
    rmSync(join(clone, from), { recursive: true });
    for (const stack of stacks) {
      expect(await run([kind, stack], env)).toMatchObject({ code: 0, text: "" });
      expect(readFileSync(file(into, stack))).toEqual(bytes(stack, kind));
    }
  }
  expect([...other.packages.keys()].filter((path) => path.split("/").length !== 8)).toEqual([]);
  other.packages.clear();
  const { code, text } = await run(["plan", "staging"], env);
  expect([code, text]).toEqual([0, expect.stringContaining("found no merge request with a plan for staging")]);
  expect(await failed(run(["copy", "staging"], env))).toContain("run the pipeline schedule for the main branch once");
  for (const folder of ["approved", "copies"]) expect(existsSync(join(clone, folder))).toBe(false);
  expect(await run(["save-copy", "staging"], env)).toMatchObject({ code: 0 }); // an apply that stopped makes none
  expect(other.packages.size).toBe(0);
});

test("GitHub: only a copy that the main branch made counts, and the newest of two", async () => {
  const { other, env } = await forgeWith();
  for (const [day, branch] of ["main", "main", "change"].entries())
    uploaded(other, String(day), "copy-staging", String(day + 1), branch);
  expect(await run(["copy", "staging"], { ...env, GITHUB_BASE_REF: "main" })).toMatchObject({ code: 0 });
  expect(readFileSync(join(clone, "copies/day"), "utf8")).toBe("2");
  expect(await failed(run(["copy", "staging"], { ...env, GITHUB_BASE_REF: "other" }))).toContain(
    "run the workflow drift",
  );
});

test("plans that are from forks or expired do not count; an invalid answer is an error", async () => {
  const { other, env } = await forgeWith();
  const name = `plan-staging-${content}`;
  const of = { id: 1, repository_id: 1, head_branch: "change" };
  const [own, fork] = [1, 2].map((id) => ({ ...of, head_repository_id: id }));
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
