import { execFileSync, spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { transformSync } from "esbuild";
import { send } from "../../support/network";
import { programOf } from "../support/backends/programs";
import { startS3 } from "../support/backends/s3";
import { Forge, type Job, type Runner, tokenWith } from "../support/forges";
import { github } from "../support/github";
import { gitlab } from "../support/gitlab";
import { failed, finished, onNewest, root, withoutCompiler } from "../support/stack";
import { encrypted, initStack, outputsIn, passphrase, salt, stateFile, stateIn } from "../support/state-file";
import { canaryKey, type World, world } from "../support/world";

const example = join(root, "examples/gitops");
const word = "a-word-that-nobody-may-see";
const states = (): string => join(w.stack.folder, "state");
let w: World;
let forge: Forge;
let runner: Runner;
/** The team's clone of the bare repository. */
let clone: string;

const git = (...args: string[]): string =>
  execFileSync("git", ["-C", clone, ...args], { encoding: "utf8", stdio: "pipe" });
const read = (file: string): string => readFileSync(join(clone, file), "utf8");
const write = (file: string, text: string): void => writeFileSync(join(clone, file), text);

/** A commit on a separate branch, as pull request 3: the forge creates the ref that its pipelines check out. */
function propose(file: string, change: (text: string) => string): void {
  git("checkout", "--quiet", "-B", "change", "main");
  write(file, change(read(file)));
  git("commit", "--quiet", "-a", "-m", "A change");
  git("push", "--quiet", "--force", "origin", "change", "change:refs/pull/3/merge");
}

/** Squashes it: another commit than the pull request's, with the same content. */
function merge(): void {
  git("checkout", "--quiet", "main");
  git("merge", "--quiet", "--squash", "change");
  push("A change (#3)");
}
/** A commit on main. */
function push(message: string): void {
  git("commit", "--quiet", "--all", "-m", message);
  git("push", "--quiet", "origin", "main");
}

const pullRequest = { number: 3, head: { repo: { full_name: "acme/network" } }, base: { ref: "main" } };
const preview = (): Promise<Record<string, Job>> =>
  github(runner, "preview.yml", "refs/pull/3/merge", { name: "pull_request", payload: { pull_request: pullRequest } });
const apply = (inputs?: { approve: string }): Promise<Record<string, Job>> =>
  github(runner, "apply.yml", "main", inputs ? { name: "workflow_dispatch", payload: { inputs } } : { name: "push" });
const comment = (): string => forge.written[1]!.body;
const report = ({ folder }: Pick<Job, "folder">): string => readFileSync(join(folder, "report.md"), "utf8");
const digestIn = (text: string): string => /^> Digest of the plan of .*`([0-9a-f]{64})`$/m.exec(text)![1]!;

/** A check calls nodes, too: that changes nothing in the service. */
const writes = (): string[] =>
  w.service.calls
    .filter(({ method, path }) => method !== "GET" && !path.startsWith("/runtime/"))
    .map(({ method, path }) => `${method} ${path}`);
/** The member of staging, which was made first. */
async function renameMember(): Promise<void> {
  const { consortia, memberships } = await w.network();
  const path = `/consortia/${String(consortia[0]!._id)}/memberships/${String(memberships[0]!._id)}`;
  await send(w.service, "PATCH", path, { org_name: "changed meanwhile" });
}
const describeByHand = async (description: string): Promise<void> => {
  const all = (await w.network()).consortia;
  const { _id: id } = all.find(({ name }) => name === "trade-staging")!;
  await send(w.service, "PATCH", `/consortia/${String(id)}`, { description });
};

jest.setTimeout(1_800_000); // the first time, act is built

/** The example in a repository of its own, its program compiled once, and two stacks that somebody made. */
beforeAll(async () => {
  for (const program of ["zip", "unzip"]) await programOf(program, program);
  w = await world("");
  forge = await Forge.start([{ id: 1, number: 1, body: "An opinion" }]);
  const { repository, ...team } = forge.repository();
  clone = team.clone;
  const filter = (from: string): boolean => !/node_modules|index\.ts$/.test(from.slice(example.length));
  cpSync(example, clone, { recursive: true, filter });
  mkdirSync(join(clone, "gitops"));
  for (const file of ["action.yml", "gitlab.yml"]) cpSync(join(root, "gitops", file), join(clone, "gitops", file));
  const options = "runtime:\n  name: nodejs\n  options: { typescript: false }";
  write("Pulumi.yaml", read("Pulumi.yaml").replace("runtime: nodejs", options));
  write("package.json", JSON.stringify({ name: "trade-network", main: "index.js" }));
  const program = readFileSync(join(example, "index.ts"), "utf8");
  write("index.js", transformSync(program, { loader: "ts", format: "cjs" }).code);
  for (const stack of ["staging", "production"]) {
    const file = `Pulumi.${stack}.yaml`;
    const open = read(file).replace("protect: true", "protect: false"); // one request replaces both ledgers
    write(file, `${open}  trade-network:word: ${JSON.stringify(encrypted(word))}\nencryptionsalt: ${salt}\n`);
    initStack(states(), "trade-network", stack);
  }
  // Stacks with a passphrase: README.md names the input.
  for (const file of ["apply", "drift"].map((name) => `.github/workflows/${name}.yml`)) {
    const key = 'api-key: "${{ secrets.CONSORTIUM_API_KEY }}"';
    write(file, read(file).replaceAll(key, `${key}, passphrase: "\${{ secrets.PULUMI_CONFIG_PASSPHRASE }}"`));
  }
  git("add", "--all");
  push("A network");

  // Replaces `npm ci` and `npx`, because npm is slow to start.
  const bin = forge.programs({
    npm: `test "$1" = ci && ln -s "${join(w.stack.folder, "node_modules")}" node_modules`,
    npx: `test "$1" = --no-install && shift && exec "node_modules/.bin/$@"`,
  });
  mkdirSync(join(w.stack.folder, "node_modules/.bin"));
  const command = `#!/bin/sh\nexec node "${root}/dist/cli/consortium.js" "$@"\n`;
  writeFileSync(join(w.stack.folder, "node_modules/.bin/consortium"), command, { mode: 0o755 });
  const { PULUMI_BACKEND_URL, PULUMI_CONFIG_PASSPHRASE } = w.stack.env;
  runner = {
    forge,
    repository,
    env: {
      ...w.stack.env,
      CONSORTIUM_API_KEY: undefined,
      PULUMI_BACKEND_URL: undefined,
      PULUMI_CONFIG_PASSPHRASE: undefined,
      PATH: `${bin}:${w.stack.env.PATH}`,
      NODE_OPTIONS: withoutCompiler,
    },
    // Jobs without an environment, such as previews, have nothing.
    settings: (environment) =>
      environment === ""
        ? { vars: {}, secrets: {} }
        : {
            vars: { PULUMI_BACKEND_URL, AWS_ROLE_ARN: "arn:aws:iam::123456789012:role/network-state" },
            secrets: { CONSORTIUM_API_KEY: canaryKey, PULUMI_CONFIG_PASSPHRASE },
          },
  };
});

/** Runs a script in the checkout of a job that is over. */
const script = (
  folder: string,
  name: string,
  args: string[],
  env: Record<string, string> = {},
  hear?: (text: string) => void,
) => {
  const child = spawn(join(root, "gitops", name), args, {
    cwd: folder,
    env: {
      ...runner.env,
      ...w.stack.env,
      PATH: runner.env.PATH,
      NODE_OPTIONS: withoutCompiler,
      CONSORTIUM_API_KEY: canaryKey,
      ...env,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  child.stderr.on("data", (chunk) => hear?.(String(chunk)));
  return finished(child);
};

const locks = (): string => join(states(), ".pulumi/locks/organization/trade-network/staging");
/** Somebody else is changing staging. */
function lock(): void {
  const holder = { pid: 1, username: "somebody", hostname: "elsewhere", timestamp: new Date() };
  mkdirSync(locks(), { recursive: true });
  writeFileSync(join(locks(), "7d6f1c1e-0000-4000-8000-000000000000.json"), JSON.stringify(holder));
}
const unlock = (): void => rmSync(locks(), { recursive: true });

/** One story: each test goes on where the one before it ended. */
describe("GitHub Actions on an independent runner, from pull request to apply", () => {
  /** The checkout of a job that applied staging. */
  let last: string;

  test("without a copy of the state, a preview says how to make one; the nightly job makes it, without secrets", async () => {
    propose("README.md", (text) => `${text}\nOurs.\n`);
    const none = await preview();
    const said = expect.stringContaining("run the workflow drift on the main branch once") as string;
    expect(none).toMatchObject({ "plan (staging)": { code: 1, text: said }, comment: { code: 2 } });
    const jobs = await github(runner, "drift.yml", "main", { name: "schedule" });
    expect(jobs).toMatchObject({ "drift (staging)": { code: 0 }, "drift (production)": { code: 0 } });
    expect(forge.artifacts.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["copy-production", "copy-staging"]),
    );
    w.service.clearCalls();
  });

  test("a pull request: one comment on both stacks, with policy results; plans are kept, and the service is not called", async () => {
    const jobs = await preview();
    const ok = { code: 0 };
    expect(jobs).toMatchObject({ "plan (staging)": ok, "plan (production)": ok, comment: ok });
    expect(comment()).toContain("### `trade-network/staging`\n\n5 created");
    expect(comment()).toContain("### `trade-network/production`\n\n10 created");
    expect(comment()).toContain("| advice | `balanced-membership` |");
    expect(comment()).toMatch(
      /^\[Maps of what this does\]\(https:\/\/forge\/acme\/network\/actions\/runs\/\d+#artifacts\)$/m,
    );
    expect(readdirSync(join(jobs.comment!.folder, "maps"))).toEqual(["production.svg", "staging.svg"]);
    const tree = git("rev-parse", "change^{tree}").trim();
    const names = forge.artifacts.map(({ name }) => name).sort();
    expect(new Set(names)).toEqual(
      new Set(["copy-production", "copy-staging", "maps", `plan-production-${tree}`, `plan-staging-${tree}`]),
    );
    expect(w.service.calls).toEqual([]);
  });

  test("the merge: the approved plans are applied to staging, then to production", async () => {
    merge();
    const jobs = await apply();
    expect(jobs).toMatchObject({ staging: { code: 0 }, production: { code: 0 } });
    const names = (await w.network()).nodes.map(({ name }) => name).sort();
    expect(names).toEqual(["carrier-1", "carrier-2", "harbour-1", "harbour-1", "harbour-2"]);
    last = jobs.staging!.folder;
  });

  test("no plan, report or comment contains a key, a password or secret configuration", async () => {
    propose("Pulumi.staging.yaml", (text) => text.replace("nodesPerMember: 1", "nodesPerMember: 2"));
    const jobs = await preview();
    expect(jobs).toMatchObject({ comment: { code: 0 } });
    expect(forge.written).toHaveLength(2); // the same comment
    const { logins } = outputsIn(stateIn(stateFile(states(), "trade-network", "staging"))) as {
      logins: { password: string }[];
    };
    const { folder } = jobs["plan (staging)"]!;
    const made = ["plans", "copies"].map((from) => readFileSync(join(folder, from, "staging.json"), "utf8"));
    expect(made).toEqual([/"resourcePreEvent"/, /"plaintext"/].map((kind) => expect.stringMatching(kind) as string));
    expect(readdirSync(join(folder, "plans"))).toEqual(["staging.json"]);
    const secrets = [canaryKey, passphrase, logins[0]!.password, word, '"ciphertext":"v1:', salt];
    expect(secrets.filter((one) => [...made, comment()].some((text) => text.includes(one)))).toEqual([]);
  });

  test("if the service has changed since, the merge stops, shows the difference, and changes nothing", async () => {
    merge();
    await describeByHand("changed in the console");
    w.service.clearCalls();
    const { staging, production } = await apply();
    last = staging!.folder;
    expect(staging).toMatchObject({ code: 2, text: expect.stringContaining("nothing was done to staging") as string });
    expect(production).toMatchObject({ skipped: true });
    expect(report(staging!)).toContain("> **THIS IS NOT WHAT WAS APPROVED.**");
    const hand = '`description`: `"Who shipped what to whom"` → `"changed in the console"`';
    const back = '`description`: `"changed in the console"` → `"Who shipped what to whom"`';
    const row = `| Consortium \`trade-staging\` | nothing | drifted ${hand}<br>changed ${back} |`;
    expect(report(staging!)).toContain(row);
    expect(report(staging!)).not.toMatch(/^\| Node/m);
    expect(writes()).toEqual([]);
  });

  test("it waits while the stack is locked; a change outside the plan meanwhile stops it", async () => {
    const [consortium] = (await w.network()).consortia;
    lock();
    const change = async (text: string): Promise<void> => {
      if (!text.includes("waiting for another run that holds the lock")) return;
      await renameMember();
      w.service.clearCalls();
      unlock();
    };
    const approved = { APPROVE: digestIn(report({ folder: last })) };
    const stopped = await failed(script(last, "apply.sh", ["staging"], approved, (text) => void change(text)));
    expect(stopped).toMatch(/not allowed by the plan|violates plan/);
    // Steps of the plan may have been done before.
    expect(writes().filter((call) => call !== `PATCH /consortia/${String(consortium!._id)}`)).toEqual([]);
  });

  test("the refreshed values are in the state then, and the rest is a plan that needs approval", async () => {
    expect(await script(last, "apply.sh", ["staging"])).toMatchObject({ code: 2 });
    const { staging } = await apply({ approve: digestIn(report({ folder: last })) });
    expect(staging).toMatchObject({ code: 0 });
    expect((await w.network()).memberships[0]).toMatchObject({ org_name: "harbour" });
    expect((await w.network()).consortia[0]).toMatchObject({ description: "Who shipped what to whom" });
    expect((await w.network()).nodes).toHaveLength(6);
  });

  test("a night without drift, one with a locked stack, and one with a refused key", async () => {
    expect(await script(last, "drift.sh", ["staging"])).toMatchObject({ code: 0 });
    expect(report({ folder: last })).toMatch(/No drift: \d+ unchanged\.\n$/);
    lock();
    const locked = await script(last, "drift.sh", ["staging"], { LOCK_WAIT_SECONDS: "0" });
    unlock();
    // The oldest release locks the stack to compare it, too.
    const [ends, says] = onNewest ? [0, "No drift"] : [1, "the stack is currently locked by 1 lock(s)"];
    expect(locked).toMatchObject({ code: ends, text: expect.stringContaining(says) as string });
    const { code, text } = await script(last, "drift.sh", ["staging"], { CONSORTIUM_API_KEY: "refused" });
    expect({ code, text }).toMatchObject({ code: 1 });
    expect(report({ folder: last })).toContain("**It failed.**");
  });

  test("a night with drift: an issue names it, and nothing is changed", async () => {
    await describeByHand("changed in the console");
    w.service.clearCalls();
    const written = forge.written.length;
    const jobs = await github({ ...runner, stack: "staging" }, "drift.yml", "main", { name: "schedule" });
    expect(jobs).toMatchObject({ "drift (staging)": { code: 0 } });
    expect(forge.written).toHaveLength(written + 1);
    expect(forge.written.at(-1)).toMatchObject({ title: "Drift of staging" });
    expect(forge.written.at(-1)!.body).toContain(
      '| drifted | Consortium `trade-staging` | `description`: `"Who shipped what to whom"` →',
    );
    expect(writes()).toEqual([]);
    await describeByHand("Who shipped what to whom");
  });
});

/** Goes on where GitHub ended. */
describe("GitLab CI on an independent runner, from merge request to apply", () => {
  const pipeline = (ref: string, source: string, given: Record<string, string> = {}) =>
    gitlab(runner, ref, source, { POLICY_PACK: "nowhere", GITOPS: "nowhere", ...given }); // they override nothing

  test("a night with drift of one stack: its job fails, nothing is changed, and the states are copied without their secrets", async () => {
    await describeByHand("changed in the console");
    w.service.clearCalls();
    const jobs = await pipeline("main", "schedule");
    expect(jobs).toMatchObject({ "drift: [staging]": { code: 2 }, "drift: [production]": { code: 0 } });
    expect(writes()).toEqual([]);
    const copies = [...forge.packages.values()].map(String);
    expect(copies).toEqual([1, 2].map(() => expect.stringContaining('"plaintext"') as string));
    expect(copies.join("")).not.toContain("ciphertext");
    await describeByHand("Who shipped what to whom");
  });

  test("a merge request that replaces the ledgers: the comment begins with that", async () => {
    propose("index.js", (text) => text.replace('"raft"', '"ibft"'));
    const before = forge.written.length;
    const token = { GITLAB_COMMENT_TOKEN: tokenWith({ "pull-requests": "write" }) };
    const jobs = await pipeline("change", "merge_request_event", token);
    const all = ["preview: [staging]", "preview: [production]", "report", "comment"];
    expect([Object.keys(jobs), jobs]).toMatchObject([all, Object.fromEntries(all.map((name) => [name, { code: 0 }]))]);
    const tree = git("rev-parse", "change^{tree}").trim();
    const kept = ["staging", "production"].flatMap((stack) =>
      [`plan-${stack}/${tree}`, `copy-${stack}/latest`].map((at) => `/projects/7/packages/generic/${at}/${stack}.json`),
    );
    expect([...forge.packages.keys()].sort()).toEqual(kept.sort());
    expect(forge.written).toHaveLength(before);
    expect(comment()).toMatch(
      /^<!-- consortium comment: .* -->\n\n## What this merge request does\n\n> \[!CAUTION\]\n> \*\*THIS DESTROYS \w+ LEDGER/,
    );
    expect(comment()).toContain("[Maps of what this does](https://forge/jobs/1/artifacts/browse/maps/)");
    // The project of the page has one stack.
    const { folder } = jobs.report!;
    const MAPS = "https://forge/jobs/1/artifacts/browse/maps/";
    rmSync(join(folder, "plans/production.json"));
    const alone = { STACKS: "staging", MAPS };
    expect(await script(folder, "report.sh", ["What this merge request does"], alone)).toMatchObject({ code: 0 });
    const printed = /^````text\n([^]*?)^````$/m.exec(readFileSync(join(root, "docs/reference/report.md"), "utf8"))?.[1];
    const shown = report({ folder })
      .replaceAll(/"e[0-9a-z]{9}"/g, '"ebx4k2m9qd"')
      .replaceAll(/chain \d+/g, "chain 1652122087");
    expect(shown).toBe(printed);
  });

  test("the merge: approval does not cover destroyed ledgers; a digest approves one, and the other stops", async () => {
    merge();
    const before = (await w.network()).environments;
    const { staging: stopped, ...others } = await pipeline("main", "push");
    expect(stopped).toMatchObject({
      code: 2,
      text: expect.stringContaining("nothing was done to staging") as string,
    });
    expect(others).toEqual({});
    expect(report(stopped!)).not.toContain("THIS IS NOT WHAT WAS APPROVED");
    expect((await w.network()).environments).toEqual(before);
    const { staging, production } = await pipeline("main", "web", { APPROVE: digestIn(report(stopped!)) });
    expect([staging, production]).toMatchObject([{ code: 0 }, { code: 2 }]);
    const after = (await w.network()).environments;
    expect(after.map(({ consensus_type: type }) => type).sort()).toEqual(["ibft", "raft"]);
  });
});

test("a key service is called only with the job's token; without it, no secrets can be decrypted", async () => {
  const cloud = await startS3();
  try {
    const headers = { "x-amz-target": "TrentService.CreateKey", "content-type": "application/x-amz-json-1.1" };
    const authorization =
      "AWS4-HMAC-SHA256 Credential=tests/20260101/us-east-1/kms/aws4_request, SignedHeaders=host, Signature=x";
    const address = `http://${/endpoint=([^&]+)/.exec(cloud.url)![1]!}`;
    const made = await fetch(address, { method: "POST", headers: { ...headers, authorization }, body: "{}" });
    const { KeyMetadata } = (await made.json()) as { KeyMetadata: { KeyId: string } };
    const token = join(mkdtempSync(join(tmpdir(), "token-")), "token");
    writeFileSync(token, "signed by the forge");
    const env = {
      AWS_ENDPOINT_URL_KMS: address,
      AWS_ENDPOINT_URL_STS: address,
      AWS_EC2_METADATA_DISABLED: "true",
      AWS_REGION: "us-east-1",
      PULUMI_CONFIG_PASSPHRASE: "",
      AWS_ROLE_ARN: "arn:aws:iam::123456789012:role/network-state",
    };
    const role = { ...env, AWS_WEB_IDENTITY_TOKEN_FILE: token };
    const provider = `awskms://${KeyMetadata.KeyId}?region=us-east-1&awssdk=v2`;
    w.stack.write("Pulumi.yaml", "name: e2e\nruntime: { name: nodejs, options: { typescript: false } }\n");
    await w.stack.ok(["stack", "init", "locked", "--secrets-provider", provider], role);
    await w.stack.ok(["config", "set", "--secret", "word", word, "--stack", "locked"], role);
    w.stack.program('exports.word = new (require("@pulumi/pulumi").Config)().requireSecret("word");\n');
    await w.stack.ok(["preview", "--stack", "locked", "--save-plan", "locked.plan"], role);
    const plan = readFileSync(join(w.stack.folder, "locked.plan"), "utf8");
    expect(plan).toContain("resourcePlans");
    expect(plan).not.toContain(word);
    expect(await failed(w.stack.run(["preview", "--stack", "locked"], env))).toContain("get credentials");
  } finally {
    await cloud.stop();
  }
});
