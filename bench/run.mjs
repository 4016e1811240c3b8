// @ts-check
/**
 * npm run bench [-- NAME…]: what an `up` and a `refresh` cost, through the real CLI on the embedded service, each beside what it is
 * compared with in the same run. Writes its table into docs/performance.md when all were measured; then measures previews
 * and policies. Exit code 1 when a target is missed.
 */
import "../tools/lib/node-version.mjs";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build, installPackages } from "../tools/lib/prepare.mjs";
import { run, runAttached } from "../tools/lib/processes.mjs";
import { pulumiCli } from "../tools/lib/pulumi-cli.mjs";
import { runMain, say, Trouble } from "../tools/lib/say.mjs";
import { circumstances, writePart } from "./lib/document.mjs";
import { table } from "./lib/report.mjs";
import { reading } from "./measures/reading.mjs";
import { scale } from "./measures/scale.mjs";
import { throttled } from "./measures/throttled.mjs";
import { waiting } from "./measures/waiting.mjs";

const measures = { waiting, reading, scale, throttled };
/** Programs of their own, which print what they measure. */
const others = ["preview", "policy", "network"];

/** @typedef {keyof typeof measures} Name */

await runMain("bench", async () => {
  const names = Object.keys(measures);
  const asked = process.argv.slice(2);
  const unknown = asked.find((name) => ![...names, ...others].includes(name));
  if (unknown)
    throw new Trouble(`There is no measurement "${unknown}"; there are ${[...names, ...others].join(", ")}.`);
  await installPackages();
  await build();
  const cli = await pulumiCli();
  /** @type {typeof import("../service/index.js")} */
  const module = await import("pulumi-consortium/service");
  const wanted = (/** @type {string} */ name) => asked.length === 0 || asked.includes(name);

  const rows = [];
  for (const name of names.filter(wanted)) {
    say(`Measuring ${name} …`);
    const result = await measures[/** @type {Name} */ (name)]({ cli, module });
    rows.push(...result.rows);
    for (const { measure, measured, met } of result.rows) say(`${met ? "met" : "NOT MET"}: ${measure}: ${measured}`);
    if (result.details) say(result.details);
  }
  const { stdout } = await run(cli.command, ["version"], { env: { ...process.env, ...cli.env } });
  const cells = rows.map(({ measure, target, measured, met }) => [measure, target, measured, met ? "yes" : "**no**"]);
  const text = `Measured on ${circumstances(stdout.trim())}.\n\n${table(["measure", "target", "measured", "met"], cells)}`;
  if (rows.length > 0) console.log(text);
  if (asked.length === 0) await writePart("docs/performance.md", "bench", text);

  const codes = [];
  for (const name of others.filter(wanted)) {
    const file = fileURLToPath(new URL(`${name}.mjs`, import.meta.url));
    if (existsSync(file)) codes.push((await runAttached(process.execPath, [file])).code);
  }
  return rows.every(({ met }) => met) && codes.every((code) => code === 0) ? 0 : 1;
});
