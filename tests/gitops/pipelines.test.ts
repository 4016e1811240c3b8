import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pages } from "../docs/markdown";
import { installFromPyPI } from "../support/pypi";
import { folder, found, gitlab, gitlabRest, stages, text, workflowOf, workflows } from "./files";

/* What the pipelines of GitHub and GitLab would do, as far as their files say it. */

/** As docs/policies.md has it. */
const policyPack = "node_modules/pulumi-consortium/policy-pack";

describe.each(workflows)("$file", ({ file, workflow, jobs, steps }) => {
  test("starts on something, with rights that are listed, and every job ends some time", () => {
    expect(Object.keys(workflow.on).length).toBeGreaterThan(0);
    expect(workflow.permissions).toMatchObject({ contents: "read" });
    expect(jobs.filter((job) => job["timeout-minutes"] === undefined)).toEqual([]);
  });

  test("actions are official ones, each pinned to a commit, with its version beside it", () => {
    const actions = steps.flatMap(({ uses }) => uses ?? []);
    expect(actions.filter((one) => !/^(actions|pulumi|aws-actions)\/[\w-]+@[0-9a-f]{40}$/.test(one))).toEqual([]);
    expect(actions).toEqual(expect.arrayContaining([expect.stringMatching(/^pulumi\/actions@/)]));
    expect(found(text(file), /uses: (.*)$/gm).filter((one) => !/ # v\d+\.\d+\.\d+$/.test(one))).toEqual([]);
  });

  test("the token of a job does not stay in the checkout, and may write only what the job writes", () => {
    const checkouts = steps.filter(({ uses }) => uses?.startsWith("actions/checkout@"));
    for (const one of checkouts) expect(one.with).toEqual({ "persist-credentials": false });
    expect(workflow.permissions).toEqual({ contents: "read" });
    for (const job of jobs) {
      const writes = job.steps.some(({ run }) => /github\.mjs (comment|issue)/.test(run ?? ""));
      const rights = Object.entries(job.permissions ?? {}).filter(([name]) => name !== "id-token");
      expect(rights.some(([, right]) => right === "write")).toBe(writes);
    }
  });

  test("jobs that use the state assume a role for it, with no key of the cloud; policies are checked", () => {
    const using = jobs.filter((job) => job.steps.some(({ env }) => env?.PULUMI_BACKEND_URL !== undefined));
    expect(using.length).toBeGreaterThan(0);
    for (const job of using) {
      expect(job.permissions).toMatchObject({ "id-token": "write" });
      const assumed = job.steps.findIndex(({ uses }) => uses?.startsWith("aws-actions/configure-aws-credentials@"));
      const used = job.steps.findIndex(({ env }) => env?.PULUMI_BACKEND_URL !== undefined);
      expect(job.steps[assumed]!.with).toEqual({
        "role-to-assume": "${{ vars.AWS_ROLE_ARN }}",
        "aws-region": "${{ vars.AWS_REGION }}",
      });
      expect(assumed).toBeLessThan(used);
    }
    expect(jobs.filter((job) => !using.includes(job)).some((job) => job.permissions?.["id-token"])).toBe(false);
    expect(text(file)).not.toMatch(/AWS_(ACCESS_KEY|SECRET|SESSION)|PASSPHRASE/);
    const plans = steps.some(({ run }) => /scripts\/(preview|apply)\.sh/.test(run ?? ""));
    expect(workflow.env?.POLICY_PACK).toBe(plans ? policyPack : undefined);
  });

  test("jobs that touch a stack have its environment, and never run twice at once", () => {
    const touching = jobs.filter((job) => job.steps.some(({ run }) => /scripts\/(apply|drift)\.sh/.test(run ?? "")));
    for (const { environment, concurrency, env } of touching) {
      expect(environment?.endsWith(env!.STACK!)).toBe(true);
      expect(workflow.concurrency ?? concurrency).toMatchObject({ "cancel-in-progress": false });
    }
    expect(workflow.concurrency ?? touching.length).toBeTruthy();
  });
});

test("one version of each action in all workflows", () => {
  const pins = workflows.flatMap(({ steps }) => steps.flatMap(({ uses }) => uses ?? []));
  expect(new Set(pins).size).toBe(new Set(pins.map((one) => one.split("@")[0])).size);
});

test("GitHub: production waits for staging, and a run that waits is never cancelled, not by drift either", () => {
  const { jobs, concurrency } = workflowOf("apply");
  expect(Object.keys(jobs)).toEqual(["staging", "production"]);
  expect(jobs).toMatchObject({
    staging: { environment: "staging", env: { STACK: "staging" } },
    production: { environment: "production", env: { STACK: "production" }, needs: "staging" },
  });
  // GitHub keeps one waiting run of a group, unless the group is a queue.
  expect(concurrency).toEqual({ group: "apply", "cancel-in-progress": false, queue: "max" });
  const groups = Object.values(workflowOf("drift").jobs).map((job) => job.concurrency!.group);
  expect(groups).toEqual(["drift-${{ matrix.stack }}"]);
});

test("GitHub: an issue for drift, and only for drift", () => {
  const { steps } = workflowOf("drift").jobs.drift!;
  const look = steps.find(({ run }) => run?.includes("scripts/drift.sh"))!.run!;
  const ends = (code: number): { status: number; output: string } => {
    const output = join(mkdtempSync(join(tmpdir(), "drift-")), "output");
    const run = look.replace('scripts/drift.sh "$STACK"', `(exit ${code})`);
    const { status } = spawnSync("bash", ["-e", "-c", run], { env: { ...process.env, GITHUB_OUTPUT: output } });
    return { status: status!, output: readFileSync(output, "utf8") };
  };
  expect([0, 1, 2, 137].map((code) => ends(code))).toEqual([
    { status: 0, output: "code=0\n" },
    { status: 1, output: "code=1\n" },
    { status: 0, output: "code=2\n" },
    { status: 137, output: "code=137\n" },
  ]);
  const [issue] = steps.filter(({ run }) => run?.includes("issue"));
  expect(issue).toMatchObject({ if: "steps.drift.outputs.code == '2'", run: 'scripts/github.mjs issue "$STACK"' });
});

test("GitLab: production waits for staging, of a stack never two runs at once, and none that waits is cancelled", () => {
  expect(stages.indexOf("production")).toBeGreaterThan(stages.indexOf("staging"));
  for (const stack of ["staging", "production"]) {
    expect(gitlab[stack]).toMatchObject({
      stage: stack,
      variables: { STACK: stack },
      environment: { name: stack },
      resource_group: `apply-${stack}`,
      interruptible: false,
      script: ['scripts/gitlab.sh plan "$STACK"', 'scripts/apply.sh "$STACK"'],
    });
  }
  expect(gitlab.staging!.needs).toBeUndefined();
  expect(gitlab.production!.needs).toEqual(["staging"]);
  expect(gitlab.drift).toMatchObject({ resource_group: "drift-$STACK", environment: { name: "drift-$STACK" } });
  expect(gitlabRest.workflow).toMatchObject({ auto_cancel: { on_new_commit: "interruptible" } });
});

test("GitLab: jobs have a stage that is listed, and only the one that comments has the token", () => {
  expect(Object.values(gitlab).filter(({ stage }) => !stages.includes(stage!))).toEqual([]);
  const scoped = /^\| `GITLAB_COMMENT_TOKEN` +\| GitLab: environment `([^`]+)`/m.exec(text("README.md"))?.[1];
  const having = Object.entries(gitlab).filter(([, { environment }]) => environment?.name === scoped);
  expect(having.map(([name]) => name)).toEqual(["comment"]);
  expect(gitlab.comment).toMatchObject({ before_script: [], script: ["scripts/gitlab.sh comment staging production"] });
});

test("GitLab: jobs that use the state have a token for its role, and no other job has; policies are checked", () => {
  const using = Object.keys(gitlab).filter((name) => gitlab[name]!.id_tokens !== undefined);
  expect(using.sort()).toEqual(["drift", "preview", "production", "staging"]);
  for (const name of using)
    expect(gitlab[name]!.before_script!.at(-1)).toContain('"$STATE_TOKEN" >"$AWS_WEB_IDENTITY_TOKEN_FILE"');
  expect(gitlabRest.variables).toMatchObject({ POLICY_PACK: policyPack });
  expect(text(".gitlab-ci.yml")).not.toMatch(/AWS_(ACCESS_KEY|SECRET|SESSION)|PASSPHRASE/);
});

test("both forges keep what was planned under the content of the commit, and apply what is kept there", () => {
  const { steps } = workflowOf("preview").jobs.plan!;
  const upload = steps.find(({ uses }) => uses?.startsWith("actions/upload-artifact@"))!;
  expect(upload.with?.name).toBe("plan-${{ matrix.stack }}-${{ steps.commit.outputs.tree }}");
  expect(gitlab.preview!.script).toEqual(['scripts/preview.sh "$STACK"', 'scripts/gitlab.sh save "$STACK"']);
});

describe("what the forges themselves would refuse", () => {
  jest.setTimeout(300_000); // the first time they are installed
  const paths = workflows.map(({ file }) => join(folder, file));
  const ownFolder = join(__dirname, "../../.github/workflows");
  const own = readdirSync(ownFolder).map((name) => join(ownFolder, name));

  /** The pipelines of a page, as files: the first line names each. */
  const inDocs = pages
    .flatMap(({ blocks }) => blocks)
    .flatMap(({ text: pipeline }) => {
      const [, name] = /^# (\S+\.yml)$/m.exec(pipeline.split("\n")[0]!) ?? [];
      if (name === undefined) return [];
      // the name that .github/actionlint.yaml knows
      const file = join(
        mkdtempSync(join(tmpdir(), "pipeline-")),
        name.replace("workflows/fleet.yml", "workflows/apply.yml"),
      );
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, pipeline);
      return [file];
    });
  const [onGithub, onGitlab] = [true, false].map((is) => inDocs.filter((file) => file.includes("/.github/") === is));

  /** GitHub's linter. It is older than one key; its own configuration says which, for people, too. */
  const actionlint = (files: string[], ...flags: string[]): string =>
    spawnSync("go", ["tool", "actionlint", "-no-color", ...flags, ...files], {
      cwd: join(__dirname, "actionlint"),
      encoding: "utf8",
      env: { ...process.env, GOFLAGS: "-mod=readonly", GOWORK: "off" },
    }).stdout;

  test("actionlint has nothing to say of the workflows, this repository's own included", () => {
    const config = ["-config-file", join(folder, ".github/actionlint.yaml")];
    expect(onGithub).toHaveLength(1);
    expect(actionlint([...paths, ...own, ...onGithub!], ...config)).toBe("");
    const wrong = join(mkdtempSync(join(tmpdir(), "actionlint-")), "apply.yml");
    writeFileSync(wrong, text(".github/workflows/apply.yml").replace("needs: staging", "needs: stagging"));
    expect(actionlint([wrong])).toContain('"stagging"');
  });

  test("the schemas of GitHub and GitLab have nothing to say of the files", async () => {
    const bin = await installFromPyPI("ci-schemas", join(__dirname, "requirements.txt"));
    const check = (schema: string, ...files: string[]): { status: number | null; stdout: string } =>
      spawnSync(join(bin, "check-jsonschema"), ["--builtin-schema", schema, ...files], { encoding: "utf8" });
    const gitlabSchema = ["vendor.gitlab-ci", "--data-transform", "gitlab-ci"] as const;
    expect(check("vendor.github-workflows", ...paths, ...own, ...onGithub!)).toMatchObject({ status: 0 });
    expect(onGitlab).toHaveLength(2);
    expect(check(...gitlabSchema, join(folder, ".gitlab-ci.yml"), ...onGitlab!)).toMatchObject({ status: 0 });
    const wrong = join(mkdtempSync(join(tmpdir(), "gitlab-")), "ci.yml");
    writeFileSync(wrong, text(".gitlab-ci.yml").replace("on_new_commit: interruptible", "on_new_commit: never"));
    expect(check(...gitlabSchema, wrong)).toMatchObject({
      status: 1,
      stdout: expect.stringContaining("never") as string,
    });
  });
});

test("the stacks of the workflows are those that have a configuration", () => {
  const stacks = readdirSync(folder)
    .flatMap((file) => found(file, /^Pulumi\.(\w+)\.yaml$/g))
    .sort();
  const named = [...workflows.map(({ file }) => file), ".gitlab-ci.yml"].flatMap((file) =>
    found(text(file), /stack: \[(.*)\]/gi),
  );
  expect(named.map((list) => list.split(", ").sort())).toEqual(named.map(() => stacks));
  expect(Object.keys(workflowOf("apply").jobs).sort()).toEqual(stacks);
});
