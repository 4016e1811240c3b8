// @ts-check
/**
 * Tests of contracts with third parties: geth, foreign clients, Kubernetes' API server, runners and linters of pipelines, state backends,
 * installers, shells, Terraform's converter, Pulumi's engine, its hooks and `pulumi do`, and the ends of the range of its SDK. They
 * run when what they import or start is not what it was when they were last green on this machine.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { root } from "./prepare.mjs";
import { succeed } from "./processes.mjs";
import { cacheRoot } from "./pulumi-cli.mjs";

/** What programs import, and run: with `service/index.ts`, which their tests import. */
const programs = ["sdk/index.ts", "provider/dynamic/runtime.ts", "plugin/main.ts"];
const ofBuild = [
  "contracts",
  "schemas",
  "tools/build.mjs",
  "tools/plugin.mjs",
  "tools/lib/prepare.mjs",
  "tsconfig*.json",
];
const ofPrograms = [...ofBuild, "tests/e2e/support/unused.cjs", "tests/e2e/support/languages"];
/** What `import` finds in the package. */
const doors = ["sdk/index.ts", "sdk/service.ts", "sdk/policy/index.ts", "provider/api/index.ts", ...programs];
const cli = ["cli/consortium.ts"];
const fleet = [...cli, "internal/fleet.ts", "fleet/main.ts", "fleet/command.ts"];
const packed = [...ofPrograms, "policy-pack", "gitops", "*/package.json"];
const product = [
  ...[...doors, ...fleet, "internal/console.ts", "console/command/main.ts"],
  ...["service/index.ts", "service/command/main.ts"],
];
/** All but what tests it. */
const repository = ["*", ":!tests"];
/** @typedef {Record<string, { starts?: string[], reads: string[] }>} Contracts */

/** A test → the sources of what it starts, and all else that it reads: files and folders. @type {Contracts} */
const contracts = {
  "tests/e2e/service/geth.test.ts": {
    reads: ["tests/e2e/service/geth"],
  },
  "tests/e2e/service/clients.test.ts": {
    starts: ["sdk/index.ts"],
    reads: ["tests/e2e/service/clients", "tests/e2e/service/geth", "contracts"],
  },
  "tests/e2e/gitops/kubernetes.test.ts": {
    starts: fleet,
    reads: [...ofBuild, "tests/e2e/gitops/kubernetes", "examples", "fleet/README.md", "docs"],
  },
  "tests/e2e/gitops/forges.test.ts": {
    starts: [...doors, ...cli],
    reads: [
      ...[...packed, "tests/e2e/gitops/act", "tests/e2e/support/actions", "tests/e2e/support/backends"],
      ...["examples/gitops", "docs/reference/report.md"],
    ],
  },
  "tests/e2e/gitops/linters.test.ts": {
    reads: ["tests/e2e/gitops/actionlint", "tests/e2e/gitops/requirements.txt", "examples", "gitops", ".github"],
  },
  "tests/e2e/fleet/pipeline.test.ts": {
    starts: [...programs, ...fleet],
    reads: [...ofPrograms, "tests/e2e/gitops/act", "tests/e2e/support/actions", "examples/fleet"],
  },
  "tests/e2e/install/release.test.ts": {
    reads: repository,
  },
  "tests/e2e/install/languages.test.ts": {
    reads: repository,
  },
  "tests/e2e/install/npm.test.ts": {
    starts: product,
    reads: packed,
  },
  "tests/e2e/install/installers.test.ts": {
    starts: doors,
    reads: packed,
  },
  "tests/e2e/install/completion.test.ts": {
    starts: cli,
    reads: [],
  },
  "tests/e2e/life/backends.test.ts": {
    starts: programs,
    reads: [...ofPrograms, "tests/e2e/support/backends"],
  },
  "tests/e2e/life/engine/engine.test.ts": {
    starts: programs,
    reads: ofPrograms,
  },
  "tests/e2e/life/hooks.test.ts": {
    starts: programs,
    reads: ofPrograms,
  },
  "tests/e2e/plugin/do.test.ts": {
    starts: programs,
    reads: ofPrograms,
  },
  "tests/e2e/plugin/from-terraform.test.ts": {
    starts: programs,
    reads: [...ofPrograms, "tests/e2e/plugin/from-terraform"],
  },
};
/** What every test runs on. */
const always = ["package.json", "package-lock.json", "jest.config.mjs", "tests/support/jest", "tools/pulumi-cli"];

const record = () => join(cacheRoot(), "green-contracts.json");
/** @returns {Record<string, string>} test → the digest with which it was green */
const recorded = () => (existsSync(record()) ? JSON.parse(readFileSync(record(), "utf8")) : {});

/** @param {Contracts} [of] @param {string} [folder] the repository */
export function contractsOf(of = contracts, folder = root) {
  /** The files that entry points import, and what those import. @param {string[]} entryPoints @returns {Promise<string[]>} */
  async function importedBy(entryPoints) {
    const { build } = await import("esbuild"); // here, because a fresh clone has no packages at first
    const { metafile } = await build({
      absWorkingDir: folder,
      entryPoints,
      outdir: "unwritten",
      bundle: true,
      write: false,
      metafile: true,
      platform: "node",
      packages: "external",
      tsconfig: join(folder, "tests/tsconfig.json"), // our own packages, from their sources
      logLevel: "silent",
    });
    return Object.keys(metafile.inputs);
  }

  /** @param {string[]} paths of files and folders, as git takes them @returns {Promise<string[]>} */
  async function listed(paths) {
    const list = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", ...paths];
    const files = (await succeed("git", list, { cwd: folder })).split("\0");
    return files.filter((file) => file !== "" && existsSync(join(folder, file)));
  }

  /** Digests of the content of everything that tests import, start and read. @param {string[]} tests @returns {Promise<Record<string, string>>} */
  async function digestsOf(tests) {
    /** Most start the same. @type {Map<string, Promise<string[]>>} */
    const started = new Map();
    const all = tests.map(async (test) => {
      const { starts = [], reads } = of[test] ?? { reads: [] };
      const key = starts.join(" ");
      if (!started.has(key)) started.set(key, importedBy(starts));
      const read = [...(reads.length > 0 ? await listed(reads) : []), ...(await listed(always))];
      const digest = createHash("sha256").update(`${process.version} ${process.env.PULUMI_CONSORTIUM_CLI ?? ""}`);
      const files = [...(await importedBy([test])), ...((await started.get(key)) ?? []), ...read];
      for (const file of [...new Set(files)].sort())
        digest.update(`\0${file}\0`).update(readFileSync(join(folder, file)));
      return [test, digest.digest("hex")];
    });
    return Object.fromEntries(await Promise.all(all));
  }

  return {
    /** Their digests now, and those that were green with the same ones. */
    async look() {
      const digests = await digestsOf(Object.keys(of));
      const green = recorded();
      return { digests, unchanged: Object.keys(digests).filter((test) => green[test] === digests[test]) };
    },

    /**
     * Notes those that were green, whole, with the same content from the beginning to the end.
     * @param {Record<string, string>} before their digests at the beginning
     * @param {{ testResults: { name: string, status: string, assertionResults: { status: string }[] }[] }} report of Jest
     */
    async note(before, { testResults }) {
      const isGreen = (/** @type {typeof testResults[number]} */ { status, assertionResults }) =>
        status === "passed" && assertionResults.length > 0 && assertionResults.every((one) => one.status === "passed");
      const ran = new Map(testResults.map((one) => [relative(folder, one.name), isGreen(one)]));
      const after = await digestsOf(Object.keys(before).filter((test) => ran.has(test)));
      const green = recorded();
      for (const [test, digest] of Object.entries(after)) {
        if (ran.get(test) && digest === before[test]) green[test] = digest;
        else delete green[test];
      }
      mkdirSync(dirname(record()), { recursive: true });
      writeFileSync(`${record()}.draft`, JSON.stringify(green));
      renameSync(`${record()}.draft`, record());
    },
  };
}
