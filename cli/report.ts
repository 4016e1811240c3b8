import { resolve } from "node:path";
import { type Command, Option } from "@commander-js/extra-typings";
import { approvalOf, type Approvals, type Deviation, deviationsOf, digestOf } from "../inventory/plan/approval";
import { type Action, type PlannedChange, changesOf, modelOfPlan, type Property } from "../inventory/plan/changes";
import { type Message, type Plan, planName, readPlan, type Violation, withoutDebug } from "../inventory/plan/read";
import { namedBy } from "../inventory/rows";
import { mapOf } from "../observe/map/graph";
import { mermaidOf } from "../observe/map/mermaid";
import { printable, printableLines } from "../provider/api/printable";
import { kindOf, lossWarnings, partsOfUrn } from "../provider/constants";
import { UserError } from "../provider/errors";
import { type FlagsOf, replaceFile, textOf, wholeNumber } from "./shared/terminal";

const hasErrors = ({ messages, violations }: Plan): boolean =>
  messages.some(({ severity }) => severity === "error") || violations.some(({ mandatory }) => mandatory);

export const losesLedger = (plan: Plan): boolean => changesOf(plan).some((change) => change.losesLedger);

/** The conditions of `--fail-on`. A plan that is cut off meets all of them. A digest's approval covers lost ledgers. */
const reasons = {
  "ledger-loss": (plan: Plan, approvals: Approvals) => losesLedger(plan) && approvalOf(plan, approvals) !== "by digest",
  changes: (plan: Plan) => changesOf(plan).length > 0,
  errors: hasErrors,
  unapproved: (plan: Plan, approvals: Approvals) => approvalOf(plan, approvals) === "none",
} as const;
type Reason = keyof typeof reasons;

function options(command: Command) {
  const failOn = new Option("--fail-on <what...>", "exit with code 2 if a plan contains any of these");
  return command
    .argument("[files...]", "output of Pulumi with --json, one file per stack (default: standard input)")
    .option("--title <text>", "heading of the report")
    .option(
      "--max <characters>",
      "maximum length of the report (default: 65536, the limit of GitHub)",
      wholeNumber(1_000),
      65_536,
    )
    .option("--save <file>", "save the input, without debug messages, which may contain secrets")
    .option("--map <url>", "address of the maps of the plans, which the report links to")
    .option(
      "--approved <plan...>",
      "plans that people approved: the output of Pulumi for a pull request, or the digest that an earlier report shows",
    )
    .addOption(failOn.choices(Object.keys(reasons) as Reason[]).default([] as Reason[], "none"));
}

type Flags = FlagsOf<typeof options>;

export function define(command: Command): void {
  options(command)
    .addHelpText(
      "after",
      "\nWrites Markdown to standard output, for a comment on a pull request. Reads the JSON of `pulumi preview --json`,\n" +
        "`refresh --preview-only --json` and `destroy --preview-only --json`, each with\n" +
        "PULUMI_ENABLE_STREAMING_JSON_PREVIEW=true. Secret values are never shown.\n" +
        "--approved compares each plan with the approved one of its stack, and shows what differs. A plan without changes needs\n" +
        "no approval. ledger-loss does not apply to a plan whose digest is approved.\n" +
        "Exit code 0: the report is written. 1: the input cannot be read. 2: it is written, and --fail-on applies.",
    )
    .action((files, flags) => report(files, flags));
}

function report(files: string[], { failOn, approved, save, ...options }: Flags): void {
  const texts = (files.length > 0 ? files : ["-"]).map((file) => ({ file, text: textOf(file) }));
  const plans = texts.map(({ file, text }) => readPlan(text, planName(file)));
  if (save !== undefined) replaceFile(save, texts.map(({ text }) => withoutDebug(text)).join(""));
  const own = new Set(files.map((file) => resolve(file)));
  for (const one of approved ?? [])
    if (own.has(resolve(one))) throw new UserError("invalid-argument", `${one} cannot approve itself.`);
  const approvals = approvalsIn(approved ?? []);
  const asked = approved !== undefined || failOn.includes("unapproved");
  process.stdout.write(render(plans, asked ? { ...options, approvals } : options));
  const applies = (reason: Reason): boolean => plans.some((plan) => !plan.isWhole || reasons[reason](plan, approvals));
  if (failOn.some(applies)) process.exitCode = 2;
}

function approvalsIn(given: string[]): Approvals {
  const isDigest = (text: string): boolean => /^[0-9a-f]{64}$/.test(text);
  const plans = given.filter((one) => !isDigest(one)).map((file) => readPlan(textOf(file), planName(file)));
  return { plans: new Map(plans.map((plan) => [plan.name, plan])), digests: new Set(given.filter(isDigest)) };
}

interface RenderOptions {
  title?: string;
  /** The forge's maximum number of characters. */
  max: number;
  /** The approvals that the plans need, if any. */
  approvals?: Approvals;
  /** Address of the maps. */
  map?: string;
}

/** Lines of each list, characters of a message, and whether there is a map. The first size that fits is taken. */
const sizes = [Infinity, Infinity, 400, 200, 100, 50, 20, 10, 5, 2, 0].map((lines, at) => ({
  lines,
  message: lines === Infinity ? 8_000 : Math.max(200, lines * 20),
  map: at === 0,
}));
type Size = (typeof sizes)[number];

export function render(plans: Plan[], { title, max, approvals, map }: RenderOptions): string {
  const head = title === undefined ? [] : [`## ${title}`];
  const link = map === undefined ? [] : [`[Maps of what this does](${map})`];
  let text = "";
  for (const size of sizes) {
    const note =
      size.lines === Infinity
        ? []
        : [`_Shortened to ${max} characters: long lists end after ${size.lines} lines. The log of the run has all._`];
    const boxes = [...warnings(plans, size), ...(approvals ? approvalBoxes(plans, approvals, size) : [])];
    const sections = plans.map((plan) => section(plan, size));
    text = `${[...head, ...boxes, ...link, ...sections, ...note].join("\n\n")}\n`;
    if (text.length <= max) return text;
  }
  const end = "\n…\n\n_Cut here. The log of the run has all._\n";
  const part = text.slice(0, max - end.length);
  return part.slice(0, part.lastIndexOf("\n") + 1) + end; // half a line could end within `code`, and be a mention
}

function section(plan: Plan, size: Size): string {
  const changes = changesOf(plan);
  const parts = [
    ...(size.map ? mapBlock(plan, changes) : []),
    ...(changes.length > 0 ? [changeTable(changes, size)] : []),
    ...policyTable(plan.violations, size),
    ...messageBlocks(plan, size),
  ];
  const failed = hasErrors(plan);
  const summary = changes.length > 0 ? counted(changes, plan) : unchanged(plan, failed);
  const head = plan.isWhole || changes.length === 0 ? summary : `**It is cut off.** ${summary}`;
  return [`### ${code(plan.name)}`, head, ...parts].join("\n\n");
}

const unchanged = ({ drift, unchanged }: Plan, failed: boolean): string =>
  failed ? "**It failed.**" : `${drift ? "No drift" : "Nothing to do"}: ${unchanged} unchanged.`;

function counted(changes: PlannedChange[], { unchanged }: Plan): string {
  const count = new Map<Action, number>();
  for (const { action } of changes) count.set(action, (count.get(action) ?? 0) + 1);
  const parts = [...count].map(([action, number]) => `${number} ${action}`);
  return `${[...parts, `${unchanged} unchanged`].join(", ")}.`;
}

/** A box at the top with the ledgers and services' contents that all stacks lose. */
function warnings(plans: Plan[], size: Size): string[] {
  const lost = plans.flatMap((plan) =>
    changesOf(plan)
      .filter(({ loss }) => loss !== undefined)
      .map((change) => ({ plan, ...change })),
  );
  if (lost.length === 0) return [];
  const lines = cut(lost, size).map(({ plan, action, type, name, loss }) => {
    const what = action === "gone" ? "is gone from the service, and with it" : `is ${action}: this destroys`;
    return `- ${where(plan, plans)}${titled(type, name)} ${what} ${loss}.`;
  });
  const [isGone, isDestroyed] = lost.some((change) => change.losesLedger)
    ? ["A LEDGER, OR A PART OF ONE, IS GONE", "THIS DESTROYS A LEDGER, OR A PART OF ONE"]
    : ["A SERVICE IS GONE, WITH WHAT IT KEPT", "THIS DESTROYS WHAT A SERVICE KEEPS"];
  const first = `**${lost.every(({ action }) => action === "gone") ? isGone : isDestroyed}.**`;
  return [box("CAUTION", [first, "", ...lines, ...more(lost, size)])];
}

const where = (plan: Plan, plans: Plan[]): string => (plans.length > 1 ? `${code(plan.name)}: ` : "");

/** The plans that nobody has approved, their digests, and how they differ from the approved ones. */
function approvalBoxes(plans: Plan[], approvals: Approvals, size: Size): string[] {
  return plans.flatMap((plan) => {
    const approval = approvalOf(plan, approvals);
    const approved = approvals.plans.get(plan.name);
    if (approval !== "none" && !(approval === "as planned" && losesLedger(plan))) return [];
    const first =
      approval !== "none" ? [] : [approved ? "**THIS IS NOT WHAT WAS APPROVED.**" : "**NOBODY HAS APPROVED THIS.**"];
    const digest = `Digest of the plan of ${code(plan.name)}: ${code(digestOf(plan))}`;
    const differences = approval === "none" && approved ? deviationsOf(plan, approved) : [];
    return [
      box("WARNING", [...first, ...first.map(() => ""), digest]),
      ...(differences.length > 0 ? [deviationTable(differences, size)] : []),
    ];
  });
}

function deviationTable(deviations: Deviation[], size: Size): string {
  const cell = (changes: PlannedChange[]): string =>
    changes.map((change) => [marked(change.action), details(change)].join(" ").trim()).join("<br>") || "nothing";
  return listed(["resource", "approved", "now"], deviations, size, ({ urn, approved, now }) => {
    const [change] = [...now, ...approved];
    const { type, name } = change ?? partsOfUrn(urn);
    return [titled(type, name), cell(approved), cell(now)];
  });
}

/** A map of the changes, which forges draw; expanded if a ledger is lost. */
function mapBlock(plan: Plan, changes: PlannedChange[]): string[] {
  const isOurs = changes.some(({ urn }) => namedBy(urn) !== undefined);
  const text = isOurs ? mermaidOf(mapOf(modelOfPlan(plan))) : undefined;
  if (text === undefined) return [];
  const isOpen = changes.some(({ loss }) => loss !== undefined);
  const head = `<details${isOpen ? " open" : ""}><summary>Map</summary>`;
  return [[head, `\`\`\`mermaid\n${text}\`\`\``, "</details>"].join("\n\n")];
}

const changeTable = (changes: PlannedChange[], size: Size): string =>
  listed(["", "resource", "what"], changes, size, (change) => [
    marked(change.action),
    titled(change.type, change.name),
    details(change),
  ]);

const marked = (action: Action): string => (/replaced|deleted|gone/.test(action) ? `**${action}**` : action);

function details({ action, properties, reasons, restarts, kept }: PlannedChange): string {
  const because = (name: string): string => {
    if (action === "replaced" && reasons.includes(name)) return " (replaces it)";
    return restarts.includes(name) ? " (restarts it)" : "";
  };
  if (action === "adopted") {
    const adopted = properties.find(({ name }) => name === "adopt")?.to ?? "";
    return adopted === "true"
      ? "the existing object with this name, or a new one"
      : code(adopted.replaceAll(/^"|"$/g, ""));
  }
  if (action === "moved") return "to the other provider: only its state changes";
  // For dependents of a replaced parent, Pulumi also lists unchanged properties.
  const unseen = properties.length > 0 ? [] : reasons;
  return [
    ...properties.map((property) => propertyText(property) + because(property.name)),
    ...unseen.map((name) => `${code(name)} (replaces it)`),
    ...(kept ? ["stays in the service"] : []),
  ].join("<br>");
}

function propertyText({ name, from, to }: Property): string {
  if (from === to) return `${code(name)}: ${code(to ?? "")}`;
  return `${code(name)}: ${from === undefined ? "new," : code(from)} → ${to === undefined ? "nothing" : code(to)}`;
}

function policyTable(violations: Violation[], size: Size): string[] {
  if (violations.length === 0) return [];
  const sorted = [...violations].sort((a, b) => Number(b.mandatory) - Number(a.mandatory));
  const heads = ["", "policy", "resource", "what it says"];
  const cells = ({ policy, mandatory, urn, text }: Violation): string[] => [
    mandatory ? "**forbidden**" : "advice",
    code(policy),
    code(partsOfUrn(urn).name),
    code(shortened(text, size)),
  ];
  return [listed(heads, sorted, size, cells)];
}

const headings: Record<string, string> = { error: "**Errors**", warning: "**Warnings**", info: "Notes" };

function messageBlocks({ messages }: Plan, size: Size): string[] {
  return Object.entries(headings).flatMap(([severity, heading]) => {
    const some = messages.filter((one) => (one.severity in headings ? one.severity : "info") === severity);
    const told = [...new Set(some.filter((one) => !isLossWarning(one)).map(({ text }) => text))];
    if (told.length === 0) return [];
    const text = cut(told, size).map((one) => shortened(one, size));
    return [[heading, ...(text.length > 0 ? [block(text.join("\n"))] : []), ...more(told, size)].join("\n\n")];
  });
}

/** Whether it is the provider's own warning about a loss that the box at the top shows. */
const isLossWarning = ({ text }: Message): boolean =>
  Object.values(lossWarnings).some((warning) => text.includes(warning));

const shortened = (text: string, { message }: Size): string =>
  text.length > message ? `${text.slice(0, message)}…` : text;

/** Shortens a list, to one line at least. */
const cut = <T>(list: T[], { lines }: Size): T[] => list.slice(0, Math.max(1, lines));

const more = (list: unknown[], { lines }: Size): string[] => {
  const left = list.length - Math.max(1, lines);
  return left > 0 ? [`_… and ${left} more._`] : [];
};

/** A resource of another package has a type of its own, in whatever words. */
const titled = (type: string, name: string): string => `${kindOf(type) ? type : code(type)} ${code(name)}`;

/** Foreign text as code, so that nothing in it becomes a mention, a link or a column. A column needs an odd number of backslashes. */
function code(text: string): string {
  const line = printable(text.replaceAll(/\s*\n\s*/g, " ")).replaceAll(
    /(\\*)\|/g,
    (_, before: string) => `${before}${before.length % 2 === 1 ? "\\" : ""}\\|`,
  );
  const ticks = fence(line, "`");
  const pad = /^`|`$|^\s|\s$/.test(line) ? " " : "";
  return line === "" ? "" : ticks + pad + line + pad + ticks;
}

function block(text: string): string {
  const ticks = fence(text, "```");
  return `${ticks}text\n${printableLines(text)}\n${ticks}`;
}

/** A fence that is longer than any run of backticks in the text. */
function fence(text: string, least: string): string {
  const runs = [...text.matchAll(/`+/g)].map(([run]) => run.length);
  const length = Math.max(0, ...runs) + 1;
  return "`".repeat(Math.max(least.length, runs.length > 0 ? length : least.length));
}

/** A table, cut to what fits. Its cells are Markdown. */
function listed<T>(heads: string[], list: T[], size: Size, cells: (one: T) => string[]): string {
  const line = (row: string[]): string => `| ${row.join(" | ")} |`;
  const rows = cut(list, size).map((one) => line(cells(one)));
  return [[line(heads), line(heads.map(() => "---")), ...rows].join("\n"), ...more(list, size)].join("\n\n");
}

const box = (kind: string, lines: string[]): string =>
  [`[!${kind}]`, ...lines].map((line) => `> ${line}`.trimEnd()).join("\n");
