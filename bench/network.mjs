// @ts-check
/**
 * node bench/network.mjs [ROUNDS]: what a preview of a network file costs (2 consortia, 6 environments, 24 nodes, 40 members),
 * beside the same resources written out in a program. Exit code 1 when it takes more than 1.2 times as long. Uses no network and
 * no service.
 */
import "../tools/lib/node-version.mjs";
import { writeFileSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import { join } from "node:path";
import { build, installPackages } from "../tools/lib/prepare.mjs";
import { pulumiCli } from "../tools/lib/pulumi-cli.mjs";
import { runMain, say, Trouble } from "../tools/lib/say.mjs";
import { byHand, file, fromFile, resources } from "./programs/network.mjs";
import { lowest, median, seconds, table } from "./lib/report.mjs";
import { Stack } from "./lib/stack.mjs";

const allowed = 1.2;
const leastRounds = 7;

/** @typedef {"file" | "hand"} Kind */
/** @type {Kind[]} */
const kinds = ["file", "hand"];
const titles = { file: "a network file", hand: "the same resources in a program" };
/** Besides its parts a file makes the component that holds them; both make the stack. */
const created = { file: resources + 2, hand: resources + 1 };

/** @param {Stack} stack @param {Kind} kind @returns {Promise<number>} milliseconds */
async function preview(stack, kind) {
  const { code, text, ms } = await stack.run(["preview"]);
  if (code !== 0 || !text.includes(`+ ${created[kind]} to create`)) throw new Trouble(`unexpected preview:\n${text}`);
  return ms;
}

await runMain("bench/network", async () => {
  const rounds = Number(process.argv[2] ?? leastRounds);
  if (!Number.isInteger(rounds) || rounds < leastRounds) throw new Trouble(`Give at least ${leastRounds} rounds.`);
  await installPackages();
  await build();
  const cli = await pulumiCli();
  const stacks = {
    file: await Stack.create(cli, { program: fromFile }),
    hand: await Stack.create(cli, { program: byHand }),
  };
  writeFileSync(join(stacks.file.folder, "network.yaml"), file);
  try {
    /** @type {Record<Kind, number[]>} */
    const times = { file: [], hand: [] };
    // One warm-up each, then in turn, so that whatever else the machine does hits both.
    for (const kind of kinds) await preview(stacks[kind], kind);
    for (let round = 0; round < rounds; round++) {
      for (const kind of round % 2 === 0 ? kinds : kinds.toReversed())
        times[kind].push(await preview(stacks[kind], kind));
      say(`round ${round + 1} of ${rounds}`);
    }
    // Of two runs right after each other, so that a machine that gets busier meanwhile changes nothing.
    const ratio = median(times.file.map((ms, round) => ms / (times.hand[round] ?? NaN)));
    console.log(
      `Node.js ${process.version}, ${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GB, ` +
        `${new Date().toISOString().slice(0, 10)}; ${resources} resources; ${rounds} runs each, in turn\n`,
    );
    const row = (/** @type {Kind} */ kind) => [
      titles[kind],
      seconds(median(times[kind])),
      seconds(lowest(times[kind])),
    ];
    console.log(table(["`pulumi preview` of", "median", "fastest"], kinds.map(row)));
    console.log(`\nRatio: ${ratio.toFixed(2)}, the median of the rounds (at most ${allowed})`);
    return ratio > allowed ? 1 : 0;
  } finally {
    for (const kind of kinds) stacks[kind].remove();
  }
});
