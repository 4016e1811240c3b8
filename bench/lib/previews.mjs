// @ts-check
/** The time of a preview beside that of another one. The two alternate, so that other load on the machine affects both. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { log, UserError } from "../../tools/lib/terminal.mjs";
import { bounded, median, seconds, table } from "./report.mjs";
import { root } from "../../tools/lib/prepare.mjs";
import { Stack } from "./stack.mjs";

const leastRounds = 7;

/** @typedef {{ title: string, stack: import("./stack.mjs").Stack, args?: string[], expected: string }} Side expected: a part of the output */

/** @param {Side} side @returns {Promise<number>} milliseconds */
async function previewMs({ title, stack, args = [], expected }) {
  const { text, ms } = await stack.ok(["preview", ...args], { CONSORTIUM_OFFLINE_PREVIEW: "true" });
  if (!text.includes(expected)) throw new UserError(`Unexpected preview of ${title}:\n${text}`);
  return ms;
}

/**
 * Warms up both, then takes them in turn. Removes their stacks at the end.
 * @param {[ours: Side, other: Side]} sides
 * @param {import("./stack.mjs").Options} options
 * @param {number} most the largest ratio of the first to the second
 * @returns {Promise<import("./stack.mjs").Measured>}
 */
export async function comparePreviews(sides, options, most = Infinity) {
  const [ours, other] = sides;
  const { rounds = leastRounds } = options;
  if (rounds < leastRounds) throw new UserError(`--rounds must be at least ${leastRounds}.`);
  /** @type {[number[], number[]]} */
  const [times, otherTimes] = [[], []];
  try {
    for (const side of sides) await previewMs(side);
    for (let round = 0; round < rounds; round++) {
      const turns = /** @type {[Side, number[]][]} */ ([
        [ours, times],
        [other, otherTimes],
      ]);
      for (const [side, all] of round % 2 === 0 ? turns : turns.toReversed()) all.push(await previewMs(side));
      log(`round ${round + 1} of ${rounds}`);
    }
  } finally {
    for (const stack of new Set([ours.stack, other.stack])) stack.remove();
  }
  // The ratio of two consecutive runs, so that a machine that gets busier in the meantime changes nothing.
  const ratio = median(times.map((ms, round) => ms / (otherTimes[round] ?? NaN)));
  const row = bounded(`\`pulumi preview\` of ${ours.title}`, ratio, {
    most,
    of: other.title,
    measured: `${seconds(median(times))} against ${seconds(median(otherTimes))}: ×${ratio.toFixed(3)}`,
  });
  const line = (/** @type {Side} */ { title }, /** @type {number[]} */ ms) => [
    title,
    seconds(median(ms)),
    seconds(Math.min(...ms)),
  ];
  const figures = table(["`pulumi preview` of", "median", "fastest"], [line(ours, times), line(other, otherTimes)]);
  return { rows: [row], details: `${rounds} runs each; the ratio is the median of the rounds.\n\n${figures}` };
}

const from = '"pulumi-consortium"';

/**
 * A stack of examples/quickstart, or with its classes from elsewhere.
 * @param {import("../../tools/lib/pulumi-cli.mjs").PulumiCli} cli
 * @param {Record<string, string>} [more] further files
 * @param {string} [classes] what the program imports its classes from
 */
export async function quickstart(cli, more = {}, classes = "pulumi-consortium") {
  const read = (/** @type {string} */ name) => readFileSync(join(root, "examples/quickstart", name), "utf8");
  if (!read("index.ts").includes(from)) throw new UserError("The quickstart does not import pulumi-consortium");
  const files = Object.fromEntries(["Pulumi.yaml", "package.json", "tsconfig.json"].map((name) => [name, read(name)]));
  const program = { "index.ts": read("index.ts").replace(from, JSON.stringify(classes)) };
  const stack = await Stack.create(cli, { files: { ...files, ...program, ...more } });
  await stack.ok(["config", "set", "tetherId", "t0benchmrk"]);
  return stack;
}
