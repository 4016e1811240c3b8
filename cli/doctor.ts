import { Command } from "@commander-js/extra-typings";
import { environmentName, processEnvironment } from "../provider/api/environment";
import { Secrets } from "../provider/api/secrets";
import { resolveProviderSettings } from "../provider/pulumi/settings";
import { fieldsOf, messageOf } from "../provider/plain";
import { showFindings, unknown, wrong } from "./doctor/findings";
import { service } from "./doctor/service";
import { parsed, versions } from "./doctor/versions";
import { connectionHelp, pulumiOutput } from "./shared/connection";
import { commandOf } from "./shared/packages";
import { type FlagsOf, repeatable } from "./shared/terminal";

const options = (command: Command) =>
  command
    .argument("[fleet file]", "examine the stacks of this fleet")
    .addOption(repeatable("--only <pattern>", "with a fleet file: only matching stacks, such as 'acme-*'", "all"))
    .option("--stack <name>", "also examine this stack of the Pulumi project in this folder, and use its configuration")
    .option("--json", "print one JSON document");

type Flags = FlagsOf<typeof options>;

export function define(command: Command): void {
  options(command)
    .addHelpText(
      "after",
      "\nExamines what a run needs: compatible versions, the API key and its organization, the service, the clock and the\n" +
        "proxy; for a stack, also its state, locks, pending operations and missing objects. Ends with the next steps. Changes\n" +
        "nothing and prints no secrets. For a fleet file, it examines each organization's key and service, the backend, and each\n" +
        `stack's locks and killed runs.\n${connectionHelp}\nExit code 1: something is wrong.`,
    )
    .action((file, flags) => {
      if (file === undefined && flags.only.length > 0) command.error("error: --only needs a fleet file");
      if (file !== undefined && flags.stack !== undefined)
        command.error("error: --stack cannot be used with a fleet file: use --only");
      return file === undefined ? doctor(flags) : doctorOfFleet(file, flags);
    });
}

/** The settings of a stack, as its configuration has them. */
async function configOf(stack: string): Promise<Record<string, unknown>> {
  const args = ["config", "--json", "--show-secrets", "--stack", stack, "--non-interactive"];
  const all = fieldsOf(parsed(await pulumiOutput(args, `The configuration of the stack ${stack} cannot be read`)));
  const own = Object.entries(all).filter(([key]) => key.startsWith("consortium:"));
  return Object.fromEntries(own.map(([key, value]) => [key.slice("consortium:".length), fieldsOf(value).value]));
}

async function doctorOfFleet(file: string, { only, json }: Flags): Promise<void> {
  const fleet = new Command("fleet");
  (await commandOf("consortium-fleet", "doctor <fleet file>")).define(fleet);
  const flags = [...only.flatMap((pattern) => ["--only", pattern]), ...(json ? ["--json"] : [])];
  await fleet.parseAsync(["doctor", file, ...flags], { from: "user" });
}

async function doctor({ stack, json }: Flags): Promise<void> {
  const [folder, env] = [process.cwd(), processEnvironment()];
  const secrets = new Secrets([env[environmentName("apiKey")]]);
  const findings = await versions(folder, process.versions.node);
  let config: Record<string, unknown> = {};
  if (stack !== undefined) {
    try {
      config = await configOf(stack);
      secrets.learn(config.apiKey);
    } catch (error) {
      const next = "Check the name of the stack, its backend and PULUMI_CONFIG_PASSPHRASE.";
      findings.push(wrong("configuration", messageOf(error), next));
    }
  }
  const given = Object.fromEntries(Object.entries(config).map(([name, value]) => [name, { value, own: false }]));
  const { findings: told, settings, reached } = await service(() => resolveProviderSettings(given, env));
  findings.push(...told);
  if (stack === undefined) findings.push(unknown("stack", "not examined: name a stack with --stack"));
  else {
    const { stack: examined } = await import("./doctor/stack.js");
    findings.push(...(await examined(stack, folder, reached ? settings : undefined)));
  }
  showFindings(findings, secrets, json);
}
