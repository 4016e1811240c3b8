import { type Command, Option } from "@commander-js/extra-typings";
import { LiveNetwork } from "../inventory/live";
import { type NetworkModel } from "../inventory/model";
import { modelOfPlan } from "../inventory/plan/changes";
import { planName, readPlan } from "../inventory/plan/read";
import { readStack } from "../inventory/stack";
import { mapOf } from "../observe/map/graph";
import { mermaidOf } from "../observe/map/mermaid";
import { svgOf } from "../observe/map/svg";
import { UserError } from "../provider/errors";
import { connectionHelp, exportStack, withClient } from "./shared/connection";
import { fail, type FlagsOf, jsonText, replaceFile, textOf } from "./shared/terminal";

/** The exit code if the key cannot see everything, as for `check`. */
const couldNotSee = 2;

const formats: Record<string, (model: NetworkModel) => string> = {
  svg: (model) => `${svgOf(mapOf(model))}\n`,
  mermaid: (model) => mermaidOf(mapOf(model)) ?? tooLarge(),
  json: (model) => `${jsonText(model)}\n`,
};

const options = (command: Command) =>
  command
    .argument("[file]", "map this network file (default: the organization, as the service shows it)")
    .addOption(new Option("--format <format>", "what to write").choices(Object.keys(formats)).default("svg"))
    .addOption(new Option("--json", "the same as --format json: the network as data").implies({ format: "json" }))
    .option("--output <file>", "write to this file (default: standard output)")
    .option("--stack <name>", "map the state of a stack of the Pulumi project in this folder")
    .option("--live", "with --stack: map the service, and mark what the stack manages and what drifted")
    .addOption(
      new Option("--plan <file>", "map the JSON of pulumi preview --json (-: standard input)").conflicts("stack"),
    )
    .option("--consortium <name or id>", "only this consortium of the service (default: all)")
    .addOption(
      new Option("--tether <id...>", "tether services to include: the API has no list of them").default([], "none"),
    );

type Flags = FlagsOf<typeof options>;

export function define(command: Command): void {
  options(command)
    .addHelpText(
      "after",
      "\nWithout a file, --stack and --plan, maps the organization as the service shows it. A map of a plan marks what is\n" +
        "created, updated, replaced and deleted; the preview needs PULUMI_ENABLE_STREAMING_JSON_PREVIEW=true. No map contains\n" +
        `a secret.\n${connectionHelp}`,
    )
    .action((file, flags) => {
      if (file !== undefined && (flags.stack ?? flags.plan) !== undefined)
        command.error("error: a network file cannot be used with --stack or --plan");
      return map(file, flags, command);
    });
}

async function map(file: string | undefined, flags: Flags, command: Command): Promise<void> {
  if (flags.live && flags.stack === undefined) command.error("error: --live needs --stack");
  const isOfService = file === undefined && flags.plan === undefined && (flags.stack === undefined || flags.live);
  if (!isOfService && (flags.consortium !== undefined || flags.tether.length > 0))
    command.error(
      "error: --consortium and --tether work only for a map of the service: with --live, or without a file, --stack and --plan",
    );
  const model = await modelFor(file, flags).catch((error: unknown) => {
    if (!(error instanceof UserError)) throw error;
    fail(error, { exitCode: couldNotSee, json: flags.format === "json" });
  });
  if (!model) return;
  const text = formats[flags.format]!(model);
  if (flags.output === undefined) process.stdout.write(text);
  else replaceFile(flags.output, text);
}

async function modelFor(
  file: string | undefined,
  { consortium, tether, stack, live, plan }: Flags,
): Promise<NetworkModel> {
  if (file !== undefined) return (await import("../inventory/file.js")).modelOfNetworkFile(file);
  if (plan !== undefined) return modelOfPlan(readPlan(textOf(plan), planName(plan)));
  const read = stack === undefined ? undefined : readStack(await exportStack(stack), `The stack ${stack}`);
  if (read && !live) return read.model;
  const tethers = [...new Set([...tether, ...(read?.model.tethers ?? []).map(({ id }) => id)])];
  return withClient(async (client) => {
    await read?.prove(client);
    return new LiveNetwork(client).look({ consortium, tethers, stacks: read ? [read] : [] });
  });
}

function tooLarge(): never {
  throw new UserError("invalid-argument", "Use --format svg: the map is too large for Mermaid.");
}
