import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { action, folder, shared, sharedText, text, workflows } from "../../gitops/files";
import { installFromPyPI } from "../support/pypi";
import { interpolated } from "../support/forges";

/* What the linters and schemas of the forges say of the files. (What the files say: tests/gitops/pipelines.test.ts.) */

describe("what the forges themselves would refuse", () => {
  jest.setTimeout(300_000); // the first time they are installed
  const paths = workflows.map(({ file }) => join(folder, file));
  const ownFolder = join(__dirname, "../../../.github/workflows");
  const own = readdirSync(ownFolder).map((name) => join(ownFolder, name));

  /** The pipelines of a fleet. That of GitHub gets the name that .github/actionlint.yaml knows. */
  const fleets = join(__dirname, "../../../examples/fleet");
  const onGithub = join(mkdtempSync(join(tmpdir(), "pipeline-")), ".github/workflows/apply.yml");
  mkdirSync(dirname(onGithub), { recursive: true });
  cpSync(join(fleets, ".github/workflows/fleet.yml"), onGithub);
  const onGitlab = [".gitlab-ci.yml", "ci/fleet.yml"].map((name) => join(fleets, name));

  /** The action's steps as those of a workflow that takes the same inputs: actionlint reads no actions. */
  const asWorkflow = (change = (steps: string): string => steps): string => {
    const types = Object.keys(action.inputs).map((name) => [name, { type: "string", required: true }]);
    const file = join(mkdtempSync(join(tmpdir(), "action-")), "action.yml");
    const steps = JSON.parse(change(JSON.stringify(action.runs.steps))) as unknown;
    const job = { "runs-on": "ubuntu-latest", steps };
    const on = { workflow_call: { inputs: Object.fromEntries(types) as object } };
    writeFileSync(file, JSON.stringify({ on, jobs: { action: job } }));
    return file;
  };

  /** GitHub's linter. It is older than one key; its own configuration says which, for people, too. */
  const actionlint = (files: string[], ...flags: string[]): string =>
    spawnSync("go", ["tool", "actionlint", "-no-color", ...flags, ...files], {
      cwd: join(__dirname, "actionlint"),
      encoding: "utf8",
      env: { ...process.env, GOFLAGS: "-mod=readonly", GOWORK: "off" },
    }).stdout;

  test("actionlint has nothing to say of the workflows, this repository's own included", () => {
    const config = ["-config-file", join(folder, ".github/actionlint.yaml")];
    expect(actionlint([...paths, ...own, onGithub], ...config)).toBe("");
    expect(actionlint([asWorkflow()], ...config)).toBe("");
    const wrong = join(mkdtempSync(join(tmpdir(), "actionlint-")), "apply.yml");
    writeFileSync(wrong, text(".github/workflows/apply.yml").replace("needs: staging", "needs: stagging"));
    expect(actionlint([wrong])).toContain('"stagging"');
    expect(actionlint([asWorkflow((steps) => steps.replace("inputs.region", "inputs.regions"))])).toContain(
      '"regions"',
    );
  });

  test("the schemas of GitHub and GitLab have nothing to say of the files", async () => {
    const bin = await installFromPyPI("ci-schemas", join(__dirname, "requirements.txt"));
    const check = (schema: string, ...files: string[]): { status: number | null; stdout: string } =>
      spawnSync(join(bin, "check-jsonschema"), ["--builtin-schema", schema, ...files], { encoding: "utf8" });
    const gitlabSchema = ["vendor.gitlab-ci", "--data-transform", "gitlab-ci"] as const;
    expect(check("vendor.github-workflows", ...paths, ...own, onGithub)).toMatchObject({ status: 0 });
    const actionFile = join(shared, "action.yml");
    expect(check("vendor.github-actions", actionFile)).toMatchObject({ status: 0 });
    const template = join(mkdtempSync(join(tmpdir(), "gitlab-")), "gitlab.yml");
    const inputs = { stacks: ["staging", "production"], folder: "network/" };
    writeFileSync(template, interpolated(sharedText("gitlab.yml"), inputs));
    expect(check(...gitlabSchema, join(folder, ".gitlab-ci.yml"), template, ...onGitlab)).toMatchObject({ status: 0 });
    const wrong = join(mkdtempSync(join(tmpdir(), "gitlab-")), "ci.yml");
    writeFileSync(
      wrong,
      readFileSync(template, "utf8").replace("on_new_commit: interruptible", "on_new_commit: never"),
    );
    expect(check(...gitlabSchema, wrong)).toMatchObject({
      status: 1,
      stdout: expect.stringContaining("never") as string,
    });
  });
});
