import { type Command } from "@commander-js/extra-typings";
import { environmentName, processEnvironment } from "../provider/api/environment";
import { printable, printableLines } from "../provider/api/printable";
import { Secrets } from "../provider/api/secrets";
import { resolveProviderSettings } from "../provider/core/settings";
import { fieldsOf, messageOf } from "../provider/plain";
import { type Finding, unknown, wrong } from "./doctor/findings";
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
      "\nExamines what a run needs: versions that fit, the key and whose it is, the service, the clock, the proxy; and of a\n" +
        "stack its state, locks, pending operations, and objects that are gone. Ends with what to do. Changes nothing, and\n" +
        `prints no secret.\n${connectionHelp}\nExit code 1: something is wrong.`,
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
  if (stack === undefined) findings.push(unknown("stack", "none was examined: name one with --stack"));
  else {
    const { stack: examined } = await import("./doctor/stack.js");
    findings.push(...(await examined(stack, folder, env, reached ? settings : undefined)));
  }
  const masked = findings.map((one) => maskedWith(secrets, one));
  console.log(json ? jsonOf(masked) : textOf(masked));
  process.exitCode = masked.some(({ state }) => state === "wrong") ? 1 : 0;
}

const maskedWith = (secrets: Secrets, { next, ...one }: Finding): Finding => ({
  ...one,
  text: secrets.mask(one.text),
  ...(next !== undefined && { next: secrets.mask(next) }),
});

const todoOf = (findings: readonly Finding[]): string[] => [...new Set(findings.flatMap(({ next }) => next ?? []))];

/** For programs. */
const jsonOf = (findings: readonly Finding[]): string =>
  JSON.stringify(
    { ok: findings.every(({ state }) => state !== "wrong"), findings, todo: todoOf(findings) },
    undefined,
    2,
  );

/** A symbol and, where something is wrong, a word: no state depends on color alone. */
const signs: Record<Finding["state"], string> = { ok: "✓", note: "-", unknown: "?", wrong: "✗ WRONG" };

function textOf(findings: readonly Finding[]): string {
  const lines = findings.map(({ about, state, text }) => `${signs[state]} ${about}: ${printable(text)}`);
  const todo = todoOf(findings);
  const end =
    todo.length === 0
      ? ["Nothing wrong was found."]
      : ["What to do:", ...todo.map((one, index) => `${index + 1}. ${printable(one)}`)];
  return printableLines([...lines, "", ...end].join("\n"));
}
