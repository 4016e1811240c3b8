// @ts-check
/**
 * npm run bench [-- NAME… OPTIONS]: measures, each beside its baseline in the same run, through the real CLI on the embedded service.
 * Without a name, it takes the usual ones, and writes the table of docs/maintainers/performance.md. Exit code 1 if a target is missed.
 *   --rounds N   preview: 7, or more; fleet: 3
 *   --stacks N   fleet: how many are compared with xargs. Default: 20
 */
import "../tools/lib/node-version.mjs";
import { parseArgs } from "node:util";
import { prepare } from "../tools/lib/prepare.mjs";
import { pulumiCli } from "../tools/lib/pulumi-cli.mjs";
import { runMain, log, UserError } from "../tools/lib/terminal.mjs";
import { circumstances, table, writePart } from "./lib/report.mjs";

/** Each is in a file of its own in bench/measures. */
const measures = ["waiting", "preview", "ledger", "fleet"];
const usual = ["waiting", "preview"];
const options = /** @type {const} */ ({ rounds: { type: "string" }, stacks: { type: "string" } });

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
  for (const name of asked.length > 0 ? asked : usual) {
    log(`Measuring ${name} …`);
    /** @type {Record<string, import("./lib/stack.mjs").Measure>} */
    const { [name]: measure } = await import(`./measures/${name}.mjs`);
    rows.push(...((await measure?.(tools)) ?? []));
  }
  const cells = rows.map(({ measure, target, measured, met }) => [measure, target, measured, met ? "yes" : "**no**"]);
  const text = `Measured on ${await circumstances(cli)}.\n\n${table(["measure", "target", "measured", "met"], cells)}`;
  console.log(text);
  if (asked.length === 0) await writePart("docs/maintainers/performance.md", "bench", text);
  return rows.every(({ met }) => met) ? 0 : 1;
});
