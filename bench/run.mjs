// @ts-check
/**
 * npm run bench [-- NAME…]: runs measures, each with its baseline in the same run, through the real CLI on the embedded service.
 * Without a name, runs the usual ones. Writes the tables of docs/maintainers/performance.md. Exit code 1 if a target is missed.
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

await runMain("bench", async () => {
  const { positionals: asked } = parseArgs({ allowPositionals: true });
  const unknown = asked.find((name) => !measures.includes(name));
  if (unknown) throw new UserError(`There is no measure "${unknown}". The measures are ${measures.join(", ")}.`);
  await prepare();
  const cli = await pulumiCli();
  /** @type {typeof import("../service/index.js")} */
  const module = await import("pulumi-consortium/service");
  const tools = { cli, module };
  /** @type {import("./lib/stack.mjs").Row[]} */
  const rows = [];
  const machine = await circumstances(cli);
  for (const name of asked.length > 0 ? asked : usual) {
    log(`Measuring ${name} …`);
    /** @type {Record<string, import("./lib/stack.mjs").Measure>} */
    const { [name]: measure } = await import(`./measures/${name}.mjs`);
    const own = (await measure?.(tools)) ?? [];
    rows.push(...own);
    if (apart.includes(name)) await writePart(page, `bench-${name}`, textOf(machine, own));
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
