// @ts-check
/** What a preview costs beside another one, run in turn, so that whatever else the machine does hits both. */
import { say, Trouble } from "../../tools/lib/say.mjs";
import { bounded, median, seconds, table } from "./report.mjs";

const leastRounds = 7;

/**
 * One warm-up each, then the two in turn.
 * @template T
 * @param {number} rounds
 * @param {[() => Promise<T>, () => Promise<T>]} sides
 * @returns {Promise<[T[], T[]]>}
 */
export async function inTurn(rounds, sides) {
  /** @type {[T[], T[]]} */
  const results = [[], []];
  for (const side of sides) await side();
  for (let round = 0; round < rounds; round++) {
    for (const side of round % 2 === 0 ? [0, 1] : [1, 0]) {
      results[/** @type {0 | 1} */ (side)].push(await sides[/** @type {0 | 1} */ (side)]());
    }
    say(`round ${round + 1} of ${rounds}`);
  }
  return results;
}

/** @typedef {{ title: string, stack: import("./stack.mjs").Stack, args?: string[], expected: string }} Side expected: a part of the output */

/** @param {Side} side @returns {Promise<number>} milliseconds */
async function previewMs({ title, stack, args = [], expected }) {
  const { text, ms } = await stack.ok(["preview", ...args]);
  if (!text.includes(expected)) throw new Trouble(`unexpected preview of ${title}:\n${text}`);
  return ms;
}

/**
 * @param {[ours: Side, other: Side]} sides
 * @param {import("./rig.mjs").Options} options
 * @param {number} most what the first may take, as a multiple of the second
 * @returns {Promise<import("./rig.mjs").Measured>}
 */
export async function comparePreviews(sides, options, most = Infinity) {
  const [ours, other] = sides;
  const rounds = Number(options.rounds ?? leastRounds);
  if (!(rounds >= leastRounds)) throw new Trouble(`Give at least ${leastRounds} rounds.`);
  const [times, otherTimes] = await inTurn(rounds, [() => previewMs(ours), () => previewMs(other)]);
  // Of two runs right after each other, so that a machine that gets busier meanwhile changes nothing.
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
