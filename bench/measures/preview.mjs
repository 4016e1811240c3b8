// @ts-check
/**
 * A preview of the quickstart, compared with the same program with empty resources, both without a service. The two alternate, so that
 * other load on the machine affects both. Then the provider plugin.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../tools/lib/prepare.mjs";
import { log, UserError } from "../../tools/lib/terminal.mjs";
import { bounded, median, seconds } from "../lib/report.mjs";
import { Stack } from "../lib/stack.mjs";
import { plugin } from "./plugin.mjs";

const leastRounds = 7;
const imported = '"pulumi-consortium"';

/**
 * A stack of examples/quickstart.
 * @param {import("../lib/stack.mjs").PulumiCli} cli
 * @param {Record<string, string>} [more] further files
 * @param {string} [classes] the module that the program imports its classes from
 */
async function quickstart(cli, more = {}, classes = imported) {
  const read = (/** @type {string} */ name) => readFileSync(join(root, "examples/quickstart", name), "utf8");
  const program = read("index.ts");
  if (!program.includes(imported)) throw new UserError("The quickstart does not import pulumi-consortium");
  const files = Object.fromEntries(["Pulumi.yaml", "package.json", "tsconfig.json"].map((name) => [name, read(name)]));
  const stack = await Stack.create(cli, {
    files: { ...files, ...more, "index.ts": program.replace(imported, classes) },
  });
  await stack.ok(["config", "set", "tetherId", "t0benchmrk"]);
  return stack;
}

/** The time of one, in milliseconds. @param {Stack} stack */
async function previewMs(stack) {
  const { text, ms } = await stack.ok(["preview"], { CONSORTIUM_OFFLINE_PREVIEW: "true" });
  if (!text.includes("+ 12 to create")) throw new UserError(`Unexpected preview:\n${text}`);
  return ms;
}

/** @type {import("../lib/stack.mjs").Measure} */
export const preview = async ({ cli, options = {} }) => {
  const { rounds = leastRounds } = options;
  if (rounds < leastRounds) throw new UserError(`--rounds must be at least ${leastRounds}.`);
  const empty = readFileSync(new URL("../programs/empty.ts", import.meta.url), "utf8");
  const stacks = [await quickstart(cli), await quickstart(cli, { "empty.ts": empty }, '"./empty"')];
  const sides = stacks.map((stack) => ({ stack, times: /** @type {number[]} */ ([]) }));
  try {
    for (const { stack } of sides) await previewMs(stack); // warms up
    for (let round = 0; round < rounds; round++) {
      for (const { stack, times } of round % 2 === 0 ? sides : sides.toReversed()) times.push(await previewMs(stack));
      log(`round ${round + 1} of ${rounds}`);
    }
  } finally {
    for (const { stack } of sides) stack.remove();
  }
  const [ours = [], others = []] = sides.map(({ times }) => times);
  // The ratio of two consecutive runs, so that a machine that gets busier meanwhile affects both.
  const ratio = median(ours.map((ms, round) => ms / (others[round] ?? NaN)));
  return [
    bounded("`pulumi preview` of the quickstart", ratio, {
      most: 1.25,
      of: "the same with empty dynamic resources",
      measured: `${seconds(median(ours))} against ${seconds(median(others))}: ×${ratio.toFixed(3)}, the median of ${rounds} rounds`,
    }),
    ...(await plugin(rounds)),
  ];
};
