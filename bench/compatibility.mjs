// @ts-check
/**
 * npm run compatibility [-- --only PATTERN]: the package as npm packs it, in projects with each Node.js, each Pulumi SDK, each provider,
 * each kind of program and each installer: up, unchanged, change, refresh, policy pack, destroy, mocks. Writes the table of
 * docs/reference/compatibility.md after all trials; with a pattern, it runs only trials with a matching title. Exit code 1 if a trial
 * fails. Ends within an hour.
 */
import "../tools/lib/node-version.mjs";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { npmPackages, prepare } from "../tools/lib/prepare.mjs";
import { pulumiCli } from "../tools/lib/pulumi-cli.mjs";
import { duration, runMain, log } from "../tools/lib/terminal.mjs";
import { allTrials, live, matrix, nodeVersions } from "./compatibility/trials.mjs";
import { circumstances, writePart } from "./lib/report.mjs";

const longestMs = 60 * 60_000;

await runMain("compatibility", async () => {
  const { values } = parseArgs({ options: { only: { type: "string" } } });
  const only = new RegExp(values.only ?? "");
  await prepare();
  const cli = await pulumiCli({ languages: true });
  const trials = allTrials(await nodeVersions());
  const folder = mkdtempSync(join(tmpdir(), "consortium-compatibility-"));
  const startedAt = Date.now();
  /** @type {Map<import("./compatibility/trials.mjs").Trial, boolean>} */
  const results = new Map();
  try {
    const [{ archive: tarball } = { archive: "" }] = await npmPackages(folder, ["pulumi-consortium"]);
    for (const trial of trials.filter(({ title }) => only.test(title))) {
      const begun = Date.now();
      const isLate = begun - startedAt > longestMs;
      const problem = isLate ? "not tried: the hour is over" : await live(trial, { cli, tarball, folder });
      log(`${problem ? "FAILED" : "works "} ${trial.title} (${duration(Date.now() - begun)})`);
      if (problem) log(problem);
      results.set(trial, !problem);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  if (values.only === undefined) {
    const [date, ours, , pulumi] = (await circumstances(cli)).split(", ");
    const text = `Tried on ${date} with ${ours} and the CLI ${pulumi}.\n\n${matrix(trials, (one) => results.get(one))}`;
    await writePart("docs/reference/compatibility.md", "matrix", text);
  }
  const failed = [...results.values()].filter((works) => !works).length;
  log(`${results.size - failed} work, ${failed} fail (${duration(Date.now() - startedAt)})`);
  return failed > 0 ? 1 : 0;
});
