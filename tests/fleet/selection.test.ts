import { execFileSync } from "node:child_process";
import { renameSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { plannedShards, shardIn, stacksIn, stagesOf } from "../../fleet/shards";
import { consortium } from "../cli/command";
import { stackOf, temporary, writeIn } from "./made";

/* Which stacks a command selects: shards, and changes since a commit, with real git. */

const stacks = (many: number) => Array.from({ length: many }, (_, index) => stackOf({ name: `s${index}` }));

describe("shards", () => {
  test.each([
    [200, 4],
    [1_000, 7],
    [201, 20],
    [3, 4],
  ])("%i stacks in %i shards: each in one, and sizes differ by at most one", (many, count) => {
    const all = stacks(many);
    const shards = Array.from({ length: count }, (_, at) => stacksIn(all, { index: at + 1, count }));
    expect(shards.flat()).toHaveLength(many);
    expect(new Set(shards.flat())).toEqual(new Set(all));
    const sizes = shards.map(({ length }) => length);
    expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
  });

  test.each(["1/1", "2/5", "5/5", "200/200"])("%s is valid", (text) => {
    expect(Object.values(shardIn(text)).join("/")).toBe(text);
  });

  test.each(["0/5", "6/5", "0/0", "201/201", "1/201", "1", "1/", "a/b", "1/2/3", " 1/2", "1/2 "])(
    "%s is invalid",
    (text) => {
      expect(() => shardIn(text)).toThrow("It must be one of several shards, such as 2/5, of at most 200.");
    },
  );

  test.each([
    [0, 1],
    [1, 1],
    [50, 1],
    [51, 2],
    [100, 2],
    [10_001, 200],
  ])("%i stacks are spread over %i by default", (size, count) => {
    const planned = plannedShards(stacks(size)).flat();
    expect(planned.length).toBe(count);
    expect(planned.map(({ shard }) => shard.count)).toEqual(planned.map(() => count));
    expect(planned.flatMap((one) => one.stacks).length).toBe(size);
  });

  test("shards without selected stacks are left out", () => {
    const one = stackOf();
    expect(plannedShards([one], 5)).toEqual([[{ stage: 1, shard: { index: 1, count: 5 }, stacks: [one] }]]);
  });

  test("stages: stacks without dependencies, then stacks that depend only on those, and so on", () => {
    const on = (name: string, ...dependsOn: string[]) => stackOf({ name, dependsOn });
    const stages = stagesOf([on("d", "c", "a"), on("a"), on("b", "a"), on("c", "b"), on("e", "not among them")]);
    expect(stages.map((stage) => stage.map(({ name }) => name))).toEqual([["a", "e"], ["b"], ["c"], ["d"]]);
    expect(stagesOf([])).toEqual([]);
  });
});

let folder: string;
const git = (...args: string[]): string => execFileSync("git", args, { cwd: folder, encoding: "utf8", stdio: "pipe" });

const write = (name: string, text: string): string => writeIn(folder, name, text);

interface Given {
  stacks?: Record<string, unknown>;
  [key: string]: unknown;
}
const network = "members: [m]\n";
/** The last one depends on the first one indirectly. */
const usual = {
  prod: "networks/trade.yaml",
  web: { program: "programs/web", dependsOn: ["acme-app"] },
  test: { definition: "networks/trade.yaml", name: "try" },
  app: { program: "programs/app", dependsOn: ["acme-prod"], paths: ["shared"] },
};

/** The fleet file: each organization has a key of its own. */
function fleet({ stacks = usual, ...others }: Given = {}): void {
  const organizations = {
    acme: { apiKey: { env: "ACME_KEY" }, stacks },
    globex: { apiKey: { env: "GLOBEX_KEY" }, stacks: { spice: "networks/spice.yaml" } },
  };
  write("live/fleet.yaml", JSON.stringify({ project: "fleet", backend: "s3://bucket", ...others, organizations }));
}

function commit(where = "."): void {
  git("-C", where, "add", "--all");
  const author = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
  git("-C", where, ...author, "commit", "--quiet", "--allow-empty", "--message", "c");
}

beforeEach(() => {
  folder = temporary();
  git("init", "--quiet", "--initial-branch", "main");
  for (const name of ["trade", "spice"]) write(`live/networks/${name}.yaml`, network);
  write("live/programs/app/Pulumi.yaml", "name: app\nruntime: nodejs\n");
  write("live/programs/app/index.ts", "");
  write("live/programs/web/Pulumi.yaml", "name: web\nruntime: nodejs\n");
  write("live/shared/names.ts", "");
  write("package-lock.json", "{}");
  write(".gitignore", ".consortium\n");
  fleet();
  commit();
});

const plan = (...args: string[]) => consortium(["fleet", "plan", join(folder, "live/fleet.yaml"), ...args]);

/** Changed stacks, and why. */
async function changed(since = "HEAD"): Promise<Record<string, string>> {
  const { code, stdout, stderr } = await plan("--shards", "1", "--changed-since", since);
  if (code !== 0) throw new Error(stderr);
  return Object.fromEntries(
    [...stdout.matchAll(/^\S+ {2}(\S+) {2}(?:.* {2})?(.+)$/gm)].map(([, ...one]) => one),
  ) as never;
}

const everything = (why: string) =>
  Object.fromEntries(["acme-web", "acme-prod", "acme-test", "acme-app", "globex-spice"].map((name) => [name, why]));
const trade = {
  "acme-prod": "live/networks/trade.yaml",
  "acme-test": "live/networks/trade.yaml",
  "acme-app": "depends on acme-prod",
  "acme-web": "depends on acme-app",
};
const app = (why: string) => ({ "acme-app": why, "acme-web": "depends on acme-app" });

/** A file that git would ignore. */
const seen = (file: string) => [".gitignore", file].forEach((one) => write(one, ""));
/** Changes a file of the fleet's policy pack. */
function packed(file: string): void {
  write("live/pack/PulumiPolicy.yaml", "runtime: nodejs\n");
  for (const name of ["live/pack/index.js", "live/pack.json"]) write(name, "{}");
  fleet({ policyPacks: [{ path: "pack", config: "pack.json" }] });
  commit();
  write(file, "{ }");
}
const anotherMember = () => write("live/networks/trade.yaml", "members: [n]\n");
const renamed = () => renameSync(join(folder, "live/programs/app/index.ts"), join(folder, "live/index.ts"));
const own = "live/.consortium/fleet/fleet/Pulumi.acme-test.yaml";
test.each<[string, () => void, Record<string, string>]>([
  ["nothing", () => undefined, {}],
  ["a network file that stacks share, and what depends on one of them", anotherMember, trade],
  ["a file that left a program", renamed, app("live/programs/app/index.ts")],
  ["what is kept in a program's folder, if git sees it", () => seen("live/programs/app/.consortium/log.json"), {}],
  ["the settings of the stack of a network, if git sees them", () => seen(own), { "acme-test": own }],
  ["a policy pack", () => packed("live/pack/index.js"), everything("live/pack/index.js")],
  ["the configuration of a policy pack", () => packed("live/pack.json"), everything("live/pack.json")],
  ["a lock file above", () => write("package-lock.json", "{ }"), everything("package-lock.json")],
  ["how many run at a time", () => fleet({ parallel: 9 }), {}],
  ["the backend", () => fleet({ backend: "s3://other" }), everything("the settings of all stacks in fleet.yaml")],
  [
    "one stack's settings",
    () => fleet({ stacks: { ...usual, test: { ...usual.test, adopt: true } } }),
    { "acme-test": "its settings in fleet.yaml" },
  ],
  ["a new stack", () => fleet({ stacks: { ...usual, more: usual.app } }), { "acme-more": "it is new in the file" }],
])("since the last commit, %s", async (_, change, expected) => {
  change();
  expect(await changed()).toEqual(expected);
});

test.each([
  ["a program", "live/programs/app/index.ts", true],
  ["a new file of a program", "live/programs/app/new.ts", true],
  ["the settings of the stack of a program", "live/programs/app/Pulumi.acme-app.yaml", true],
  ["the settings of another stack of the program", "live/programs/app/Pulumi.dev.yaml", false],
  ["settings deeper in the program, which are part of it", "live/programs/app/deep/Pulumi.dev.yaml", true],
  ["a path that the stack names", "live/shared/names.ts", true],
  ["a lock file elsewhere", "other/package-lock.json", false],
  ["another file", "README.md", false],
])("since the last commit, %s: %s belongs to the program: %j", async (_, file, belongs) => {
  write(file, "1");
  expect(await changed()).toEqual(belongs ? app(file) : {});
});

test("later commits count as well", async () => {
  anotherMember();
  commit();
  expect(await changed("HEAD~1")).toEqual(trade);
  expect(await changed()).toEqual({});
});

test("a new or previously invalid fleet file selects all stacks", async () => {
  write("live/fleet.yaml", "organizations: [");
  commit();
  fleet();
  expect(await changed()).toEqual(everything("fleet.yaml is new, or was not a fleet file"));
});

test("the folder and network files may be links", async () => {
  const link = join(temporary(), "repository");
  symlinkSync(folder, link);
  symlinkSync("trade.yaml", join(folder, "live/networks/link.yaml"));
  fleet({ stacks: { prod: "networks/link.yaml" } });
  commit();
  anotherMember();
  const { stdout } = await consortium(["fleet", "plan", join(link, "live/fleet.yaml"), "--changed-since", "HEAD"]);
  expect(stdout).toBe("1/1  acme-prod  live/networks/trade.yaml\n");
});

/** A folder with a network file and a program. */
function put(where: string, text: string): void {
  write(`${where}/trade.yaml`, text);
  write(`${where}/Pulumi.yaml`, "name: app\nruntime: nodejs\n");
}
function submodule(text: string): void {
  put("live/now", text);
  git("init", "--quiet", "live/now");
  commit("live/now");
}
function link(text: string): void {
  rmSync(join(folder, "live/now"), { force: true });
  put(`live/v${text.length}`, text);
  symlinkSync(`v${text.length}`, join(folder, "live/now"));
}
test.each([
  ["a link to a folder", link],
  ["a submodule", submodule],
])("%s is one file for git, but contains network files and programs", async (_, make) => {
  make(network);
  fleet({ stacks: { prod: "now/trade.yaml", app: { program: "now" } } });
  commit();
  make("members: [another]\n");
  expect(await changed()).toEqual({ "acme-prod": "live/now", "acme-app": "live/now" });
});

test("a stack that left the file is named", async () => {
  const { prod, app } = usual;
  fleet({ stacks: { live: prod, app: { ...app, dependsOn: ["acme-live"] } } });
  const { stdout, stderr } = await plan("--changed-since", "HEAD");
  expect(stdout).toMatch(/acme-live {2}stage 1 {2}it is new in the file/);
  for (const name of ["acme-prod", "acme-test"])
    expect(stderr).toContain(`${name} is no longer in ${join(folder, "live/fleet.yaml")}: its stack is not changed.`);
});

test.each(["acne-*", "acme", "prod", "acme.prod", "*prod-"])(
  "no stack matches %s, which is an error",
  async (pattern) => {
    const { stderr } = await plan("--only", "acme-*", "--only", pattern);
    expect(stderr).toContain(
      `Choose from acme-prod, acme-web, acme-test, acme-app, globex-spice: ${join(folder, "live/fleet.yaml")} has no stack like ${pattern}.`,
    );
  },
);

test.each(["up", "destroy"])(
  "%s of a shard without its stage is refused where stacks depend on each other",
  async (verb) => {
    const run = (...args: string[]) => consortium(["fleet", verb, join(folder, "live/fleet.yaml"), "--yes", ...args]);
    const { code, stderr } = await run("--shard", "1/2");
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(
        /: Add --stage to --shard 1\/2, or run this without --shard: stacks of .* depend on/,
      ) as string,
    });
    // Of those that depend on nothing selected, any order will do: the next thing that lacks is the key.
    expect((await run("--shard", "1/2", "--only", "acme-prod", "--only", "globex-*")).stderr).toContain("ACME_KEY");
  },
);

test.each([
  ["*-prod", "acme-prod"],
  ["a*t", "acme-test"],
  ["globex-spice acme-app *spice", "acme-app globex-spice"],
  ["*", "acme-app acme-prod acme-test acme-web globex-spice"],
])("patterns %s match %s", async (patterns, expected) => {
  const { stdout } = await plan("--shards", "1", ...patterns.split(" ").flatMap((one) => ["--only", one]));
  expect([...stdout.matchAll(/^\S+ +(\S+)/gm)].map(([, name]) => name).sort()).toEqual(expected.split(" "));
});

test("matrices: by stage, the shards with selected stacks, and at least one", async () => {
  const github = await plan("--matrix", "github", "--shards", "2", "--only", "acme-*");
  // Two networks, and a chain of two stacks that depends on one of them.
  expect(JSON.parse(github.stdout)).toEqual([{ shard: ["1/2", "2/2"] }, { shard: ["1/2"] }, { shard: ["1/2"] }]);
  expect(JSON.parse((await plan("--matrix", "github", "--changed-since", "HEAD")).stdout)).toEqual([
    { shard: ["1/1"] },
  ]);
  const job = { extends: ".fleet", parallel: { matrix: [{ SHARD: ["1/1"] }] } };
  expect(JSON.parse((await plan("--matrix", "gitlab")).stdout)).toEqual({
    "stage-1": { ...job, variables: { STAGE: "1" }, needs: [] },
    "stage-2": { ...job, variables: { STAGE: "2" }, needs: [{ job: "stage-1", artifacts: false }] },
    "stage-3": { ...job, variables: { STAGE: "3" }, needs: [{ job: "stage-2", artifacts: false }] },
  });
  expect((await plan()).stdout).toMatch(/^1\/1 {2}acme-prod {2}stage 1\n[^]*1\/1 {2}acme-web {2}stage 3\n$/);
  expect(await plan("--stages", "1")).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /: Add jobs to the pipeline, .* has 3 stages, and --stages says 1\. \[invalid-argument/,
    ) as string,
  });
  const many = await plan("--shards", "201");
  expect(many).toMatchObject({ code: 1, stderr: expect.stringContaining("from 1 to 200") as string });
});

test.each([40, 64])("before a branch's first push (%i zeros), all stacks have changed", async (zeros) => {
  const all = await plan("--shards", "1");
  expect(await plan("--shards", "1", "--changed-since", "0".repeat(zeros))).toEqual(all);
});

test.each(["0".repeat(39), `${"0".repeat(39)}1`, "nowhere", "", "--output=x"])("no commit %s", async (name) => {
  const stderr = expect.stringContaining(
    `--changed-since: git knows no commit ${name} in ${folder}. If this is a shallow clone, fetch earlier commits`,
  ) as string;
  expect(await plan(`--changed-since=${name}`)).toEqual({ code: 1, stdout: "", stderr });
});

test("no git, and no repository", async () => {
  const args = ["fleet", "plan", join(folder, "live/fleet.yaml"), "--changed-since", "HEAD"];
  const { stderr } = await consortium(args, { PATH: join(folder, "nothing") });
  expect(stderr).toContain("--changed-since needs git: install it, or add it to the PATH.");
  rmSync(join(folder, ".git"), { recursive: true });
  expect((await consortium(args)).stderr).toMatch(/--changed-since: git failed in .*: not a git repository/);
});
