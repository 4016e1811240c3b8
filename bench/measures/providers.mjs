// @ts-check
/**
 * The dynamic provider beside the plugin and beside resources that do nothing, in JavaScript and in YAML: the time of a preview and an
 * `up` of a large stack, its memory, and the requests of a refresh.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "../../tools/lib/prepare.mjs";
import { pulumiCli } from "../../tools/lib/pulumi-cli.mjs";
import { log } from "../../tools/lib/terminal.mjs";
import { watchMemory } from "../lib/processes.mjs";
import { comparePreviews, quickstart } from "../lib/previews.mjs";
import { bounded, seconds, table } from "../lib/report.mjs";
import { finished, on, refreshArgs, Stack, upArgs, withRig } from "../lib/stack.mjs";
import { emptyMembers, members, membersInYaml, referenceInYaml } from "../programs/networks.mjs";

const latency = 20;
/** The whole state is written twice for each resource, so 2,000 memberships take many minutes. */
const upLimitMs = 30 * 60_000;
const most = { reference: 0.4, program: 1.15, requests: 10, classes: 0.95, preview: 0.35, up: 0.6, unchecked: 0.3 };

/** A folder with the plugin installed, as users have it: the CLI then keeps its schema. @param {import("../../tools/lib/pulumi-cli.mjs").PulumiCli} cli */
function installed(cli) {
  const home = mkdtempSync(join(tmpdir(), "consortium-bench-home-"));
  const env = { ...process.env, ...cli.env, PULUMI_HOME: home };
  execFileSync(process.execPath, [join(root, "dist/cli/consortium.js"), "plugin", "install"], { env });
  return home;
}

const inYaml = (/** @type {string} */ resources) => ({
  "Pulumi.yaml": "name: bench\nruntime: yaml\n",
  "Main.yaml": resources,
});

/** @typedef {{ title: string, program?: string, files?: Record<string, string>, env?: Record<string, string> }} Side */

/** @param {number} count */
const sidesOf = (count) => ({
  empty: { title: "as many empty dynamic resources", program: emptyMembers(count) },
  dynamic: { title: "dynamic provider, JavaScript", program: members(count), env: on("dynamic") },
  plugin: { title: "plugin, JavaScript", program: members(count), env: on("plugin") },
  yaml: { title: "plugin, YAML", files: inYaml(membersInYaml(count)) },
});

/** @typedef {{ preview: number, up: number, unchecked: number, memory: number, requests: number }} Figures milliseconds; bytes at their peak; requests of a refresh */

/**
 * @param {import("../lib/stack.mjs").Tools} tools
 * @param {Side} side
 * @returns {Promise<Figures>}
 */
const figuresOf = (tools, { title, ...side }) =>
  withRig(tools, { program: "", ...side, service: { timing: { latency } } }, async (service, stack) => {
    const preview = await stack.ok(["preview"]);
    const started = stack.start(upArgs, {}, upLimitMs);
    const memory = watchMemory(started.pid ?? 0);
    const up = await finished(started);
    const { pss } = memory.end();
    if (up.code !== 0) throw new Error(`up of ${title} failed:\n${up.text}`);
    service.clearCalls();
    await stack.ok(refreshArgs);
    const requests = service.calls.length;
    await stack.ok(["destroy", "--yes", "--skip-preview"], { PULUMI_SKIP_CHECKPOINTS: "true" });
    const unchecked = await stack.ok(upArgs, { PULUMI_SKIP_CHECKPOINTS: "true" });
    log(`${title}: preview ${seconds(preview.ms)}, up ${seconds(up.ms)}, without checkpoints ${seconds(unchecked.ms)}`);
    return { preview: preview.ms, up: up.ms, unchecked: unchecked.ms, memory: pss, requests };
  });

/** @param {import("../../tools/lib/pulumi-cli.mjs").PulumiCli} cli */
async function references(cli) {
  const expected = "+ 12 to create";
  return comparePreviews(
    [
      {
        title: "the reference network in YAML, on the plugin",
        stack: await Stack.create(cli, { files: inYaml(referenceInYaml) }),
        expected,
      },
      { title: "the quickstart in TypeScript", stack: await quickstart(cli), expected },
    ],
    {},
    most.reference,
  );
}

/** @type {import("../lib/stack.mjs").Measure} */
export const providers = async (given) => {
  const cli = await pulumiCli({ languages: true });
  const home = installed(cli);
  try {
    return await compare({ ...given, cli: { ...cli, env: { ...cli.env, PULUMI_HOME: home } } });
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
};

/** @type {import("../lib/stack.mjs").Measure} */
async function compare(tools) {
  const { count = 500, rounds = 2 } = tools.options ?? {};
  const sides = Object.entries(sidesOf(count));
  /** @type {Record<string, Figures[]>} */
  const all = Object.fromEntries(sides.map(([name]) => [name, []]));
  for (let round = 0; round < rounds; round++)
    for (const [name, side] of round % 2 === 0 ? sides : sides.toReversed())
      all[name]?.push(await figuresOf(tools, side));
  const best = (/** @type {string} */ side, /** @type {keyof Figures} */ figure) =>
    Math.min(...(all[side] ?? []).map((one) => one[figure]));
  const compared = (
    /** @type {string} */ measure,
    /** @type {[number, number]} */ [ours, other],
    /** @type {number} */ limit,
    /** @type {string} */ of,
  ) =>
    bounded(`${measure} of ${count} memberships`, ours / other, {
      most: limit,
      of,
      measured: `${seconds(ours)} against ${seconds(other)}: ×${(ours / other).toFixed(2)}`,
    });
  const onDynamic = "the dynamic provider's";
  const { rows, details = "" } = await references(tools.cli);
  const figures = sides.map(([name, { title }]) => [
    title,
    ...[best(name, "preview"), best(name, "up"), best(name, "unchecked")].map(seconds),
    `${Math.round(best(name, "memory") / 2 ** 20)} MB`,
  ]);
  return {
    rows: [
      ...rows,
      compared("`up`", [best("dynamic", "up"), best("empty", "up")], most.program, "as many empty dynamic resources"),
      bounded("requests of their `refresh`", best("dynamic", "requests"), { most: most.requests }),
      compared(
        "preview, classes on the dynamic provider,",
        [best("dynamic", "preview"), best("empty", "preview")],
        most.classes,
        "as many empty dynamic resources",
      ),
      compared("preview, in YAML,", [best("yaml", "preview"), best("dynamic", "preview")], most.preview, onDynamic),
      compared("`up`, in YAML,", [best("yaml", "up"), best("dynamic", "up")], most.up, onDynamic),
      compared(
        "`up`, in YAML and without checkpoints,",
        [best("yaml", "unchecked"), best("dynamic", "up")],
        most.unchecked,
        `${onDynamic} with them`,
      ),
    ],
    details: `${details}\n\n${count} memberships, ${latency} ms a call, the fastest of ${rounds} runs:\n\n${table(["", "preview", "`up`", "`up` without checkpoints", "memory of all processes"], figures)}`,
  };
}
