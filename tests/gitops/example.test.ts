import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { complaintsAbout, documentsIn } from "../support/operator";
import { operatorCrds, refusedBy } from "../support/operator-crds";

const folder = join(__dirname, "../../examples/gitops");
const text = (file: string): string => readFileSync(join(folder, file), "utf8");
const filesIn = (path: string): string[] => readdirSync(join(folder, path)).map((name) => `${path}/${name}`);
const found = (from: string, pattern: RegExp): string[] => [...from.matchAll(pattern)].map(([, name = ""]) => name);

interface Job {
  steps: { uses?: string; run?: string; if?: string }[];
  environment?: string;
  concurrency?: { group: string; "cancel-in-progress": boolean };
  "timeout-minutes"?: number;
}
interface Workflow {
  on: object;
  permissions: object;
  concurrency?: object;
  jobs: Record<string, Job>;
}

const workflows = filesIn(".github/workflows").map((file) => {
  const workflow = parse(text(file)) as Workflow;
  const jobs = Object.values(workflow.jobs);
  return { file, workflow, jobs, steps: jobs.flatMap(({ steps }) => steps) };
});
const gitlab = parse(text(".gitlab-ci.yml"), { merge: true }) as Record<
  string,
  { script?: string[]; [key: string]: unknown }
>;
const commands = [
  ...workflows.flatMap(({ steps }) => steps.flatMap(({ run }) => run ?? [])),
  ...Object.values(gitlab).flatMap(({ script }) => script ?? []),
];

test.each(filesIn("scripts"))("%s is executable and valid", (file) => {
  expect(statSync(join(folder, file)).mode & 0o111).toBe(0o111);
  execFileSync("bash", ["-n", join(folder, file)]);
  expect(text(file)).toMatch(/^#!\/usr\/bin\/env bash\n[^]*^set -euo pipefail$/m);
});

test("every script that a workflow calls exists, and each is called", () => {
  const called = commands.flatMap((command) => found(command, /(scripts\/[\w-]+\.sh)/g));
  expect([...new Set(called)].sort()).toEqual(filesIn("scripts").sort());
});

test.each(commands)("%s is valid for a shell", (command) => {
  execFileSync("bash", ["-n"], { input: command.replaceAll(/\$\{\{.*?\}\}/g, "value"), stdio: "pipe" });
});

test("every secret is documented, and every documented one is used", () => {
  const all = [...workflows.map(({ file }) => text(file)), ...filesIn("scripts").map(text)].join("\n");
  const documented = found(text("README.md"), /^\| `([A-Z_]+)`/gm).sort();
  const secrets = found(all, /secrets\.(\w+)/g);
  expect([...new Set([...secrets, ...found(all, /\$(GITLAB_COMMENT_TOKEN)/g)])].sort()).toEqual(documented);
});

describe.each(workflows)("$file", ({ workflow, jobs, steps }) => {
  test("starts on something, with rights that are listed, and every job ends some time", () => {
    expect(Object.keys(workflow.on).length).toBeGreaterThan(0);
    expect(workflow.permissions).toMatchObject({ contents: "read" });
    expect(jobs.filter((job) => job["timeout-minutes"] === undefined)).toEqual([]);
  });

  test("actions are official ones, each with its version", () => {
    const actions = steps.flatMap(({ uses }) => uses ?? []);
    expect(actions.filter((one) => !/^(actions|pulumi)\/[\w-]+@v\d+$/.test(one))).toEqual([]);
    expect(actions).toEqual(expect.arrayContaining([expect.stringMatching(/^pulumi\/actions@/)]));
  });

  test("jobs that touch a stack have its environment, and never run twice at once", () => {
    const touching = jobs.filter((job) => job.steps.some(({ run }) => /scripts\/(apply|drift)\.sh/.test(run ?? "")));
    for (const { environment, concurrency } of touching) {
      expect(environment).toMatch(/\$\{\{ matrix.stack \}\}/);
      expect(concurrency).toEqual({ group: "network-${{ matrix.stack }}", "cancel-in-progress": false });
    }
    expect(workflow.concurrency ?? touching.length).toBeTruthy();
  });
});

test("jobs of .gitlab-ci.yml have a stage that is listed, and those that touch a stack its environment and a lock", () => {
  const { stages, ...rest } = gitlab as unknown as { stages: string[] } & Record<string, Record<string, unknown>>;
  const jobs = Object.entries(rest).filter(([, job]) => "script" in job);
  expect(jobs.map(([, { stage }]) => stage)).toEqual(stages);
  for (const name of ["apply", "drift"]) {
    expect(rest[name]).toMatchObject({
      resource_group: "network-$STACK",
      environment: { name: expect.stringContaining("$STACK") as string },
    });
  }
});

test("the stacks of the workflows are those that have a configuration", () => {
  const stacks = readdirSync(folder)
    .flatMap((file) => found(file, /^Pulumi\.(\w+)\.yaml$/g))
    .sort();
  const named = workflows.flatMap(({ file }) => found(text(file), /stack: \[(.*)\]/g));
  expect(named.map((list) => list.split(", ").sort())).toEqual(named.map(() => stacks));
});

interface Resources {
  resources?: Record<string, { type: string }>;
}

describe("manifests of the Kubernetes operator", () => {
  const manifests = filesIn("operator");
  const crds = operatorCrds();

  test.each(manifests)("%s holds what the operator takes", (file) => {
    expect(complaintsAbout(text(file))).toEqual([]);
  });

  if (crds) {
    test.each(manifests)("%s fits the operator's CRDs", (file) => {
      expect(refusedBy(crds, text(file))).toEqual([]);
    });
  }

  test("what one names, another has", () => {
    const all = manifests.flatMap((file) => documentsIn(text(file))) as {
      kind: string;
      metadata: { name: string; namespace?: string };
      spec?: { serviceAccountName?: string; programRef?: { name: string }; prerequisites?: { name: string }[] };
    }[];
    const names = (kind: string): string[] =>
      all.filter((one) => one.kind === kind).map(({ metadata }) => metadata.name);
    for (const { spec } of all) {
      if (spec?.serviceAccountName) expect(names("ServiceAccount")).toContain(spec.serviceAccountName);
      if (spec?.programRef) expect(names("Program")).toContain(spec.programRef.name);
      for (const { name } of spec?.prerequisites ?? []) expect(names("Stack")).toContain(name);
    }
  });

  test("no Program declares what only a program in TypeScript can make", () => {
    const types = manifests
      .flatMap((file) => documentsIn(text(file)))
      .flatMap(({ program }) => Object.values((program as Resources | undefined)?.resources ?? {}))
      .map(({ type }) => type);
    expect(types).toEqual(["pulumi:pulumi:StackReference"]);
  });
});
