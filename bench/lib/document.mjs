// @ts-check
/** A part of a page in docs/ that a program writes; the words around it are people's. */
import { readFileSync, writeFileSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import { join } from "node:path";
import { root } from "../../tools/lib/prepare.mjs";
import { run } from "../../tools/lib/processes.mjs";
import { Trouble } from "../../tools/lib/say.mjs";

/**
 * Replaces what is between `<!-- NAME -->` and `<!-- /NAME -->`, and formats the page.
 * @param {string} page such as `docs/maintainers/reliability.md`
 * @param {string} name
 * @param {string} text
 */
export async function writePart(page, name, text) {
  const file = join(root, page);
  const before = readFileSync(file, "utf8");
  const [start, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  if (!before.includes(start) || !before.includes(end)) throw new Trouble(`${page} has no part "${name}"`);
  const after = `${before.split(start)[0]}${start}\n\n${text.trim()}\n\n${end}${before.split(end)[1]}`;
  await writeFormatted(file, after);
}

/**
 * @param {string} file
 * @param {string} text
 */
export async function writeFormatted(file, text) {
  const { format, resolveConfig } = await import("prettier");
  writeFileSync(file, await format(text, { ...(await resolveConfig(file)), filepath: file }));
}

/** Date, versions and machine: what a figure is worth nothing without. @param {import("../../tools/lib/pulumi-cli.mjs").PulumiCli} cli */
export async function circumstances(cli) {
  const { stdout } = await run(cli.command, ["version"], { env: { ...process.env, ...cli.env } });
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const sdk = JSON.parse(readFileSync(join(root, "node_modules/@pulumi/pulumi/package.json"), "utf8")).version;
  const machine = `${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GB`;
  const date = new Date().toISOString().slice(0, 10);
  return `${date}, pulumi-consortium ${version}, Node.js ${process.version.slice(1)}, Pulumi ${stdout.trim().replace(/^v/, "")}, \`@pulumi/pulumi\` ${sdk}, ${machine}`;
}
