import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { action, folder, found, gitlab, gitlabRest, sharedText, stages, text, workflowOf, workflows } from "./files";
import { interpolated } from "../e2e/support/gitlab";
import { releases } from "../../tools/lib/pulumi-cli.mjs";
import { parse } from "yaml";

/* What the pipelines of GitHub and GitLab would do, according to their files. */

/** As docs/policies.md has it. */
const policyPack = "node_modules/pulumi-consortium/policy-pack";
const scripts = "node_modules/pulumi-consortium/gitops";

/** The action of this repository, as workflows use it. */
const isOurs = ({ uses }: { uses?: string }): boolean => /\/gitops(@|$)/.test(uses ?? "");
const official = /^(actions|pulumi|aws-actions)\/[\w-]+@[0-9a-f]{40}$/;

/* What each job can read and do: docs/reference/pipelines.md has it, and readers.test.ts compares. */
describe.each(workflows)("$file", ({ file, workflow, jobs, steps }) => {
  test("has triggers, explicit permissions, and a time limit for every job", () => {
    expect(Object.keys(workflow.on).length).toBeGreaterThan(0);
    expect(workflow.permissions).toMatchObject({ contents: "read" });
    expect(jobs.filter((job) => job["timeout-minutes"] === undefined)).toEqual([]);
  });

  test("each job uses the action, with inputs that it has; the token is not kept in the checkout, and there is no cloud key", () => {
    const used = steps.filter(isOurs).map((one) => one.with!);
    expect(used).toHaveLength(jobs.length);
    for (const given of used) {
      expect(Object.keys(given).filter((name) => !(name in action.inputs))).toEqual([]);
      const usesState = ["apply", "drift"].includes(String(given.step));
      expect(given.variables).toBe(usesState ? "${{ toJSON(vars) }}" : undefined);
    }
    for (const one of steps.filter(({ uses }) => uses?.startsWith("actions/checkout@")))
      expect(one.with).toEqual({ "persist-credentials": false });
    expect(text(file)).not.toMatch(/AWS_(ACCESS_KEY|SECRET|SESSION)|PASSPHRASE/);
  });

  test("jobs that change a stack never run concurrently", () => {
    const touching = jobs.filter(({ steps: own }) => own.some((one) => /apply|drift/.test(String(one.with?.step))));
    for (const { concurrency } of touching)
      expect(workflow.concurrency ?? concurrency).toMatchObject({ "cancel-in-progress": false });
    expect(workflow.concurrency ?? touching.length).toBeTruthy();
  });
});

test.each([...workflows, { file: "action.yml", steps: action.runs.steps }])(
  "$file: actions are this repository's, or official ones pinned to a commit, with the version in a comment",
  ({ file, steps }) => {
    const uses = steps.flatMap((one) => (isOurs(one) ? [] : (one.uses ?? one.run ?? "")));
    const commands = action.runs.steps.flatMap(({ run }) => run ?? []);
    expect(uses.filter((one) => !official.test(one) && !commands.includes(one))).toEqual([]);
    const pins = found(file === "action.yml" ? sharedText(file) : text(file), /uses: (.*)$/gm);
    expect(pins.filter((one) => !isOurs({ uses: one }) && !/ # v\d+\.\d+\.\d+$/.test(one))).toEqual([]);
  },
);

describe("the action", () => {
  const { steps } = action.runs;

  test("assumes the role before it uses the state; only that step has the key and the state, and no shell text contains them", () => {
    const assumed = steps.findIndex(({ uses }) => uses?.startsWith("aws-actions/configure-aws-credentials@"));
    const used = steps.flatMap(({ env }, at) => (env?.PULUMI_BACKEND_URL === undefined ? [] : [at]));
    expect(used).toHaveLength(1);
    expect(assumed).toBeLessThan(used[0]!);
    for (const name of ["api-key", "passphrase", "access-token", "backend-url"])
      expect(steps.flatMap((step, at) => (JSON.stringify(step).includes(`inputs.${name} `) ? [at] : []))).toEqual(used);
    expect(steps.filter(({ run }) => run?.includes("${{"))).toEqual([]);
    expect(action.inputs["policy-pack"]?.default).toBe(policyPack);
  });

  test("uses and describes each of its inputs", () => {
    const used = found(JSON.stringify(steps), /inputs\.([\w-]+)/g);
    expect([...new Set(used)].sort()).toEqual(Object.keys(action.inputs).sort());
    expect(Object.values(action.inputs).filter(({ description }) => !description)).toEqual([]);
  });

  test.each(["preview", "report", "apply", "drift", "nothing"])("refuses an unknown step at once (%s)", (step) => {
    const [first] = steps;
    const env = { ...process.env, STEP: step };
    const { status, stderr } = spawnSync("bash", ["-e", "-c", first!.run!], { env, encoding: "utf8" });
    const complaint = 'consortium-gitops: step is preview, report, apply or drift, not "nothing".\n';
    expect([status, stderr]).toEqual(step === "nothing" ? [1, complaint] : [0, ""]);
  });
});

test("one version of each action in all workflows", () => {
  const pins = [...workflows, action.runs].flatMap(({ steps }) => steps.flatMap(({ uses }) => uses ?? []));
  expect(new Set(pins).size).toBe(new Set(pins.map((one) => one.split("@")[0])).size);
});

test("images, and the action, have the Pulumi on which the tests run", () => {
  const root = join(__dirname, "../..");
  const files = ["gitops", "examples", "docs", "fleet"].flatMap((top) =>
    readdirSync(join(root, top), { recursive: true, encoding: "utf8" })
      .filter((name) => /\.(ya?ml|Dockerfile|md|ts)$/.test(name) && !/node_modules|dist/.test(name))
      .map((name) => join(root, top, name)),
  );
  const images = files.flatMap((file) => found(readFileSync(file, "utf8"), /\bpulumi\/pulumi[\w-]*:([\d.]+)/g));
  expect(images.length).toBeGreaterThan(9);
  expect(new Set([...images, action.inputs["pulumi-version"]?.default])).toEqual(new Set([releases.newest!.version]));
  expect(readFileSync(join(root, "docs/gitops.md"), "utf8")).toContain(`and Pulumi ${releases.newest!.version},`);
});

test("GitHub: production waits for staging, and nothing cancels a waiting run, not even drift", () => {
  const { jobs, concurrency } = workflowOf("apply");
  expect(Object.keys(jobs)).toEqual(["staging", "production"]);
  expect(jobs.production).toMatchObject({ needs: "staging" });
  // GitHub keeps one waiting run of a group, unless the group is a queue.
  expect(concurrency).toEqual({ group: "apply", "cancel-in-progress": false, queue: "max" });
  const groups = Object.values(workflowOf("drift").jobs).map((job) => job.concurrency!.group);
  expect(groups).toEqual(["drift-${{ matrix.stack }}"]);
});

test("GitHub: an issue for drift, and only for drift", () => {
  const look = action.runs.steps.find(({ id }) => id === "run")!.run!;
  const ends = (STEP: string, code: number): { status: number; output: string } => {
    const made = mkdtempSync(join(tmpdir(), "drift-"));
    const scripts = join(made, "node_modules/pulumi-consortium/gitops");
    mkdirSync(scripts, { recursive: true });
    writeFileSync(join(scripts, `${STEP}.sh`), `#!/bin/sh\nexit ${code}\n`, { mode: 0o755 });
    const output = join(made, "output");
    const env = { ...process.env, GITHUB_OUTPUT: output, STEP, STACK: "staging" };
    const { status } = spawnSync("bash", ["-e", "-c", look], { env, cwd: made });
    return { status: status!, output: readFileSync(output, "utf8") };
  };
  for (const [code, status] of Object.entries({ 0: 0, 1: 1, 2: 0, 137: 137 }))
    expect(ends("drift", Number(code))).toEqual({ status, output: `code=${code}\n` });
  expect([0, 2].map((code) => ends("apply", code).status)).toEqual([0, 2]);
  const [issue] = action.runs.steps.filter(({ run }) => run?.includes("issue"));
  expect(issue).toMatchObject({ if: "inputs.step == 'drift' && steps.run.outputs.code == '2'" });
});

/** Also when it fails: it may have applied a part. */
const withCopy = (name: string): string[] => [
  `code=0; ${scripts}/${name}.sh "$STACK" || code=$?`,
  `${scripts}/forge.mjs save-copy "$STACK"`,
  'exit "$code"',
];

test("GitLab: production waits for staging, a stack has one run at a time, and nothing cancels a waiting run", () => {
  for (const stack of ["staging", "production"]) {
    expect(gitlab[stack]).toMatchObject({
      stage: "apply",
      variables: { STACK: stack },
      environment: { name: "$STACK" },
      resource_group: "apply-$STACK",
      interruptible: false,
      script: [`${scripts}/forge.mjs plan "$STACK"`, ...withCopy("apply")],
    });
  }
  expect(gitlab.drift!.script).toEqual(withCopy("drift"));
  expect(gitlab.staging!.needs).toBeUndefined();
  expect(gitlab.production!.needs).toEqual(["staging"]);
  expect(gitlab.drift).toMatchObject({ resource_group: "drift-$STACK", environment: { name: "drift-$STACK" } });
  expect(gitlabRest.workflow).toMatchObject({ auto_cancel: { on_new_commit: "interruptible" } });
});

test("GitLab: every job has a declared stage, and only the job that comments has the token", () => {
  expect(Object.values(gitlab).filter(({ stage }) => !stages.includes(stage!))).toEqual([]);
  const scoped = /^\| `GITLAB_COMMENT_TOKEN` +\| GitLab: environment `([^`]+)`/m.exec(text("README.md"))?.[1];
  const having = Object.entries(gitlab).filter(([, { environment }]) => environment?.name === scoped);
  expect(having.map(([name]) => name)).toEqual(["comment"]);
  expect(gitlab.comment).toMatchObject({
    before_script: [expect.stringMatching(/^cd /), "npm ci --ignore-scripts"],
    variables: { STACKS: '["staging","production"]' },
  });
});

test("GitLab: only jobs that use the state have a token for its role; policies are checked", () => {
  const using = Object.keys(gitlab).filter((name) => gitlab[name]!.id_tokens !== undefined);
  expect(using.sort()).toEqual(["drift", "production", "staging"]);
  const pack = `export POLICY_PACK="${policyPack}"`;
  for (const name of using)
    expect(gitlab[name]!.before_script!.slice(-2)).toEqual([
      expect.stringContaining('"$STATE_TOKEN" >"$AWS_WEB_IDENTITY_TOKEN_FILE"'),
      expect.stringContaining(pack),
    ]);
  // Variables that a pipeline is started with count more than those of the file.
  expect(Object.keys(gitlabRest.variables!).sort()).toEqual(["AWS_WEB_IDENTITY_TOKEN_FILE", "NODE_EXTRA_CA_CERTS"]);
  expect(text(".gitlab-ci.yml") + sharedText("gitlab.yml")).not.toMatch(/AWS_(ACCESS_KEY|SECRET|SESSION)|PASSPHRASE/);
});

test("both forges keep plans by the commit's content, and apply the kept plan", () => {
  const upload = action.runs.steps.find(({ uses }) => uses?.startsWith("actions/upload-artifact@"))!;
  expect(upload.with?.name).toBe("${{ steps.names.outputs.plan }}");
  expect(gitlab.preview!.script).toEqual([
    `export POLICY_PACK="${policyPack}"`,
    `${scripts}/forge.mjs copy "$STACK"`,
    `${scripts}/preview.sh "$STACK"`,
    `${scripts}/forge.mjs save-plan "$STACK"`,
  ]);
  expect(gitlab.preview!.environment).toBeUndefined();
});

test("GitHub: names of artifacts have no slash, and the job fails if git refuses", () => {
  const names = action.runs.steps.find(({ id }) => id === "names")!.run!;
  const bin = mkdtempSync(join(tmpdir(), "names-"));
  const named = (STACK: string, git: string) => {
    writeFileSync(join(bin, "git"), `#!/bin/sh\n${git}\n`, { mode: 0o755 });
    const output = join(bin, "output");
    writeFileSync(output, "");
    const env = { ...process.env, PATH: `${bin}:${process.env.PATH}`, GITHUB_OUTPUT: output, STACK };
    const { status } = spawnSync("bash", ["-e", "-c", names], { env });
    return { status, output: readFileSync(output, "utf8") };
  };
  const tree = "echo 0a1b";
  expect(named("staging", tree)).toEqual({ status: 0, output: "plan=plan-staging-0a1b\ncopy=copy-staging\n" });
  expect(named("acme/trade/dev", tree).output).toBe("plan=plan-acme.trade.dev-0a1b\ncopy=copy-acme.trade.dev\n");
  expect(named("staging", "exit 128")).toEqual({ status: 128, output: "" });
});

test("the workflows and the configuration files have the same stacks", () => {
  const stacks = found(readdirSync(folder).join("\n"), /^Pulumi\.(\w+)\.yaml$/gm).sort();
  const files = [...workflows.map(({ file }) => file), ".gitlab-ci.yml"].map(text);
  const named = files.flatMap((one) => found(one, /stacks?: \[(.*?)\]/gi));
  expect(named.map((list) => list.split(", ").sort())).toEqual(Array(3).fill(stacks));
  const reported = workflowOf("preview").jobs.comment!.steps.find(isOurs)!.with!.stack as string;
  expect(reported.split(" ").sort()).toEqual(stacks);
  expect(Object.keys(workflowOf("apply").jobs).sort()).toEqual(stacks);
});

test("a template's inputs: a folder has a slash at its end, and stacks must be given", () => {
  const filled = (folder: string) => interpolated(sharedText("gitlab.yml"), { stacks: ["one"], folder });
  const { preview, comment } = parse(filled("network/")) as typeof gitlab;
  expect(preview).toMatchObject({
    parallel: { matrix: [{ STACK: ["one"] }] },
    artifacts: { paths: ["network/plans/"] },
  });
  expect(comment).toMatchObject({ before_script: ['cd "./network/"', "npm ci --ignore-scripts"] });
  expect(() => filled("network")).toThrow("folder may not be network");
  expect(() => interpolated(sharedText("gitlab.yml"), {})).toThrow("inputs: stacks");
});
