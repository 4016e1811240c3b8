import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type * as GitHub from "@actions/workflow-parser";
import { buildSync } from "esbuild";
import { temporary, writeIn } from "../../fleet/made";
import { action, folder, shared, sharedText, text, workflows } from "../../gitops/files";
import { installFromPyPI } from "../support/pypi";
import { interpolated } from "../support/gitlab";

/* The linters and schemas of the forges. (For the contents of the files: tests/gitops/pipelines.test.ts.) */

describe("files that the forges would refuse", () => {
  const paths = workflows.map(({ file }) => join(folder, file));
  const ownFolder = join(__dirname, "../../../.github/workflows");
  const own = readdirSync(ownFolder).map((name) => join(ownFolder, name));

  /** The pipelines of a fleet. GitHub's gets the name that .github/actionlint.yaml uses. */
  const fleets = join(__dirname, "../../../examples/fleet");
  const ofFleet = readFileSync(join(fleets, ".github/workflows/fleet.yml"), "utf8");
  const onGithub = writeIn(temporary(), ".github/workflows/apply.yml", ofFleet);
  const onGitlab = [".gitlab-ci.yml", "ci/fleet.yml"].map((name) => join(fleets, name));

  /** The action's steps as a workflow with the same inputs, because actionlint does not read actions. */
  const asWorkflow = (change = (steps: string): string => steps): string => {
    const types = Object.keys(action.inputs).map((name) => [name, { type: "string", required: true }]);
    const steps = JSON.parse(change(JSON.stringify(action.runs.steps))) as unknown;
    const job = { "runs-on": "ubuntu-latest", steps };
    const on = { workflow_call: { inputs: Object.fromEntries(types) as object } };
    return writeIn(temporary(), "action.yml", JSON.stringify({ on, jobs: { action: job } }));
  };

  /** GitHub's linter. It does not know one newer key, which its configuration names. */
  const actionlint = (files: string[], ...flags: string[]): string =>
    spawnSync("go", ["tool", "actionlint", "-no-color", ...flags, ...files], {
      cwd: join(__dirname, "actionlint"),
      encoding: "utf8",
      env: { ...process.env, GOFLAGS: "-mod=readonly", GOWORK: "off" },
    }).stdout;

  test("actionlint finds nothing in the workflows, including this repository's own", () => {
    const config = ["-config-file", join(folder, ".github/actionlint.yaml")];
    expect(actionlint([...paths, ...own, onGithub], ...config)).toBe("");
    expect(actionlint([asWorkflow()], ...config)).toBe("");
    const needing = text(".github/workflows/apply.yml").replace("needs: staging", "needs: stagging");
    expect(actionlint([writeIn(temporary(), "apply.yml", needing)])).toContain('"stagging"');
    const misspelled = asWorkflow((steps) => steps.replace("inputs.region", "inputs.regions"));
    expect(actionlint([misspelled])).toContain('"regions"');
  });

  test("GitHub's own parser accepts them, including `queue` of a group, and refuses unknown keys", () => {
    const contents = 'export * from "@actions/workflow-parser"';
    const built = buildSync({ stdin: { contents, resolveDir: __dirname }, bundle: true, format: "cjs", write: false });
    const file = writeIn(temporary(), "parser.cjs", built.outputFiles[0]!.text);
    const { parseWorkflow, NoOperationTraceWriter } = createRequire(file)(file) as typeof GitHub;
    const complaints = (content: string): string[] => {
      const { context } = parseWorkflow({ name: "w.yml", content }, new NoOperationTraceWriter());
      return context.errors.getErrors().map(({ message }) => message);
    };
    for (const path of [...paths, ...own, onGithub]) expect(complaints(readFileSync(path, "utf8"))).toEqual([]);
    const apply = text(".github/workflows/apply.yml");
    expect(apply).toContain("queue: max");
    expect(complaints(apply.replace("queue: max", "queue: never"))).toEqual([
      expect.stringContaining("Unexpected value 'never'") as string,
    ]);
  });

  test("the files match the schemas of GitHub and GitLab", async () => {
    const bin = await installFromPyPI("ci-schemas", join(__dirname, "requirements.txt"));
    const check = (schema: string, ...files: string[]): { status: number | null; stdout: string } =>
      spawnSync(join(bin, "check-jsonschema"), ["--builtin-schema", schema, ...files], { encoding: "utf8" });
    const gitlabSchema = ["vendor.gitlab-ci", "--data-transform", "gitlab-ci"] as const;
    expect(check("vendor.github-workflows", ...paths, ...own, onGithub)).toMatchObject({ status: 0 });
    const actionFile = join(shared, "action.yml");
    expect(check("vendor.github-actions", actionFile)).toMatchObject({ status: 0 });
    const inputs = { stacks: ["staging", "production"], folder: "network/" };
    const filled = interpolated(sharedText("gitlab.yml"), inputs);
    const template = writeIn(temporary(), "gitlab.yml", filled);
    expect(check(...gitlabSchema, join(folder, ".gitlab-ci.yml"), template, ...onGitlab)).toMatchObject({ status: 0 });
    const never = filled.replace("on_new_commit: interruptible", "on_new_commit: never");
    const found = check(...gitlabSchema, writeIn(temporary(), "ci.yml", never));
    expect(found).toMatchObject({ status: 1, stdout: expect.stringContaining("never") as string });
  });
});
