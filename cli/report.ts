import { type Command, InvalidArgumentError, Option } from "commander";
import { type Plan, planName, readPlan } from "../inventory/plan/read";
import { hasChanges, hasErrors, losesLedger, render } from "./report/render";
import { textOf } from "./shared/text-file";

/** What may be a reason to end with exit code 2. */
const reasons = { "ledger-loss": losesLedger, changes: hasChanges, errors: hasErrors } as const;
type Reason = keyof typeof reasons;

interface Flags {
  title?: string;
  max: number;
  failOn: Reason[];
}

export function define(command: Command): void {
  const failOn = new Option("--fail-on <what...>", "exit with code 2 if a plan contains any of these");
  command
    .argument("[files...]", "output of Pulumi with --json, one file per stack (default: standard input)")
    .option("--title <text>", "heading of the report")
    .option("--max <characters>", "maximum length of the report (default: 65536, the limit of GitHub)", size, 65_536)
    .addOption(failOn.choices(Object.keys(reasons)).default([], "none"))
    .addHelpText(
      "after",
      "\nWrites Markdown to standard output, for a comment on a pull request. Reads the JSON of `pulumi preview --json`,\n" +
        "`refresh --preview-only --json` and `destroy --preview-only --json`. That contains policy violations only with\n" +
        "PULUMI_ENABLE_STREAMING_JSON_PREVIEW=true. Secret values are never shown.\n" +
        "Exit code 0: the report is written. 1: the input cannot be read. 2: it is written, and --fail-on applies.",
    )
    .action((files: string[], flags: Flags) => report(files, flags));
}

function report(files: string[], { title, max, failOn }: Flags): void {
  const plans = (files.length > 0 ? files : ["-"]).map(read);
  process.stdout.write(render(plans, { max, ...(title === undefined ? {} : { title }) }));
  if (failOn.some((reason) => plans.some(reasons[reason]))) process.exitCode = 2;
}

function read(file: string): Plan {
  return readPlan(textOf(file), planName(file));
}

function size(text: string): number {
  const characters = Number(text);
  if (!Number.isInteger(characters) || characters < 1_000)
    throw new InvalidArgumentError("It must be a number from 1000.");
  return characters;
}
