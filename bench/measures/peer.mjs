// @ts-check
/**
 * The same network with Terraform's provider for the same API, an executable that PEER names, and with this one, on the embedded service
 * without its waits. The sides alternate. CPU time is that of all processes. An empty plugin shows what Pulumi takes alone.
 */
import { spawn } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { finished, neutralEnv, onPath } from "../../tools/lib/processes.mjs";
import { log, UserError } from "../../tools/lib/terminal.mjs";
import { bounded, median, seconds } from "../lib/report.mjs";
import { Stack, upArgs } from "../lib/stack.mjs";
import { plugins, yamlStack } from "./plugin.mjs";

const apiKey = "bench-key";
const source = "registry.terraform.io/kaleido-io/kaleido";
const version = "1.0.0"; // any: Terraform wants one
const architecture = process.arch === "x64" ? "amd64" : process.arch;

/** Environments of four members each, with a node and a credential. The consortium is one more. */
const perEnvironment = 13;
const membersEach = 4;
const numbers = (/** @type {number} */ count) => Array.from({ length: count }, (_, at) => at);
/** Each member with its environment. @param {number} environments */
const membersOf = (environments) =>
  numbers(membersEach * environments).map((at) => ({ at, of: Math.floor(at / membersEach) }));

/** @param {number} environments */
const configuration = (environments) => `
terraform {
  required_providers {
    kaleido = { source = "${source}" }
  }
}
provider "kaleido" {}
resource "kaleido_consortium" "trade" {
  name        = "trade"
  description = "Bench"
}
${numbers(environments)
  .map(
    (at) => `
resource "kaleido_environment" "e${at}" {
  consortium_id  = kaleido_consortium.trade.id
  name           = "e${at}"
  description    = "Bench"
  env_type       = "quorum"
  consensus_type = "raft"
}
`,
  )
  .join("")}
${membersOf(environments)
  .map(
    ({ at, of }) => `
resource "kaleido_membership" "m${at}" {
  consortium_id = kaleido_consortium.trade.id
  org_name      = "org ${at}"
}
resource "kaleido_node" "n${at}" {
  consortium_id  = kaleido_consortium.trade.id
  environment_id = kaleido_environment.e${of}.id
  membership_id  = kaleido_membership.m${at}.id
  name           = "n${at}"
}
resource "kaleido_app_creds" "c${at}" {
  consortium_id  = kaleido_consortium.trade.id
  environment_id = kaleido_environment.e${of}.id
  membership_id  = kaleido_membership.m${at}.id
  name           = "c${at}"
}
`,
  )
  .join("")}`;

/** The same in YAML. @param {number} environments @returns {Record<string, object>} */
function resources(environments) {
  const consortiumId = "${trade.id}";
  const ledger = { consortiumId, description: "Bench", provider: "quorum", consensusType: "raft" };
  const all = [
    ["trade", { type: "consortium:Consortium", properties: { name: "trade", description: "Bench" } }],
    ...numbers(environments).map((at) => [
      `e${at}`,
      { type: "consortium:Environment", properties: { ...ledger, name: `e${at}` } },
    ]),
    ...membersOf(environments).flatMap(({ at, of }) => {
      const inside = { consortiumId, environmentId: `\${e${of}.id}`, membershipId: `\${m${at}.id}` };
      return [
        [`m${at}`, { type: "consortium:Membership", properties: { consortiumId, orgName: `org ${at}` } }],
        [`n${at}`, { type: "consortium:Node", properties: { ...inside, name: `n${at}` } }],
        [`c${at}`, { type: "consortium:AppCred", properties: { ...inside, name: `c${at}` } }],
      ];
    }),
  ];
  return Object.fromEntries(all);
}

/** The same in TypeScript. @param {number} environments */
const program = (environments) => `
import { AppCred, Consortium, Environment, Membership, Node } from "pulumi-consortium";
const description = "Bench";
const consortium = new Consortium("trade", { description });
for (let e = 0; e < ${environments}; e++) {
  const environment = new Environment(\`e\${e}\`, { consortium, description, provider: "quorum", consensusType: "raft" });
  for (let at = ${membersEach} * e; at < ${membersEach} * (e + 1); at++) {
    const membership = new Membership(\`m\${at}\`, { consortium, orgName: \`org \${at}\` });
    new Node(\`n\${at}\`, { environment, membership });
    new AppCred(\`c\${at}\`, { environment, membership });
  }
}
`;

/** @typedef {{ ms: number, cpu: number }} Taken */
/** @typedef {Record<string, string | undefined>} Env */

/**
 * Runs a command, which must succeed. @param {string[]} command @param {string} cwd @param {Env} env
 * @returns {Promise<Taken & { text: string }>} with the CPU time of all its processes
 */
async function taken(command, cwd, env) {
  const script = '"$@"; code=$?; times; exit $code'; // the last line: the children's user and system time
  const child = spawn("sh", ["-c", script, "sh", ...command], { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  const { code, text, ms } = await finished(child);
  if (code !== 0) throw new UserError(`${command.join(" ")} failed:\n${text.slice(-3000)}`);
  const parts = [...(text.trim().split("\n").at(-1) ?? "").matchAll(/(\d+)m([\d.]+)s/g)];
  const cpu = parts.reduce((sum, [, minutes, rest]) => sum + 60_000 * Number(minutes) + 1000 * Number(rest), 0);
  return { ms, cpu, text };
}

/** What is compared, in this order: `quick` is without checkpoints, `again` reads everything and changes nothing. */
const steps = /** @type {const} */ (["plan", "quick", "apply", "again"]);
/** @typedef {(typeof steps)[number]} Step */

/**
 * @typedef {object} Side
 * @property {Partial<Record<Step, (env: Env) => Promise<Taken & { text: string }>>>} steps
 * @property {() => void} forget back to no state
 * @property {() => void} remove
 */

/** @param {number} environments @returns {Promise<Side>} */
async function terraform(environments) {
  const [command] = [...onPath("terraform"), ...onPath("tofu")];
  const provider = process.env.PEER;
  if (!command || !provider)
    throw new UserError("PEER must name the executable of Terraform's provider, and PATH have terraform or tofu.");
  const folder = mkdtempSync(join(tmpdir(), "consortium-bench-terraform-"));
  const mirror = join(folder, "mirror", source, version, `${process.platform}_${architecture}`);
  mkdirSync(mirror, { recursive: true });
  copyFileSync(provider, join(mirror, `terraform-provider-kaleido_v${version}`));
  writeFileSync(join(folder, "main.tf"), configuration(environments));
  const neutral = Object.entries(neutralEnv()).filter(([name]) => !name.startsWith("TF_"));
  const run = (/** @type {string[]} */ args, /** @type {Env} */ env = {}) =>
    taken([command, ...args, "-input=false", "-no-color"], folder, {
      ...Object.fromEntries(neutral),
      CHECKPOINT_DISABLE: "1", // asks for no newer version
      KALEIDO_API: env.CONSORTIUM_BASE_URL,
      KALEIDO_API_KEY: apiKey,
    });
  await run(["init", `-plugin-dir=${join(folder, "mirror")}`]);
  const plan = (/** @type {Env} */ env) => run(["plan"], env);
  return {
    steps: { plan, apply: (env) => run(["apply", "-auto-approve"], env), again: plan },
    forget: () => rmSync(join(folder, "terraform.tfstate"), { force: true }),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** @param {Stack} stack @param {Step[]} asked @returns {Side} */
function pulumi(stack, asked) {
  const state = join(stack.folder, "state/.pulumi/stacks/bench/test.json");
  const before = join(stack.folder, "before.json");
  copyFileSync(state, before);
  const run = (/** @type {Env} */ env, /** @type {string[]} */ ...args) =>
    taken([stack.command, ...args, "--non-interactive", "--color", "never"], stack.folder, { ...stack.env, ...env });
  const quick = (/** @type {Env} */ env, /** @type {string[]} */ ...args) =>
    run({ ...env, PULUMI_SKIP_CHECKPOINTS: "true" }, ...args);
  /** @type {Required<Side["steps"]>} */
  const all = {
    plan: (env) => run(env, "preview"),
    quick: (env) => quick(env, "preview"),
    apply: (env) => quick(env, ...upArgs),
    again: (env) => quick(env, "preview", "--refresh"),
  };
  return {
    steps: Object.fromEntries(asked.map((step) => [step, all[step]])),
    forget: () => copyFileSync(before, state),
    remove: () => stack.remove(),
  };
}

/** @param {import("../lib/stack.mjs").Tools} tools @param {number} environments */
async function sidesOf({ cli }, environments) {
  const files = {
    "index.ts": program(environments),
    "tsconfig.json": JSON.stringify({ compilerOptions: { target: "es2022", module: "commonjs", strict: true } }),
    "package.json": JSON.stringify({ name: "bench", main: "index.ts" }),
  };
  const yaml = (/** @type {string} */ plugin) => yamlStack(plugin, resources(environments));
  return {
    terraform: await terraform(environments),
    own: pulumi((await yaml(plugins.own)).stack, [...steps]),
    empty: pulumi((await yaml(plugins.empty)).stack, ["plan", "quick", "apply"]),
    typescript: pulumi(await Stack.create(cli, { files }), ["quick"]),
  };
}

/** The number of resources that each step finds. */
const found =
  /Plan: (\d+) to add|\+ (\d+) to create|Resources: (\d+) added|\+ (\d+) created|(\d+) unchanged|(no changes)/;

/**
 * All steps of all sides, each side on a service of its own. A step of one side follows the same of another, so that other load on the
 * machine affects both.
 * @template {string} Name @param {Record<Name, Side>} sides @param {import("../lib/stack.mjs").Tools} tools @param {number} count
 */
async function round(sides, { module }, count) {
  const organizations = [{ name: "bench", apiKey }];
  const timing = { environmentStart: 0, nodeStart: 0 };
  /** @type {Partial<Record<`${Name} ${Step}`, Taken>>} */
  const all = {};
  const names = /** @type {Name[]} */ (Object.keys(sides));
  const services = await Promise.all(
    names.map(() => module.startService({ organizations, limits: { environments: count }, timing })),
  );
  try {
    for (const name of names) sides[name].forget();
    for (const step of steps)
      for (const [at, name] of names.entries()) {
        const one = await sides[name].steps[step]?.({
          CONSORTIUM_BASE_URL: services[at]?.baseUrl,
          CONSORTIUM_API_KEY: apiKey,
        });
        if (!one) continue;
        const [, ...counts] = found.exec(one.text) ?? [];
        // Pulumi also counts the stack and the provider.
        if (!counts.some((text) => text === "no changes" || Number(text) >= count))
          throw new UserError(`Not ${count} resources:\n${one.text.slice(-2000)}`);
        all[`${name} ${step}`] = one;
      }
  } finally {
    await Promise.all(services.map((one) => one.close()));
  }
  return all;
}

/** @param {import("../lib/stack.mjs").Tools} tools @param {number} environments @param {number} rounds */
async function compared(tools, environments, rounds) {
  const count = 1 + perEnvironment * environments;
  const sides = await sidesOf(tools, environments);
  /** @type {Awaited<ReturnType<typeof round<keyof typeof sides>>>[]} */
  const all = [];
  try {
    for (let at = 0; at <= rounds; at++) {
      const one = await round(sides, tools, count);
      if (at > 0) all.push(one); // the first one warms up
      log(`${count} resources: round ${at} of ${rounds}`);
    }
  } finally {
    for (const side of Object.values(sides)) side.remove();
  }
  /** @param {string} what @param {Step} step @param {"plan" | "apply" | "again"} of Terraform's @param {number} most */
  const row = (what, step, of, most) => {
    const middle = (/** @type {keyof typeof sides} */ name, /** @type {Step} */ at, /** @type {keyof Taken} */ unit) =>
      median(all.map((one) => one[`${name} ${at}`]?.[unit] ?? NaN));
    const ratio = (/** @type {keyof typeof sides} */ name, /** @type {keyof Taken} */ unit) =>
      median(all.map((one) => (one[`${name} ${step}`]?.[unit] ?? NaN) / (one[`terraform ${of}`]?.[unit] ?? NaN)));
    const text = (/** @type {keyof typeof sides} */ name) =>
      `×${ratio(name, "ms").toFixed(2)} (CPU ×${ratio(name, "cpu").toFixed(2)})`;
    const others = step === "again" ? "" : `; alone ${text("empty")}`;
    const typescript = step === "quick" ? `; TypeScript ${text("typescript")}` : "";
    const measured = `${seconds(middle("own", step, "ms"))} : ${seconds(middle("terraform", of, "ms"))}, ${text("own")}${others}${typescript}`;
    const baseline = `\`${of === "apply" ? of : "plan"}\``;
    return bounded(`${what}, ${count}`, ratio("own", "ms"), { most, of: baseline, measured });
  };
  return [
    row("`preview`", "plan", "plan", 1),
    row("`preview` without checkpoints", "quick", "plan", 1),
    row("`preview --refresh` without checkpoints", "again", "again", 1),
    row("`up` without checkpoints", "apply", "apply", 0.6),
  ];
}

/** @type {import("../lib/stack.mjs").Measure} */
export const peer = async (tools) => {
  const { rounds = 5 } = tools.options ?? {};
  return [...(await compared(tools, 4, rounds)), ...(await compared(tools, 38, rounds))];
};
