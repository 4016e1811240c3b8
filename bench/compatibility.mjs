// @ts-check
/**
 * npm run compatibility [-- --slice] [--only PATTERN]: the package as npm packs it, in projects with each Node.js, each Pulumi SDK, each
 * provider, each kind of program and each installer that people have: up, unchanged, change, refresh, policy pack, destroy, mocks.
 * Writes the tables of docs/compatibility.md when all were tried. `--slice` tries the newest and the oldest only. Exit code 1 when one
 * fails. Ends by itself within an hour.
 */
import "../tools/lib/node-version.mjs";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { build, bundle, installPackages, npmPackage } from "../tools/lib/prepare.mjs";
import { pulumiCli } from "../tools/lib/pulumi-cli.mjs";
import { duration, runMain, log } from "../tools/lib/terminal.mjs";
import { nodeVersions } from "./compatibility/project.mjs";
import { installerTrials, kindTrials, lifeTrials, live } from "./compatibility/trials.mjs";
import { circumstances, table, writePart } from "./lib/report.mjs";

const longestMs = 60 * 60_000;

/** @typedef {import("./compatibility/trials.mjs").Trial} Trial */
/** @typedef {Trial & { problem?: string }} Tried */

/** @param {Tried[]} tried @param {string[]} head @param {(trial: Tried) => string[]} row */
const shown = (tried, head, row) =>
  table(
    [...head, "result"],
    tried.map((trial) => [...row(trial), trial.problem ? "**fails**" : "works"]),
  );

await runMain("compatibility", async () => {
  const { values } = parseArgs({ options: { slice: { type: "boolean" }, only: { type: "string" } } });
  await installPackages();
  await build();
  await bundle();
  const cli = await pulumiCli();
  const nodes = await nodeVersions();
  const groups = [lifeTrials(nodes), kindTrials(nodes), installerTrials(nodes)].map((trials) =>
    trials.filter(({ title, inSlice }) => (values.slice ? inSlice : true) && title.includes(values.only ?? "")),
  );
  const folder = mkdtempSync(join(tmpdir(), "consortium-compatibility-"));
  const startedAt = Date.now();
  try {
    const tarball = await npmPackage(folder);
    /** @type {Tried[][]} */
    const results = [];
    for (const trials of groups) {
      /** @type {Tried[]} */
      const tried = [];
      for (const trial of trials) {
        const begun = Date.now();
        const problem =
          begun - startedAt > longestMs ? "not tried: the hour is over" : await live(trial, { cli, tarball, folder });
        log(`${problem ? "FAILED" : "works "} ${trial.title} (${duration(Date.now() - begun)})`);
        if (problem) log(problem);
        tried.push({ ...trial, ...(problem ? { problem } : {}) });
      }
      results.push(tried);
    }
    const [lives = [], kinds = [], installers = []] = results;
    if (!values.slice && !values.only) {
      const [date, ours, , pulumi] = (await circumstances(cli)).split(", ");
      const parts = [
        `Tried on ${date} with ${ours} and the CLI ${pulumi}.`,
        shown(lives, ["Node.js", "`@pulumi/pulumi`", "provider"], ({ node, sdk, provider }) => [
          node.version,
          sdk,
          provider,
        ]),
        shown(kinds, ["program", "Node.js", "`@pulumi/pulumi`"], ({ kind, node, sdk }) => [kind, node.version, sdk]),
        shown(installers, ["installer", "Node.js", "`@pulumi/pulumi`"], (t) => [t.installer, t.node.version, t.sdk]),
      ];
      await writePart("docs/compatibility.md", "matrix", parts.join("\n\n"));
    }
    const failed = results.flat().filter(({ problem }) => problem).length;
    log(`${results.flat().length - failed} work, ${failed} fail (${duration(Date.now() - startedAt)})`);
    return failed > 0 ? 1 : 0;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
