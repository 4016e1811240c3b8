// @ts-check
/**
 * npm run bench [-- NAME…] [OPTIONS]: measures, each beside what it is compared with in the same run. Without a name: what an `up`,
 * a `refresh` and a preview cost, through the real CLI on the embedded service; then the table of docs/maintainers/performance.md is written
 * anew. Exit code 1 when a target is missed. Options:
 *   --rounds N                 of preview, policy and network: at least 7; of providers: 2 unless given
 *   --count N                  of providers: how many memberships. Default: 500
 *   --stacks N --width N --rounds N   of fleet: 20 stacks, 4 at once, 3 rounds unless given
 *   --large N --parallel N     of fleet, for its memory: 50 stacks, 8 at once unless given
 *   --replayed N --parallel N  of fleet: so many stacks whose Pulumi is a recording, written to docs/fleet.md
 *   --minutes N                of soak; of console, for one page and then for 20
 *   --rounds N --seed N        of kills: 20 rounds unless given, written to docs/maintainers/reliability.md then
 *   --blocks N                 of long: of the ledger that it starts with. Default: 400,000
 */
import "../tools/lib/node-version.mjs";
import { parseArgs } from "node:util";
import { build, installPackages } from "../tools/lib/prepare.mjs";
import { pulumiCli } from "../tools/lib/pulumi-cli.mjs";
import { runMain, log, UserError } from "../tools/lib/terminal.mjs";
import { circumstances, table, writePart } from "./lib/report.mjs";

/** Those that docs/maintainers/performance.md shows in one table; those that run when no name is given; all. */
const published = ["waiting", "reading", "providers"];
const usual = [...published, "preview", "policy", "network"];
const all = [...usual, "fleet", "soak", "console", "kills", "long"];
/** Where a measure is, if not in a file of its name. @type {Record<string, string>} */
const fileOf = {
  ...Object.fromEntries(["waiting", "reading"].map((name) => [name, "requests"])),
  ...Object.fromEntries(["preview", "policy", "network"].map((name) => [name, "previews"])),
};
const options = Object.fromEntries(
  ["rounds", "count", "stacks", "large", "parallel", "width", "replayed", "minutes", "seed", "blocks"].map((name) => [
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
  if (unknown) throw new UserError(`There is no measure "${unknown}"; there are ${all.join(", ")}.`);
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
    const result = await measure?.({ cli, module, options: values });
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
