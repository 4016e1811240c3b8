// @ts-check
/**
 * npm run bench [-- NAME… OPTIONS]: runs measures, each with its baseline in the same run, through the real CLI on the embedded service.
 * Without a name, runs the usual ones. Writes the tables of docs/maintainers/performance.md, unless an option is given. Exit code 1 if a
 * target is missed.
 *   --rounds N   preview: 7, or more; fleet: 3
 *   --transactions N   history: 100,000
 *   --stacks N   fleet: how many are compared with xargs. Default: 20
 */
import "../tools/lib/node-version.mjs";
import { parseArgs } from "node:util";
import { prepare } from "../tools/lib/prepare.mjs";
import { pulumiCli } from "../tools/lib/pulumi-cli.mjs";
import { runMain, log, UserError } from "../tools/lib/terminal.mjs";
import { circumstances, table, writePart } from "./lib/report.mjs";

/** Each has its own file in bench/measures. */
const measures = ["waiting", "preview", "ledger", "history", "fleet"];
const usual = ["waiting", "preview"];
/** Each has its own table on the page. */
const apart = ["ledger", "history"];
const page = "docs/maintainers/performance.md";
const options = /** @type {const} */ ({
  rounds: { type: "string" },
  stacks: { type: "string" },
  transactions: { type: "string" },
});

await runMain("bench", async () => {
  const { values, positionals: asked } = parseArgs({ options, allowPositionals: true });
  const unknown = asked.find((name) => !measures.includes(name));
  if (unknown) throw new UserError(`There is no measure "${unknown}". The measures are ${measures.join(", ")}.`);
  const numbers = Object.fromEntries(Object.entries(values).map(([name, text]) => [name, Number(text)]));
  const wrong = Object.keys(numbers).find((name) => !(Number(numbers[name]) > 0));
  if (wrong) throw new UserError(`--${wrong} must be a number above 0.`);
  await prepare();
  const cli = await pulumiCli();
  /** @type {typeof import("../service/index.js")} */
  const module = await import("pulumi-consortium/service");
  const tools = { cli, module, options: numbers };
  /** @type {import("./lib/stack.mjs").Row[]} */
  const rows = [];
  const machine = await circumstances(cli);
  for (const name of asked.length > 0 ? asked : usual) {
    log(`Measuring ${name} …`);
    /** @type {Record<string, import("./lib/stack.mjs").Measure>} */
    const { [name]: measure } = await import(`./measures/${name}.mjs`);
    const own = (await measure?.(tools)) ?? [];
    rows.push(...own);
    if (apart.includes(name) && Object.keys(numbers).length === 0)
      await writePart(page, `bench-${name}`, textOf(machine, own));
  }
  const text = textOf(machine, rows);
  console.log(text);
  if (asked.length === 0) await writePart(page, "bench", text);
  return rows.every(({ met }) => met) ? 0 : 1;
});

/** @param {string} machine @param {import("./lib/stack.mjs").Row[]} rows */
function textOf(machine, rows) {
  const cells = rows.map(({ measure, target, measured, met }) => [measure, target, measured, met ? "yes" : "**no**"]);
  return `Measured on ${machine}.\n\n${table(["measure", "target", "measured", "met"], cells)}`;
}
