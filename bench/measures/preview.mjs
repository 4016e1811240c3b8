// @ts-check
/** The quickstart beside the same program with resources that do nothing, and where the time goes. No network, no service. */
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { say } from "../../tools/lib/say.mjs";
import { comparePreviews, inTurn } from "../lib/previews.mjs";
import { quickstart } from "../lib/quickstart.mjs";
import { median, seconds, table } from "../lib/report.mjs";

const most = 1.25;
const tracedRounds = 3;
const expected = "+ 12 to create";
const titles = /** @type {const} */ (["quickstart", "the same with empty dynamic resources"]);

/** @type {import("../lib/rig.mjs").Measure} */
export const preview = async ({ cli, options = {} }) => {
  const empty = readFileSync(new URL("../programs/empty.ts", import.meta.url), "utf8");
  const stacks = [await quickstart(cli), await quickstart(cli, { "empty.ts": empty }, "./empty")];
  const [ours, other] = /** @type {[import("../lib/stack.mjs").Stack, import("../lib/stack.mjs").Stack]} */ (stacks);
  try {
    const { rows, details } = await comparePreviews(
      [
        { title: titles[0], stack: ours, expected },
        { title: titles[1], stack: other, expected },
      ],
      options,
      most,
    );
    say("And where the time goes …");
    const traces = await inTurn(tracedRounds, [() => phases(ours), () => phases(other)]);
    const names = Object.keys(traces[0][0] ?? {});
    const lines = names.map((name) => [
      name,
      ...traces.map((side) => seconds(median(side.map((one) => one[name] ?? NaN)))),
    ]);
    return { rows, details: `${details}\n\n${table(["part", ...titles], lines)}` };
  } finally {
    for (const stack of stacks) stack.remove();
  }
};

/** @typedef {{ at: number, program: string, event: string }} Event */

/**
 * What a preview does when, as the lengths of its parts in milliseconds. Its processes record that (programs/trace.cjs).
 * @param {import("../lib/stack.mjs").Stack} stack
 * @returns {Promise<Record<string, number>>} NaN: there is no such part
 */
async function phases(stack) {
  const record = join(stack.folder, "trace.jsonl");
  rmSync(record, { force: true });
  const trace = fileURLToPath(new URL("../programs/trace.cjs", import.meta.url));
  const startedAt = performance.timeOrigin + performance.now();
  const { ms } = await stack.ok(["preview"], { NODE_OPTIONS: `--require=${trace}`, BENCH_TRACE: record });
  const lines = existsSync(record) ? readFileSync(record, "utf8").trim().split("\n") : [];
  /** @type {Event[]} */
  const events = lines.map((line) => JSON.parse(line));
  const at = (/** @type {string} */ program, /** @type {string} */ event) =>
    events.find((one) => one.program === program && one.event === event)?.at ?? NaN;
  const program = (/** @type {string} */ event) => at("program", event);
  const provider = (/** @type {string} */ event) => at("provider", event);
  const classesChecked = program("checked classes") - program("load classes") || 0;
  const classes = program("loaded classes") - program("load classes") - classesChecked;
  return {
    "Pulumi, until the program starts": program("start") - startedAt,
    "loading the SDK, TypeScript and ts-node": program("load program") - program("start"),
    "ts-node: type check and compilation": program("checked program") - program("load program") + classesChecked,
    "loading the resource classes": classes,
    "running the program": program("loaded program") - program("checked program") - classes - classesChecked,
    "registering and checking its resources": program("end") - program("loaded program"),
    "Pulumi, after the program": startedAt + ms - program("end"),
    "in parallel: provider startup": provider("ready") - provider("start"),
    "in parallel: loading resource definitions": provider("loaded runtime") - provider("load runtime"),
  };
}
