import { rmSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import type { Command as Program } from "commander";
import { defineDoctor } from "./doctor";
import { problemOfPack, readFleet } from "./file";
import { leftManifests, lockRemark } from "./manifest-folder";
import { defaultOut, fleetManifests, manifestRemarks, neededSecrets, problemsForOperator } from "./manifests";
import { changedSince, fleetFile, matrixOption, only, reporting } from "./options";
import { writeChanged } from "./project";
import { ledgerWarnings, report, type Reports } from "./report";
import { type Command, exitCode, type FleetResult, isGood, losesLedger, type StackResult, type Verb } from "./results";
import { runFleet, type RunOptions, Stop } from "./run";
import { type Fleet } from "./schema";
import { readSecrets } from "./secrets";
import { matching, selected, type Wanted } from "./selection";
import { defineMerge, defineResume, defineStatus } from "./status";
import { matrices, mostShards, plannedShards, shardIn, titleOf } from "./shards";
import {
  confirm,
  counted,
  print,
  repeatable,
  say,
  stopSignals,
  UserError,
  wholeNumber,
} from "pulumi-consortium/internal/fleet";

interface Flags extends Wanted, Reports {
  policyPack?: string[];
  allowLedgerLoss?: string[];
  parallel?: number;
  yes?: boolean;
  refresh?: boolean;
  takeOver?: boolean;
  shards?: number;
  stages?: number;
  matrix?: keyof typeof matrices;
}

const commands: Record<Command, { summary: string; note: string }> = {
  up: {
    summary: "deploy the network file of every stack",
    note: "Without --yes, it shows a preview and asks for confirmation. Without a terminal, it exits with code 1.\nWith --yes, a stack that would lose a ledger fails, and is not changed, unless --allow-ledger-loss names it.",
  },
  preview: {
    summary: "show what up would change in each stack",
    note: "Warns of every ledger that would be replaced or deleted; exit code 2, unless --allow-ledger-loss names the stack.\nChanges nothing: for a stack that does not exist yet, it creates an\nempty one to compare with, and removes it again.",
  },
  destroy: {
    summary: "destroy everything in every stack",
    note: "First warns of every ledger that will be lost. Without --yes, it asks for confirmation. Without a terminal, it exits with code 1.",
  },
  drift: {
    summary: "compare the service with the state; exit code 2 if they differ",
    note: "Changes nothing, neither in the service nor in the state.\nExit code 2: something differs, and no stack failed.",
  },
};

export function define(program: Program): void {
  defineDoctor(program);
  defineManifests(program);
  definePlan(program);
  defineMerge(program);
  defineStatus(program);
  defineResume(program);
  for (const [name, { summary, note }] of Object.entries(commands) as [Command, (typeof commands)[Command]][]) {
    const parallel = "maximum parallel stacks, 1 to 64 (default: that of the file, or 4)";
    const command = program
      .command(name)
      .description(summary)
      .addArgument(fleetFile())
      .option("--parallel <count>", parallel, wholeNumber(1, 64))
      .addOption(only())
      .option("--shard <shard>", "only one of several shards of the stacks, such as 2/5", shardIn);
    if (name !== "destroy")
      command.option(
        "--stage <stage>",
        "only one stage of `plan`, from 1; shards then divide this stage",
        wholeNumber(1, 1_000),
      );
    reporting(command);
    if (name !== "drift") command.option("--refresh", "read the service first, so that up corrects drift");
    if (name === "up" || name === "preview")
      command
        .addOption(changedSince())
        .addOption(repeatable("--policy-pack <folder>", "another policy pack, besides those in the file"))
        .addOption(repeatable("--allow-ledger-loss <pattern>", "let matching stacks lose a ledger without being asked"))
        .option("--take-over", "take over stacks that belong to another fleet file, with everything in them");
    if (name === "up" || name === "destroy") command.option("--yes", "do not ask for confirmation");
    command
      .addHelpText("after", `\n${note}\nExit code 1: a stack failed or was not finished.`)
      .action((file: string, flags: Flags) => fleet(name, file, flags));
  }
}

function definePlan(program: Program): void {
  const shards = `shards of each stage, 1 to ${mostShards} (default: one for every 50 stacks)`;
  program
    .command("plan")
    .description("show the stages of the stacks, and their shards, or write the matrices of a pipeline")
    .addArgument(fleetFile())
    .option("--shards <count>", shards, wholeNumber(1, mostShards))
    .option(
      "--stages <count>",
      "number of stages with jobs in the pipeline; more stages are an error",
      wholeNumber(1, 1_000),
    )
    .addOption(matrixOption())
    .addOption(only())
    .addOption(changedSince())
    .addHelpText("after", "\nNeeds no keys and no Pulumi. See docs/fleet.md for the pipelines.")
    .action((file: string, { shards, stages, matrix, ...wanted }: Flags) => {
      const definition = readFleet(file);
      const { stacks, changes } = selected(definition, wanted);
      const planned = plannedShards(stacks, shards);
      changes?.removed.forEach((name) => say(`${name} is no longer in ${file}: its stack is not changed.`));
      if (stages !== undefined && planned.length > stages)
        throw new UserError(
          "invalid-argument",
          `Add jobs to the pipeline, or shorten the chain of dependsOn: ${file} has ${counted(planned.length, "stage")}, and --stages says ${stages}.`,
        );
      if (matrix) return print(matrices[matrix](planned));
      for (const { stage, shard, stacks: own } of planned.flat())
        for (const { name } of own) {
          const [at, reason] = [planned.length > 1 ? [`stage ${stage}`] : [], changes?.reasons.get(name)];
          print([titleOf(shard), name, ...at, ...(reason === undefined ? [] : [reason])].join("  "));
        }
      const shown = [
        counted(planned.flat().length, "shard"),
        ...(planned.length > 1 ? [`${planned.length} stages`] : []),
      ];
      say(`${stacks.length} of ${counted(definition.stacks.length, "stack")} in ${shown.join(" of ")}`);
    });
}

function defineManifests(program: Program): void {
  program
    .command("manifests")
    .description("write the same fleet for the Pulumi Kubernetes operator")
    .addArgument(fleetFile())
    .option("--out <folder>", `output folder (default: ${defaultOut}, next to the fleet file)`)
    .option("--program", "write networks as Programs, which install nothing (default: if kubernetes.image is set)")
    .option("--no-program", "run network files from the repository")
    .option("--preview", "also write Stacks that only preview, into the folder preview")
    .option("--prune", "delete files of stacks that have left the fleet")
    .addHelpText(
      "after",
      "\nManifests refer to keys as Kubernetes Secrets and never contain them. See docs/operator.md.",
    )
    .action((file: string, flags: { out?: string; program?: boolean; preview?: boolean; prune?: boolean }) => {
      const options = { programs: flags.program, previews: flags.preview };
      const outOf = (folder: string) => (flags.out === undefined ? join(folder, defaultOut) : resolve(flags.out));
      const rules = (fleet: Fleet) => problemsForOperator(fleet, outOf(fleet.folder), options);
      const definition = readFleet(file, { rules });
      const folder = outOf(definition.folder);
      const made = fleetManifests(definition, folder, options);
      const files = Object.entries(made);
      for (const [name, text] of files) writeChanged(join(folder, name), text);
      for (const left of leftManifests(definition, folder)) {
        if (flags.prune) rmSync(left);
        const what = flags.prune ? "deleted" : "`kubectl apply` would still run it: delete it, or use --prune";
        say(`${relative(folder, left)} is of no stack in ${file}: ${what}`);
      }
      const next = "Commit them, apply access.yaml, create these Secrets, then apply the other files:";
      print(`${counted(files.length, "file is", "files are")} in ${folder}. ${next}`);
      neededSecrets(definition, options).forEach((text) => print(`  ${text}`));
      const remarks = [lockRemark(made, folder) ?? [], manifestRemarks(definition, options)].flat();
      remarks.forEach((text) => say(text));
    });
}

async function fleet(command: Command, file: string, flags: Flags): Promise<void> {
  const read = readFleet(file, { limits: command === "up" || command === "preview" });
  const { stacks, names, changes } = selected(read, { ...flags, isOrdered: command === "up" || command === "destroy" });
  if (changes)
    say(
      `${changes.reasons.size} of ${counted(read.stacks.length, "stack has", "stacks have")} changed since ${flags.changedSince}.`,
    );
  for (const folder of flags.policyPack ?? []) {
    const pack = { path: resolve(folder) };
    const problem = problemOfPack(pack);
    if (problem !== undefined) throw new UserError("invalid-argument", `--policy-pack ${folder}: ${problem}.`);
    read.policyPacks.push(pack);
  }
  const mayLoseLedger = new Set(matching(read, flags.allowLedgerLoss ?? []).map(({ name }) => name));
  const secrets = await readSecrets(read, stacks, process.env);
  const { parallel = read.parallel, refresh, takeOver, stage } = flags;
  const { shard = stage === undefined ? undefined : { index: 1, count: 1 } } = flags;
  const told = (stack: string, line: string) => say([`[${stack}] ${line}`]);
  await stoppable(async (stop) => {
    const options = { stacks, parallel, refresh, takeOver, mayLoseLedger, secrets, say: told, stop };
    const run = async (what: Verb, more: Partial<RunOptions> = {}): Promise<FleetResult> => ({
      ...(await runFleet(read, { ...options, ...more, command: what })),
      shard: shard && { ...shard, stage, names },
    });
    const planned = await agreed(command, stacks.length, flags, run);
    if (!planned) return void (process.exitCode = 1);
    const result = await run(command, { planned });
    report(result, flags, file);
    process.exitCode = exitCode(result);
  });
}

/** Shows what would be lost and asks for confirmation before any change. Returns the preview, or undefined if the command must not run. */
async function agreed(
  command: Command,
  count: number,
  flags: Flags,
  run: (command: Verb, more?: Partial<RunOptions>) => Promise<FleetResult>,
): Promise<readonly StackResult[] | undefined> {
  const asks = (command === "up" || command === "destroy") && !flags.yes && count > 0;
  const many = counted(count, "stack");
  if (asks && (!process.stdin.isTTY || flags.json)) {
    throw new UserError(
      "missing-argument",
      `Use --yes to run it for ${many}: there is no terminal to ask for confirmation.`,
    );
  }
  let planned: readonly StackResult[] = [];
  if (command === "destroy") {
    const preview = await run("losses", { say: () => undefined });
    ledgerWarnings(preview, "WILL BE").forEach((line) => say([line]));
    planned = preview.stacks;
  }
  if (!asks) return planned;
  if (command === "up") {
    const preview = await run("preview");
    report(preview, {});
    if (!preview.stacks.every((one) => isGood(one) || one.outcome === losesLedger)) return undefined;
    planned = preview.stacks;
  }
  if (await confirm(command === "up" ? `Change ${many}?` : `Destroy everything in ${many}?`)) return planned;
  return void say("Nothing was changed.");
}

/** Ctrl-C: starts no new stack and cancels running ones as Pulumi does. After a second one, the next run continues as after a kill. */
async function stoppable(work: (stop: Stop) => Promise<void>): Promise<void> {
  const stop = new Stop();
  const raise = () => {
    if (stop.raised) return process.exit(1);
    say("Cancelling the stacks in progress; no more will start. Press Ctrl-C again to end at once.");
    stop.raise();
  };
  for (const signal of stopSignals) process.on(signal, raise);
  await work(stop).finally(() => stopSignals.forEach((signal) => process.off(signal, raise)));
}
