import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { type Command as Program, Option } from "commander";
import { packOf, readFleet } from "./file";
import { problemOfPack } from "./rules";
import { defaultOut, fleetManifests, neededSecrets } from "./manifests";
import {
  exitCode,
  isGood,
  ledgerWarnings,
  liveView,
  plainView,
  summaryJson,
  summaryJunit,
  summaryLine,
  summaryTable,
} from "./output";
import { Stop } from "./pulumi";
import { type Command, type FleetResult, mergeResults } from "./results";
import { runFleet } from "./run";
import { readSecrets } from "./secrets";
import { type Changes } from "./changes";
import { type Fleet } from "./schema";
import { removedNotes, type Selection, selected, type Wanted } from "./selection";
import { matrices, mostShards, plannedShards, shardIn, titleOf } from "./shards";
import { type RunOptions } from "./stack";
import { confirm, repeatable, replaceFile, stopSignals, wholeNumber } from "pulumi-consortium/internal/fleet";

/** Columns of the summary if it is not printed on a terminal. */
const widthOfLogs = 140;

interface Flags extends Wanted {
  policyPack?: string[];
  parallel?: number;
  json?: boolean;
  junit?: string;
  yes?: boolean;
  refresh?: boolean;
  takeOver?: boolean;
}

const commands: Record<Command, string> = {
  up: "deploy the network file of every stack",
  preview: "show what up would change in each stack",
  destroy: "destroy everything in every stack",
  drift: "compare the service with the state; exit code 2 if they differ",
};

const notes: Record<Command, string> = {
  up: "Without --yes, it shows a preview and asks for confirmation. Where there is no terminal, it exits with code 1.",
  preview:
    "Warns of every ledger that would be replaced or deleted. Changes nothing: for a stack that does not exist yet, it creates an\nempty one to compare with, and removes it again.",
  destroy: "Without --yes, it asks for confirmation. Where there is no terminal, it exits with code 1.",
  drift:
    "Changes nothing, neither in the service nor in the state.\nExit code 2: something differs, and no stack failed.",
};

export function define(program: Program): void {
  defineManifests(program);
  definePlan(program);
  defineMerge(program);
  for (const [name, summary] of Object.entries(commands) as [Command, string][]) {
    const command = program.command(name).description(summary);
    command
      .argument("<file>", "the fleet file, such as fleet.yaml")
      .option(
        "--parallel <count>",
        "maximum parallel stacks, 1 to 64 (default: concurrency of the file, or 4)",
        wholeNumber(1, 64),
      )
      .addOption(only())
      .option("--shard <shard>", "only one of several shares of the stacks, such as 2/5, by their names", shardIn)
      .option("--json", "print one JSON document")
      .option("--junit <file>", "also write the results as JUnit XML");
    if (name !== "drift") command.option("--refresh", "read the service first, so that up corrects drift");
    if (name === "up" || name === "preview")
      command
        .addOption(changedSince())
        .addOption(repeatable("--policy-pack <folder>", "one more policy pack, besides those of the file"))
        .option("--take-over", "take over stacks that belong to another fleet file, with everything in them");
    if (name === "up" || name === "destroy") command.option("--yes", "do not ask for confirmation");
    command
      .addHelpText("after", `\n${notes[name]}\nExit code 1: a stack failed or was not finished.`)
      .action((file: string, flags: Flags) => fleet(name, file, flags));
  }
}

const only = () => repeatable("--only <pattern>", "only matching stacks, such as acme-prod or 'acme-*'", "all");

const changedSince = () =>
  new Option(
    "--changed-since <commit>",
    "only stacks whose network file, program or settings differ from a commit, and those that depend on them",
  );

function definePlan(program: Program): void {
  program
    .command("plan")
    .description("show how the stacks spread over shards, or write the matrix of a pipeline")
    .argument("<file>", "the fleet file, such as fleet.yaml")
    .option(
      "--shards <count>",
      `number of shards, 1 to ${mostShards} (default: one for every 50 stacks)`,
      wholeNumber(1, mostShards),
    )
    .addOption(new Option("--matrix <forge>", "write the matrix for this forge").choices(Object.keys(matrices)))
    .addOption(only())
    .addOption(changedSince())
    .addHelpText("after", "\nNeeds no keys and no Pulumi. See docs/fleet.md for the pipelines.")
    .action((file: string, flags: PlanFlags) => plan(file, flags));
}

interface PlanFlags extends Wanted {
  shards?: number;
  matrix?: keyof typeof matrices;
}

function plan(file: string, { shards, matrix, ...wanted }: PlanFlags): void {
  const definition = readFleet(file, { env: process.env, secrets: false });
  const { stacks, changes } = selected(definition, wanted);
  const planned = plannedShards(definition.stacks, stacks, shards);
  if (changes) removedNotes(definition, changes).forEach((line) => console.error(line));
  if (matrix) return console.log(matrices[matrix](planned.map(({ shard }) => shard)));
  for (const { shard, stacks: own } of planned)
    for (const { name } of own)
      console.log([titleOf(shard), name, changes?.reasons.get(name)].filter((part) => part !== undefined).join("  "));
  const [many, all] = [stacks.length, definition.stacks.length];
  console.error(`${many} of ${all} stacks in ${planned.length} shard${planned.length === 1 ? "" : "s"}`);
}

function defineMerge(program: Program): void {
  program
    .command("merge")
    .description("merge the results of several runs, such as those of all shards")
    .argument("<files...>", "what --json printed")
    .option("--json", "print one JSON document")
    .option("--junit <file>", "also write the results as JUnit XML")
    .addHelpText("after", "\nExit code: that of one run of all of these stacks; 1 if a shard is missing.")
    .action((files: string[], flags: Pick<Flags, "json" | "junit">) => {
      const { merged, missing } = mergeResults(files);
      print(merged, flags);
      process.exitCode = missing === undefined ? exitCode(merged) : 1;
      if (missing !== undefined) console.error(missing);
    });
}

function defineManifests(program: Program): void {
  program
    .command("manifests")
    .description("write the same fleet for the Pulumi Kubernetes operator")
    .argument("<file>", "the fleet file, such as fleet.yaml")
    .option("--out <folder>", `output folder (default: ${defaultOut}, next to the fleet file)`)
    .option("--program", "write each network as a Program, for workspaces with the provider plugin")
    .addHelpText("after", "\nManifests refer to keys as Kubernetes Secrets and never contain them. See docs/fleet.md.")
    .action((file: string, { out, program }: { out?: string; program?: boolean }) => manifests(file, out, program));
}

function manifests(file: string, out?: string, programs = false): void {
  const definition = readFleet(file, { env: process.env, secrets: false });
  if (!definition.hasProject) console.error(projectNote(definition));
  const folder = out === undefined ? join(definition.folder, defaultOut) : resolve(out);
  const files = fleetManifests(definition, folder, { programs });
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  console.log(
    `${Object.keys(files).length} files are in ${folder}. Commit them, create these Secrets in the namespace, and apply the manifests:\n` +
      neededSecrets(definition)
        .map((text) => `  ${text}`)
        .join("\n"),
  );
}

async function fleet(command: Command, file: string, flags: Flags): Promise<void> {
  const env = process.env;
  let selection: Selection | undefined;
  const limits = command === "up" || command === "preview";
  const read = readFleet(file, { env, limits, wanted: (fleet) => (selection = selected(fleet, flags)).stacks });
  const { stacks, inAll, changes } = selection!;
  if (changes) changedNotes(read, changes, flags.changedSince!).forEach((line) => console.error(line));
  for (const folder of flags.policyPack ?? []) {
    const pack = packOf(folder, process.cwd());
    const problem = problemOfPack(pack);
    if (problem !== undefined) throw new Error(`--policy-pack ${folder}: ${problem}`);
    read.policyPacks.push(pack);
  }
  const secrets = await readSecrets(read, stacks, env);
  const stop = stopOnSignals();
  if (!read.hasProject) console.error(projectNote(read));
  const { parallel = read.concurrency, refresh, takeOver } = flags;
  const options = { stacks, parallel, refresh, takeOver, secrets, env, stop };
  const run = (what: Command) => runAndPrint(read, { ...options, command: what }, { ...flags, inAll });
  if (!(await agreed(command, stacks.length, flags, run))) return void (process.exitCode = 1);
  await run(command);
}

/** Asks for confirmation before anything is changed. */
async function agreed(
  command: Command,
  count: number,
  flags: Flags,
  run: (command: Command) => Promise<FleetResult>,
): Promise<boolean> {
  if ((command !== "up" && command !== "destroy") || flags.yes || count === 0) return true;
  const many = `${count} stack${count === 1 ? "" : "s"}`;
  if (!process.stdin.isTTY || flags.json) {
    console.error(
      `consortium fleet ${command}: there is no terminal to ask for confirmation. Use --yes to run it for ${many}.`,
    );
    return false;
  }
  if (command === "up" && !(await run("preview")).stacks.every(isGood)) return false;
  const question = command === "up" ? `Change ${many}?` : `Destroy everything in ${many}?`;
  const yes = await confirm(question);
  if (!yes) console.error("Nothing was changed.");
  return yes;
}

/** @param flags `inAll`: the number of stacks in all shards */
async function runAndPrint(
  fleet: Fleet,
  options: Omit<RunOptions, "view">,
  { inAll, shard, ...flags }: Flags & { inAll: number },
): Promise<FleetResult> {
  const { command, stacks, env } = options;
  const startedAt = performance.now();
  const view =
    process.stderr.isTTY && !env.CI
      ? await liveView(process.stderr, stacks.length, !env.NO_COLOR)
      : plainView((line) => void process.stderr.write(`${line}\n`));
  // Without stacks there is nothing to ask the backend.
  const done = stacks.length === 0 ? { stacks: [], strays: [] } : await runFleet(fleet, { ...options, view });
  const result = {
    command,
    project: fleet.project,
    seconds: (performance.now() - startedAt) / 1000,
    shard: shard && { ...shard, inAll },
    ...done,
  };
  print(result, flags, fleet.file);
  process.exitCode = exitCode(result);
  return result;
}

function print(result: FleetResult, { json, junit }: Pick<Flags, "json" | "junit">, file?: string): void {
  if (junit !== undefined) {
    mkdirSync(dirname(resolve(junit)), { recursive: true });
    replaceFile(junit, summaryJunit(result));
  }
  if (json) return console.log(summaryJson(result));
  const colors = process.stdout.isTTY && !process.env.NO_COLOR;
  const table = summaryTable(result, { width: process.stdout.columns || widthOfLogs, colors });
  const warnings = ledgerWarnings(result);
  const first = result.command === "preview" ? [...warnings, table] : [table, ...warnings];
  console.log([...first, summaryLine(result)].join("\n"));
  if (result.command !== "destroy") result.strays.forEach((stack) => console.log(strayNote(stack, file)));
}

/** The number of changed stacks, and those that may have been renamed. The summary names those that only left the file. */
const changedNotes = (fleet: Fleet, changes: Changes, since: string): string[] => [
  `${changes.reasons.size} of ${fleet.stacks.length} stacks have changed since ${since}.`,
  ...removedNotes(fleet, { ...changes, removed: changes.removed.filter(({ renamed }) => renamed !== undefined) }),
];

/** Ctrl-C: starts no new stack and cancels running ones as Pulumi does; a second one kills them. */
function stopOnSignals(): Stop {
  const stop = new Stop();
  const raise = () => {
    const again = stop.raised;
    stop.raise();
    console.error(
      again
        ? "Ending at once."
        : "Cancelling the stacks in progress; no more will start. Press Ctrl-C again to end at once.",
    );
  };
  for (const signal of stopSignals) process.on(signal, raise);
  return stop;
}

/** Shown until the file has a project. */
const projectNote = ({ file, project }: Fleet): string =>
  `${file} names no project: its stacks are in the project ${project}. Add project: ${project} to it, so that they stay there ` +
  "if you move the file.";

const strayNote = (stack: string, file = "<file>"): string =>
  `The stack ${stack} is not in ${file}: nothing in it was changed. To destroy its contents, put it back for one ` +
  `\`consortium fleet destroy ${file} --only ${stack}\`.`;
