import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { planned, step } from "../../cli/plans";
import { temporary, writeIn } from "../../fleet/made";
import { built } from "../../service/child";
import { shared } from "../../gitops/files";

/* How apply.sh runs Pulumi, with a stub. For the real one, see forges.test.ts. */

beforeAll(built);

let folder: string;
beforeEach(() => {
  folder = temporary();
  const program = (name: string, text: string) => chmodSync(write(`bin/${name}`, `#!/bin/bash\n${text}\n`), 0o755);
  program(
    "pulumi",
    `case "$1" in preview) cat preview.json; exit "$(cat failed || echo 0)" ;; up) echo "$@" >up ;; *) echo '{"deployment":{}}' ;; esac`,
  );
  program("npx", `shift 2; [ "$1" = check ] && exit "$(cat check)"; exec node ${consortium} "$@"`);
  write("check", "0");
});

const consortium = join(__dirname, "../../../dist/cli/consortium.js");
const write = (file: string, text: string) => writeIn(folder, file, text);
/** The plan of a preview, and the plan of the pull request. */
function plans(now: string, approved: string): void {
  write("preview.json", changed(now));
  write("approved/prod.json", changed(approved));
}
const changed = (to: string) =>
  planned([step("update", "Consortium", "c", { id: "c1", inputs: {} }, { inputs: { description: to } })]);

function apply(APPROVE: string) {
  rmSync(join(folder, "up"), { force: true });
  const env = { PATH: `${join(folder, "bin")}:${process.env.PATH}`, CONSORTIUM_API_KEY: "key", APPROVE };
  const { status, stderr } = spawnSync(join(shared, "apply.sh"), ["prod"], { cwd: folder, env, encoding: "utf8" });
  const up = existsSync(join(folder, "up")) ? readFileSync(join(folder, "up"), "utf8") : undefined;
  return { status, stderr, plan: up && /--plan (\S+)/.exec(up)![1] };
}
const digestOf = (text: string) => {
  const args = [consortium, "report", "--fail-on", "unapproved"];
  const { stdout } = spawnSync(process.execPath, args, { input: text, encoding: "utf8" });
  return /`([0-9a-f]{64})`/.exec(stdout)![1]!;
};
const another = "0".repeat(64);

const [b, c] = [changed("b"), changed("c")];
test.each<[string, now: string, approved: string | undefined, (() => string)[], status: number]>([
  ["an approved plan is applied, as this run planned it, with its secrets", b, b, [], 0],
  ["digests of others make no difference", b, b, [() => another, () => `${another} ${digestOf(c)}`], 0],
  ["what nothing approves is not applied", c, b, [() => "", () => another], 2],
  ["the digest of this run's plan approves it, whatever else", c, b, [() => `${another} ${digestOf(c)}`], 0],
  ["a digest is needed where there is no plan of a pull request", c, undefined, [() => ""], 2],
  ["and is enough there", c, undefined, [() => digestOf(c)], 0],
])("%s", (_, now, approved, digests, status) => {
  write("preview.json", now);
  if (approved !== undefined) write("approved/prod.json", approved);
  for (const digest of digests.length > 0 ? digests : [() => ""])
    expect(apply(digest())).toMatchObject({ status, plan: status === 0 ? "plans/prod.plan" : undefined });
});

const others = ["plans/prod.json", "approved/prod.json", "preview.json", "*", `${another}0`, "A".repeat(64)];
test.each(others)("APPROVE=%s is not a digest: nothing approves itself", (given) => {
  plans("c", "b");
  for (const APPROVE of [given, `${another} ${given}`]) {
    const { status, stderr, plan } = apply(APPROVE);
    expect({ status, plan }).toEqual({ status: 1, plan: undefined });
    expect(stderr).toContain(`"${given}" is not one. Nothing was done.`);
  }
});

test("a preview that fails: nothing is done, although the plan is approved", () => {
  plans("b", "b");
  write("failed", "5");
  const { status, stderr, plan } = apply("");
  expect({ status, plan }).toEqual({ status: 5, plan: undefined });
  expect(stderr).toContain("the preview of prod failed. Nothing was done");
});

test("a network in an unknown condition does not pass", () => {
  plans("b", "b");
  write("check", "3");
  expect(apply("")).toMatchObject({ status: 3, plan: "plans/prod.plan" });
});

test("a report's own file cannot approve it", () => {
  write("plan.json", changed("b"));
  const args = [consortium, "report", "plan.json", "--approved", "./plan.json"];
  expect(() => execFileSync(process.execPath, args, { cwd: folder, stdio: "pipe" })).toThrow("cannot approve itself");
});

describe("report.sh", () => {
  function report(plans: Record<string, string>, STACKS?: string) {
    for (const file of ["plans", "report.md"]) rmSync(join(folder, file), { recursive: true, force: true });
    for (const [stack, text] of Object.entries(plans)) write(`plans/${stack}.json`, text);
    const env = { PATH: `${join(folder, "bin")}:${process.env.PATH}`, STACKS };
    const { status } = spawnSync(join(shared, "report.sh"), ["Preview"], { cwd: folder, env, encoding: "utf8" });
    const file = join(folder, "report.md");
    return { status, text: existsSync(file) ? readFileSync(file, "utf8") : undefined };
  }
  const none = (stack: string) =>
    `> **No preview exists for this commit: \`${stack}\`.** Its job failed before it had a plan: see its log.\n\n`;

  test("names the stacks without a plan before the report of the others, then fails", () => {
    const one = report({ staging: changed("b") }, "staging production");
    expect(one).toMatchObject({
      status: 2,
      text: expect.stringMatching(/^> \*\*No preview.*`production`[^]*## Preview/) as string,
    });
    expect(report({}, "staging production")).toEqual({ status: 2, text: none("staging") + none("production") });
    expect(report({ staging: "" }, "staging").text).toContain(none("staging"));
    expect(report({ staging: changed("b") }, "staging")).toMatchObject({
      status: 0,
      text: expect.stringMatching(/^## Preview/) as string,
    });
  });

  test("without plans or named stacks, it does not overwrite an earlier report", () => {
    expect(report({})).toEqual({ status: 1, text: undefined });
  });
});
