import { execFileSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { complaintsAbout, documentsIn } from "./operator";
import { action, filesIn, folder, found, gitlab, scripts, shared, sharedText, text, workflows } from "./files";

const commands = [
  ...workflows.flatMap(({ steps }) => steps.flatMap(({ run }) => run ?? [])),
  ...action.runs.steps.flatMap(({ run }) => run ?? []),
  ...Object.values(gitlab).flatMap(({ script }) => script ?? []),
];

test.each(scripts)("%s is executable and valid, and a shell stops at its first error", (file) => {
  expect(statSync(join(shared, file)).mode & 0o111).toBe(0o111);
  const isNode = file.endsWith(".mjs");
  execFileSync(isNode ? process.execPath : "bash", [isNode ? "--check" : "-n", join(shared, file)]);
  const head = isNode ? /^#!\/usr\/bin\/env node\n/ : /^#!\/usr\/bin\/env bash\n[^]*^set -euo pipefail$/m;
  expect(sharedText(file)).toMatch(head);
});

test("every script that the action, the template or a script calls exists, and each is called", () => {
  const calling = [
    ...commands.flatMap((one) => ["apply.sh", "drift.sh"].map((file) => one.replace("$STEP.sh", file))),
    ...scripts.map(sharedText),
  ];
  const called = calling.flatMap((command) =>
    found(command, /(?:\$here|node_modules\/pulumi-consortium\/gitops)\/([\w-]+\.\w+)/g),
  );
  expect([...new Set(called)].sort()).toEqual(scripts.sort());
});

test.each(commands)("%s is valid for a shell", (command) => {
  execFileSync("bash", ["-n"], { input: command.replaceAll(/\$\{\{.*?\}\}/g, "value"), stdio: "pipe" });
});

test.each([
  ["Variables", /fromJSON\(inputs\.variables\)\.(\w+)/g],
  ["Secrets", /(?:secrets\.|env\.)((?<=secrets\.)\w+|GITLAB_COMMENT_TOKEN)/g],
])("%s: each is documented, and each documented one is used", (heading, use) => {
  const all = [...workflows.map(({ file }) => text(file)), sharedText("action.yml"), ...scripts.map(sharedText)].join(
    "\n",
  );
  const section = text("README.md")
    .split(/^## /m)
    .find((part) => part.startsWith(heading))!;
  const documented = found(section, /^\| `([A-Z_]+)`/gm).sort();
  expect([...new Set(found(all, use))].sort()).toEqual(documented);
});

interface Named extends Record<string, unknown> {
  kind: string;
  metadata: { name: string; namespace?: string };
  spec?: { serviceAccountName?: string; programRef?: { name: string }; prerequisites?: { name: string }[] };
}
interface Resources {
  resources?: Record<string, { type: string }>;
}

describe("manifests of the Kubernetes operator", () => {
  const manifests = filesIn("operator");

  test.each(manifests)("%s is valid for the operator", (file) => {
    expect(complaintsAbout(text(file))).toEqual([]);
  });

  test.each([
    ["repoDir", "repodir", /^Stack network-staging: spec: .*"repodir"/],
    ["branch:", "programRef: { name: x }\n  branch:", /projectRepo or from programRef/],
    ["branch: main", "", /needs a branch or a commit/],
    ["https://git.example.com/trade", "git@git.example.com:trade", /no address that the operator/],
  ])("a Stack with another %j is not: %j", (right, wrong, complaint) => {
    const manifest = text("operator/stack-staging.yaml").replace(right, wrong);
    expect(complaintsAbout(manifest)).toEqual([expect.stringMatching(complaint)]);
  });

  test("every reference between manifests resolves", () => {
    const all = manifests.flatMap((file) => documentsIn(text(file))) as Named[];
    const names = (kind: string): string[] =>
      all.filter((one) => one.kind === kind).map(({ metadata }) => metadata.name);
    for (const { spec } of all) {
      if (spec?.serviceAccountName) expect(names("ServiceAccount")).toContain(spec.serviceAccountName);
      if (spec?.programRef) expect(names("Program")).toContain(spec.programRef.name);
      for (const { name } of spec?.prerequisites ?? []) expect(names("Stack")).toContain(name);
    }
  });

  test("the commands of docs/operator.md apply all prerequisites, with a secret for each stack", () => {
    const page = readFileSync(join(folder, "../../docs/operator.md"), "utf8");
    const [, command = ""] = /^(kubectl apply .*)$/m.exec(page)!;
    const applied = found(command, /-f (\S+)/g).flatMap((file) => documentsIn(text(file))) as Named[];
    const stacks = applied.filter(({ kind }) => kind === "Stack");
    const names = stacks.map(({ metadata }) => metadata.name);
    expect(names.sort()).toEqual(["network-production", "network-staging"]);
    const needed = stacks.flatMap(({ spec }) => spec?.prerequisites ?? []).map(({ name }) => name);
    expect(needed).toEqual(["network-staging"]);
    const [, list = ""] = /^for stack in (.*); do$/m.exec(page)!;
    const secrets = list.split(" ").map((stack) => `network-${stack}`);
    expect(secrets.sort()).toEqual(names);
  });

  test("no Program declares resources that need a program in TypeScript", () => {
    const types = manifests
      .flatMap((file) => documentsIn(text(file)))
      .flatMap(({ program }) => Object.values((program as Resources | undefined)?.resources ?? {}))
      .map(({ type }) => type);
    expect(types).toEqual(["pulumi:pulumi:StackReference"]);
  });
});
