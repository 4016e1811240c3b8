// @ts-check
/**
 * A preview of the quickstart, compared with the same program with empty resources, both without a service. The two alternate, so that
 * other load on the machine affects both. Then the start of the provider plugin, compared with that of an empty Node.js.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../tools/lib/prepare.mjs";
import { log, UserError } from "../../tools/lib/terminal.mjs";
import { bounded, median, seconds } from "../lib/report.mjs";
import { Stack } from "../lib/stack.mjs";

const rounds = 7;
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

/** Starts a process, and waits for its first line, as the engine does. @param {string} command @param {string[]} args */
async function start(command, args) {
  const began = performance.now();
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "inherit"] });
  await once(child.stdout, "data");
  const ms = performance.now() - began;
  child.kill("SIGINT"); // as the engine does
  await once(child, "exit");
  return ms;
}

/** @returns {Promise<import("../lib/stack.mjs").Row>} */
async function pluginStart() {
  const empty = "console.log(1); setInterval(() => 0, 1000)"; // prints a line and waits for its end, like a plugin
  const all = [];
  for (let round = 0; round < rounds; round++)
    all.push({
      empty: await start(process.execPath, ["--eval", empty]),
      own: await start(join(root, "plugin/pulumi-resource-consortium"), []),
    });
  const ratio = median(all.map(({ own, empty }) => own / empty));
  const [mine, theirs] = [median(all.map(({ own }) => own)), median(all.map(({ empty }) => empty))];
  const measured = `${seconds(mine)} against ${seconds(theirs)}: ×${ratio.toFixed(2)}, the median of ${rounds} rounds`;
  return bounded("start of the plugin", ratio, { most: 2, of: "that of an empty Node.js", measured });
}

/** @type {import("../lib/stack.mjs").Measure} */
export const preview = async ({ cli }) => {
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
    await pluginStart(),
  ];
};
