// @ts-check
/**
 * npm run bench [-- NAME… OPTIONS]: measures, each beside its baseline in the same run, through the real CLI on the embedded service.
 * Without a name, it takes the usual ones, and writes the table of docs/maintainers/performance.md. Exit code 1 if a target is missed.
 *   --rounds N                 preview, policy, network: 7, or more; providers: 2; fleet: 3; kills: 20
 *   --count N                  providers: memberships. Default: 500
 *   --stacks N --width N       fleet: stacks, and how many at once, compared with xargs. Default: 20, 4
 *   --large N --parallel N     fleet: the same for its memory. Default: 50, 8
 *   --minutes N                soak: 30; console: 10, for one page and then for 20
 *   --seed N                   kills: repeats a run. Without --rounds, kills writes to docs/maintainers/reliability.md
 *   --blocks N                 long: blocks of the ledger that it starts with. Default: 400,000
 */
import "../tools/lib/node-version.mjs";
import { parseArgs } from "node:util";
import { build, installPackages } from "../tools/lib/prepare.mjs";
import { pulumiCli } from "../tools/lib/pulumi-cli.mjs";
import { runMain, log, UserError } from "../tools/lib/terminal.mjs";
import { circumstances, table, writePart } from "./lib/report.mjs";

/** The measures in the table of docs/maintainers/performance.md; the usual ones; all. */
const published = ["waiting", "reading", "providers"];
const usual = [...published, "preview", "policy", "network"];
const all = [...usual, "fleet", "soak", "console", "kills", "long", "callers"];
/** Files that hold several measures. @type {Record<string, string>} */
const fileOf = {
  ...Object.fromEntries(["waiting", "reading"].map((name) => [name, "requests"])),
  ...Object.fromEntries(["preview", "policy", "network"].map((name) => [name, "previews"])),
};
const options = Object.fromEntries(
  ["rounds", "count", "stacks", "large", "parallel", "width", "minutes", "seed", "blocks"].map((name) => [
    name,
    { type: /** @type {const} */ ("string") },
  ]),
);

/** @param {import("./lib/stack.mjs").Row[]} rows */
const tableOf = (rows) =>
  table(
    ["measure", "target", "measured", "met"],
    rows.map(({ measure, target, measured, met }) => [measure, target, measured, met ? "yes" : "**no**"]),
  );

await runMain("bench", async () => {
  const { values, positionals: asked } = parseArgs({ options, allowPositionals: true });
  const unknown = asked.find((name) => !all.includes(name));
  if (unknown) throw new UserError(`There is no measure "${unknown}". The measures are ${all.join(", ")}.`);
  const numbers = Object.fromEntries(Object.entries(values).map(([name, text]) => [name, Number(text)]));
  const wrong = Object.keys(numbers).find((name) => !(Number(numbers[name]) > 0));
  if (wrong) throw new UserError(`--${wrong} must be a number above 0.`);
  await installPackages();
  await build();
  const cli = await pulumiCli();
  /** @type {typeof import("../service/index.js")} */
  const module = await import("pulumi-consortium/service");
  const measured = `Measured on ${await circumstances(cli)}.`;

  const rows = new Map();
  for (const name of asked.length > 0 ? asked : usual) {
    log(`Measuring ${name} …`);
    /** @type {Record<string, import("./lib/stack.mjs").Measure>} */
    const { [name]: measure } = await import(`./measures/${fileOf[name] ?? name}.mjs`);
    const result = await measure?.({ cli, module, options: numbers });
    rows.set(name, result?.rows ?? []);
    if (result?.details) console.log(`${result.details}\n`);
  }
  console.log(`${measured}\n\n${tableOf([...rows.values()].flat())}`);
  if (asked.length === 0) {
    const shown = published.flatMap((name) => rows.get(name));
    await writePart("docs/maintainers/performance.md", "bench", `${measured}\n\n${tableOf(shown)}`);
  }
  return [...rows.values()].flat().every(({ met }) => met) ? 0 : 1;
});
