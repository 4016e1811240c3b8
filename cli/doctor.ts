import { type Command } from "@commander-js/extra-typings";
import { environmentName, processEnvironment } from "../provider/api/environment";
import { Secrets } from "../provider/api/secrets";
import { resolveProviderSettings } from "../provider/pulumi/settings";
import { fieldsOf, messageOf } from "../provider/plain";
import { showFindings, unknown, wrong } from "./doctor/findings";
import { service } from "./doctor/service";
import { parsed, versions } from "./doctor/versions";
import { connectionHelp, pulumiOutput } from "./shared/connection";
import { type FlagsOf } from "./shared/terminal";

const options = (command: Command) =>
  command
    .option("--stack <name>", "also examine this stack of the Pulumi project in this folder, and use its configuration")
    .option("--json", "print one JSON document");

type Flags = FlagsOf<typeof options>;

export function define(command: Command): void {
  options(command)
    .addHelpText(
      "after",
      "\nExamines what a run needs: compatible versions, the API key and its organization, the service, the clock and the\n" +
        "proxy; for a stack, also its state, locks, pending operations and missing objects. Ends with the next steps. Changes\n" +
        `nothing and prints no secrets. For fleets: consortium fleet doctor.\n${connectionHelp}\nExit code 1: something is wrong.`,
    )
    .action((flags) => doctor(flags));
}

/** The settings of a stack, as its configuration has them. */
async function configOf(stack: string): Promise<Record<string, unknown>> {
  const args = ["config", "--json", "--show-secrets", "--stack", stack, "--non-interactive"];
  const all = fieldsOf(parsed(await pulumiOutput(args, `The configuration of the stack ${stack} cannot be read`)));
  const own = Object.entries(all).filter(([key]) => key.startsWith("consortium:"));
  return Object.fromEntries(own.map(([key, value]) => [key.slice("consortium:".length), fieldsOf(value).value]));
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
