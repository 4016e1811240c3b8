// @ts-check
/**
 * node bench/policy.mjs [ROUNDS]: what the ready policy pack adds to a preview of the quickstart. Exit code 1 when that is more
 * than 15 %. Uses no network and no service.
 */
import "../tools/lib/node-version.mjs";
import { rmSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import { join } from "node:path";
import { build, installPackages, root } from "../tools/lib/prepare.mjs";
import { run } from "../tools/lib/processes.mjs";
import { pulumiCli } from "../tools/lib/pulumi-cli.mjs";
import { runMain, say, Trouble } from "../tools/lib/say.mjs";
import { makeProject } from "./lib/project.mjs";
import { lowest, median, seconds, table } from "./lib/report.mjs";

const allowed = 0.15;
const leastRounds = 7;
const pack = join(root, "policy-pack");

/** @typedef {"without" | "with"} Kind */
/** @type {Kind[]} */
const kinds = ["without", "with"];
const titles = { without: "quickstart", with: "quickstart with the pack" };

/**
 * @param {import("./lib/project.mjs").Project} project
 * @param {Kind} kind
 * @returns {Promise<number>} milliseconds
 */
async function preview({ command, env, folder }, kind) {
  const args = [
    "preview",
    ...(kind === "with" ? ["--policy-pack", pack] : []),
    "--non-interactive",
    "--color",
    "never",
  ];
  const start = performance.now();
  const { code, output } = await run(command, args, { cwd: folder, env });
  const ms = performance.now() - start;
  if (code !== 0 || output.includes("pulumi-consortium@v") !== (kind === "with")) {
    throw new Trouble(`unexpected preview ${kind} the pack:\n${output}`);
  }
  return ms;
}

await runMain("bench/policy", async () => {
  const rounds = Number(process.argv[2] ?? leastRounds);
  if (!Number.isInteger(rounds) || rounds < leastRounds) throw new Trouble(`Give at least ${leastRounds} rounds.`);
  await installPackages();
  await build();
  const project = await makeProject(await pulumiCli(), "quickstart");
  try {
    /** @type {Record<Kind, number[]>} */
    const times = { without: [], with: [] };
    // One warm-up each, then in turn, so that whatever else the machine does hits both.
    for (const kind of kinds) await preview(project, kind);
    for (let round = 0; round < rounds; round++) {
      for (const kind of round % 2 === 0 ? kinds : kinds.toReversed()) times[kind].push(await preview(project, kind));
      say(`round ${round + 1} of ${rounds}`);
    }
    // Of two runs right after each other, so that a machine that gets busier meanwhile changes nothing.
    const added = median(times.with.map((ms, round) => ms / (times.without[round] ?? NaN))) - 1;
    const [cpu] = cpus();
    console.log(
      `Node.js ${process.version}, Pulumi ${project.version}, ${cpus().length} cores (${cpu?.model.trim()}), ` +
        `${Math.round(totalmem() / 2 ** 30)} GB, ${new Date().toISOString().slice(0, 10)}; ${rounds} runs each, in turn\n`,
    );
    const row = (/** @type {Kind} */ kind) => [
      titles[kind],
      seconds(median(times[kind])),
      seconds(lowest(times[kind])),
    ];
    console.log(table(["`pulumi preview` of", "median", "fastest"], kinds.map(row)));
    console.log(
      `\nAdded by the pack: ${(100 * added).toFixed(1)} %, the median of the rounds (at most ${100 * allowed} %)`,
    );
    return added > allowed ? 1 : 0;
  } finally {
    rmSync(project.folder, { recursive: true, force: true });
  }
});
