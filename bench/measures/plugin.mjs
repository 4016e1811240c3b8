// @ts-check
/**
 * The installed provider plugin: its start compared with an empty Node.js, and a preview of many resources in YAML with it and with a
 * plugin that does nothing. The sides alternate.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { root } from "../../tools/lib/prepare.mjs";
import { pulumiCli } from "../../tools/lib/pulumi-cli.mjs";
import { log, UserError } from "../../tools/lib/terminal.mjs";
import { bounded, median, seconds } from "../lib/report.mjs";
import { Stack } from "../lib/stack.mjs";

const count = 500;
const name = "pulumi-resource-consortium";
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
/** Prints a line and waits for its end, like a plugin. */
const empty = "console.log(1); setInterval(() => 0, 1000)";

/** The plugin of this repository, and one that does nothing. */
const plugins = {
  own: join(root, "plugin", name),
  empty: fileURLToPath(new URL("../programs/empty-plugin.cjs", import.meta.url)),
};

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

/** A stack of a YAML program with many resources, and a plugin installed. @param {string} program the plugin's */
async function yamlStack(program) {
  const cli = await pulumiCli({ languages: true });
  const members = Array.from({ length: count }, (_, at) => [
    `m${at}`,
    { type: "consortium:Membership", properties: { consortiumId: "${trade.id}", orgName: `org ${at}` } },
  ]);
  const provider = { type: "pulumi:providers:consortium", defaultProvider: true, options: { version } };
  const resources = { provider, trade: { type: "consortium:Consortium" }, ...Object.fromEntries(members) };
  const project = { name: "bench", runtime: "yaml", resources };
  const stack = await Stack.create(cli, { files: { "Pulumi.yaml": JSON.stringify(project) } });
  const folder = join(stack.folder, "plugin");
  mkdirSync(folder);
  writeFileSync(join(folder, name), `#!/bin/sh\nexec node "${program}" "$@"\n`, { mode: 0o755 });
  // `npm run` puts the plugin of this repository on PATH, which Pulumi prefers to an installed one.
  const PATH = cli.env.PATH.split(delimiter)
    .filter((path) => !path.endsWith(join("node_modules", ".bin")))
    .join(delimiter);
  Object.assign(stack.env, { PATH, PULUMI_HOME: join(stack.folder, "home") });
  await stack.ok(["stack", "select", "test"]);
  await stack.ok(["plugin", "install", "resource", "consortium", `v${version}`, "--file", folder]);
  return stack;
}

/** The time of a preview. @param {Stack} stack */
async function previewed(stack) {
  const { text, ms } = await stack.ok(["preview"], { CONSORTIUM_OFFLINE_PREVIEW: "true" });
  if (!text.includes(`+ ${count + 3} to create`)) throw new UserError(`Unexpected preview:\n${text.slice(-2000)}`);
  return ms;
}

/** @param {number} rounds @returns {Promise<import("../lib/stack.mjs").Row[]>} */
export async function plugin(rounds) {
  const [yaml, other] = [await yamlStack(plugins.own), await yamlStack(plugins.empty)];
  /** @type {Record<"empty" | "own" | "others" | "preview", number>[]} */
  const all = [];
  try {
    for (const stack of [yaml, other]) await previewed(stack); // warms up
    for (let round = 0; round < rounds; round++) {
      all.push({
        empty: await start(process.execPath, ["--eval", empty]),
        own: await start(plugins.own, []),
        others: await previewed(other),
        preview: await previewed(yaml),
      });
      log(`plugin: round ${round + 1} of ${rounds}`);
    }
  } finally {
    for (const stack of [yaml, other]) stack.remove();
  }
  /** @param {string} measure @param {"own" | "preview"} ours @param {"empty" | "others"} base @param {number} most @param {string} of */
  const row = (measure, ours, base, most, of) => {
    const ratio = median(all.map((one) => one[ours] / one[base]));
    const [mine, theirs] = [median(all.map((one) => one[ours])), median(all.map((one) => one[base]))];
    const measured = `${seconds(mine)} against ${seconds(theirs)}: ×${ratio.toFixed(2)}, the median of ${rounds} rounds`;
    return bounded(measure, ratio, { most, of, measured });
  };
  return [
    row("start of the plugin", "own", "empty", 2, "that of an empty Node.js"),
    row(`a preview of ${count} resources in YAML`, "preview", "others", 1.5, "that with an empty plugin"),
  ];
}
