// @ts-check
/**
 * The installed provider plugin: its start compared with an empty Node.js, and its own part in a preview of many resources in YAML.
 * That part is its CPU time minus an empty plugin's; the rest is Pulumi's protocol in Node.js. The sides alternate.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
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
/** Reports its time, and waits for its end, like a plugin. */
const empty =
  "const { user, system } = process.cpuUsage(); console.log((user + system) / 1000); setInterval(() => 0, 1000)";

/** Starts a process, and waits for its first line, as the engine does. @param {string} command @param {string[]} args */
async function start(command, args) {
  const began = performance.now();
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = await once(child.stdout, "data");
  const ms = performance.now() - began;
  child.kill("SIGINT"); // as the engine does
  await once(child, "exit");
  return { ms, line: Number(line) };
}

/** The plugin of this repository, and one that does nothing. */
const plugins = {
  own: join(root, "plugin", name),
  empty: fileURLToPath(new URL("../programs/empty-plugin.cjs", import.meta.url)),
};

function members() {
  const all = Array.from({ length: count }, (_, at) => [
    `m${at}`,
    { type: "consortium:Membership", properties: { consortiumId: "${trade.id}", orgName: `org ${at}` } },
  ]);
  return { trade: { type: "consortium:Consortium" }, ...Object.fromEntries(all) };
}

/**
 * A stack of a YAML program, with a plugin and a meter in it installed.
 * @param {string} program the plugin's
 * @param {Record<string, object>} resources
 */
async function yamlStack(program, resources) {
  const cli = await pulumiCli({ languages: true });
  const provider = { type: "pulumi:providers:consortium", defaultProvider: true, options: { version } };
  const project = { name: "bench", runtime: "yaml", resources: { provider, ...resources } };
  const stack = await Stack.create(cli, { files: { "Pulumi.yaml": JSON.stringify(project) } });
  const folder = join(stack.folder, "plugin");
  mkdirSync(folder);
  const meter = fileURLToPath(new URL("../programs/meter.cjs", import.meta.url));
  const script = `#!/bin/sh\nexec node --require "${meter}" "${program}" "$@"\n`;
  writeFileSync(join(folder, name), script, { mode: 0o755 });
  const metered = join(stack.folder, "meter");
  // `npm run` puts the plugin of this repository on PATH, which Pulumi prefers to an installed one.
  const PATH = cli.env.PATH.split(delimiter)
    .filter((path) => !path.endsWith(join("node_modules", ".bin")))
    .join(delimiter);
  Object.assign(stack.env, { PATH, PULUMI_HOME: join(stack.folder, "home"), BENCH_METER: metered });
  await stack.ok(["stack", "select", "test"]);
  await stack.ok(["plugin", "install", "resource", "consortium", `v${version}`, "--file", folder]);
  return { stack, metered };
}

/** Time of a preview, and CPU time of the plugin in it. @param {Awaited<ReturnType<typeof yamlStack>>} of */
async function previewed({ stack, metered }) {
  rmSync(metered, { force: true });
  const { text, ms } = await stack.ok(["preview"], { CONSORTIUM_OFFLINE_PREVIEW: "true" });
  if (!text.includes(`+ ${count + 3} to create`)) throw new UserError(`Unexpected preview:\n${text.slice(-2000)}`);
  if (!existsSync(metered)) throw new UserError("The plugin was not measured.");
  const parts = readFileSync(metered, "utf8").trim().split("\n").map(Number);
  return { ms, part: Math.max(...parts) }; // one is only called for its schema
}

/** @param {number} rounds @returns {Promise<import("../lib/stack.mjs").Row[]>} */
export async function plugin(rounds) {
  const yaml = await yamlStack(plugins.own, members());
  const other = await yamlStack(plugins.empty, members());
  /** @type {Record<"empty" | "emptyCpu" | "own" | "preview" | "part", number>[]} */
  const all = [];
  try {
    for (const stack of [yaml, other]) await previewed(stack); // warms up
    for (let round = 0; round < rounds; round++) {
      const [base, own] = [await start(process.execPath, ["--eval", empty]), await start(plugins.own, [])];
      const [ours, others] = [await previewed(yaml), await previewed(other)];
      const part = ours.part - others.part;
      all.push({ empty: base.ms, emptyCpu: base.line, own: own.ms, preview: ours.ms / others.ms, part });
      log(`plugin: round ${round + 1} of ${rounds}`);
    }
  } finally {
    for (const { stack } of [yaml, other]) stack.remove();
  }
  const middle = (/** @type {(one: (typeof all)[number]) => number} */ of) => median(all.map(of));
  const [started, part, preview] = [
    middle(({ own, empty }) => own / empty),
    middle(({ part, emptyCpu }) => part / emptyCpu),
    middle(({ preview }) => preview),
  ];
  const text = (/** @type {number} */ ours, /** @type {number} */ others, /** @type {number} */ ratio) =>
    `${seconds(ours)} against ${seconds(others)}: ×${ratio.toFixed(2)}, the median of ${rounds} rounds`;
  const [own, others, parts, cpu] = [
    middle(({ own }) => own),
    middle(({ empty }) => empty),
    middle(({ part }) => part),
    middle(({ emptyCpu }) => emptyCpu),
  ];
  return [
    bounded("start of the plugin", started, {
      most: 2,
      of: "that of an empty Node.js",
      measured: text(own, others, started),
    }),
    bounded(`CPU time of the plugin itself in a preview of ${count} resources in YAML`, part, {
      most: 2.5, // 0.3 s where an empty Node.js takes 0.12 s
      of: "the start of an empty Node.js",
      measured: `${text(parts, cpu, part)}; the whole preview ×${preview.toFixed(2)} that with an empty plugin`,
    }),
  ];
}
