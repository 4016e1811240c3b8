import {
  counted,
  family,
  jsonText,
  junitXml,
  metricLabels,
  print,
  replaceFile,
  type TestCase,
} from "pulumi-consortium/internal/fleet";
import {
  type Counts,
  type FleetResult,
  isGood,
  kinds,
  losesLedger,
  type Outcome,
  outcomes,
  type StackResult,
} from "./results";

/* The reports on the stacks of a fleet, whoever ran them: a table, JSON, JUnit and metrics. */

const changes = kinds.filter((kind) => kind !== "unchanged");

/** The changes: "8 created, 1 replaced", or "8 to be created". */
const changesIn = (counts: Counts, isPlanned: boolean): string =>
  changes
    .flatMap((kind) => (counts[kind] > 0 ? [`${counts[kind]} ${isPlanned ? "to be " : ""}${kind}`] : []))
    .join(", ");

const totals = (all: readonly StackResult[]): Counts =>
  Object.fromEntries(kinds.map((kind) => [kind, all.reduce((sum, one) => sum + one[kind], 0)])) as Counts;

const stateOf = ({ outcome }: { outcome: Outcome }): string => (outcome === "ok" ? "ready" : outcome);

/** Not a Stack that only previews, beside the one that applies. */
const isReal = ({ operated }: StackResult): boolean => operated?.preview === undefined;

const countsOf = (all: readonly StackResult[]): { outcome: Outcome; many: number }[] =>
  outcomes.map((outcome) => ({ outcome, many: all.filter((one) => one.outcome === outcome).length }));

/** The lock that stopped it. */
const lockOf = ({ operated, error }: StackResult): string | undefined =>
  operated?.lock ?? (error?.includes("the stack is locked by") ? error : undefined);

/** All that there is to say of a stack. */
function remarksOf(one: StackResult): string[] {
  const { error, outcome, ledgers, replacements, drift, leftovers, recovered } = one;
  return [
    ...(error?.split("\n") ?? (outcome === losesLedger ? ledgers : [])),
    ...replacements.map((title) => `replaces ${title}`),
    ...drift,
    ...leftovers,
    ...(recovered && isGood(one) ? ["continued where a killed run stopped"] : []),
  ];
}

/** Of more stacks than these, those are only counted that are ready, or of a run fine and unchanged. */
const manyStacks = 20;
const isQuiet = (one: StackResult, command: FleetResult["command"]): boolean =>
  isGood(one) && (command === "status" || changes.every((kind) => one[kind] === 0)) && remarksOf(one).length === 0;

/** A table, and a line that counts. @param file the fleet file, as messages name it */
export function resultText(result: FleetResult, file = "<file>"): string[] {
  const { command, strays } = result;
  return [
    ...(command === "preview" ? ledgerWarnings(result, "WOULD BE") : []),
    ...tableOf(result),
    ...(command === "up" ? ledgerWarnings(result, "IS") : []),
    summaryLine(result),
    ...(command === "destroy" ? [] : strays).map(
      (stack) =>
        `The stack ${stack} is not in ${file} and was not changed. To destroy its contents, add it again for one ` +
        `\`consortium fleet destroy ${file} --only ${stack}\`.`,
    ),
  ];
}

/** What needs attention comes first: of a preview, ledgers that would be lost, then replacements; then the worst outcomes. */
function tableOf({ command, stacks }: FleetResult): string[] {
  const isPlanned = command === "preview";
  const rank = (one: StackResult): number => {
    if (isPlanned && one.ledgers.length > 0) return -2;
    if (isPlanned && one.replaced > 0) return -1;
    return outcomes.indexOf(one.outcome) + (isQuiet(one, command) ? 1 : 0);
  };
  const shown = stacks.filter((one) => stacks.length <= manyStacks || !isQuiet(one, command));
  const cells = shown
    .sort((one, other) => rank(one) - rank(other))
    .flatMap((one) => {
      const { stack, operated: { namespace, preview, lock, since = "", lastSuccess = "" } = {} } = one;
      const [remark = "", ...others] = [...(lock === undefined ? [] : [lock]), ...remarksOf(one)];
      const row = {
        STACK: namespace === undefined ? stack : `${namespace}/${stack}`,
        KIND: stacks.every(isReal) ? "" : preview ? "preview" : "stack",
        STATE: command === "status" ? stateOf(one) : one.outcome,
        CHANGES: changesIn(one, isPlanned),
        TIME: one.seconds > 0 ? `${one.seconds.toFixed(1)} s` : "",
        SINCE: since,
        "LAST SUCCESS": lastSuccess,
        REASON: remark,
      };
      return [row, ...others.map((text) => ({ REASON: text }))];
    });
  const rest = stacks.length - shown.length;
  const many = counted(rest, shown.length > 0 ? "more stack" : "stack");
  const more = rest > 0 ? [`${many} ${command === "status" ? "ready" : "without changes"}`] : [];
  return [...aligned(cells), ...more];
}

/** Rows below a head, without the columns that are empty in all rows. */
function aligned(rows: readonly Record<string, string>[]): string[] {
  const titles = Object.keys(rows[0] ?? {}).filter((title) => rows.some((row) => row[title]));
  const lines = [titles, ...rows.map((row) => titles.map((title) => row[title] || ("STACK" in row ? "-" : "")))];
  const widths = titles.map((_, at) => Math.max(...lines.map((line) => line[at]!.length)));
  return lines
    .filter((line) => line.length > 0)
    .map((line) =>
      line
        .map((text, at) => text.padEnd(widths[at]!))
        .join("  ")
        .trimEnd(),
    );
}

/** @param when "WOULD BE", "WILL BE" or "IS" */
export const ledgerWarnings = ({ stacks }: Pick<FleetResult, "stacks">, when: string): string[] =>
  stacks.flatMap(({ stack, ledgers }) =>
    ledgers.map((text) => `WARNING: ${stack}: ${text}: THE LEDGER, AND ALL THAT IS WRITTEN IN IT, ${when} DESTROYED`),
  );

/** "48 of 50 stacks ok, 1 failed, 1 not begun; 600 created; 61.2 s", or "190 of 200 stacks ready (95 %), 10 stalled, 2 locked" */
export function summaryLine({ command, stacks, seconds = 0 }: Omit<FleetResult, "strays">): string {
  const [real, previews] = [stacks.filter(isReal), stacks.filter((one) => !isReal(one))];
  const good = real.filter(isGood).length;
  const share = real.length === 0 ? 100 : Math.floor((good * 100) / real.length);
  const some = (many: number, what: string) => (many > 0 ? [`${many} ${what}`] : []);
  const isPlanned = command === "preview";
  const lost = stacks.flatMap(({ ledgers }) => ledgers).length;
  const ledgers = lost === 0 ? [] : [`${counted(lost, "ledger")} ${isPlanned ? "to be " : ""}destroyed`];
  const changed = [changesIn(totals(stacks), isPlanned), ...ledgers].filter(Boolean).join(", ");
  const outcomesIn = [
    `${good} of ${counted(real.length, "stack")} ${command === "status" ? `ready (${share} %)` : "ok"}`,
    ...countsOf(real).flatMap(({ outcome, many }) => (outcome === "ok" ? [] : some(many, outcome))),
    ...some(real.filter((one) => lockOf(one) !== undefined).length, "locked"),
  ];
  if (command === "status") {
    const beside = `; ${previews.filter(isGood).length} of ${counted(previews.length, "preview")} ready`;
    return outcomesIn.join(", ") + (previews.length > 0 ? beside : "");
  }
  const none = isPlanned ? "nothing to change" : "nothing changed";
  return `${outcomesIn.join(", ")}; ${changed || none}; ${seconds.toFixed(1)} s`;
}

/** For programs. A stack has its outcome and all that a run counted, or what the operator knows; and, in both, its state and reason. */
export function resultJson(result: FleetResult): string {
  const { stacks } = result;
  const shown = stacks.map((one) => {
    const { operated, stack, ...ran } = one;
    const known = operated ?? ran;
    return { stack, ...known, state: stateOf(one), reason: remarksOf(one).join("\n") || undefined };
  });
  const states = countsOf(stacks.filter(isReal)).map(({ outcome, many }) => [stateOf({ outcome }), many]);
  const total = { ...totals(stacks), ...(Object.fromEntries(states) as object) };
  return jsonText({ ...result, stacks: shown, ok: stacks.every(isGood), total });
}

/** For tools that read JUnit: each stack is a test case. What was not done, or not yet, is skipped. */
export function resultJunit({ command, project, stacks, seconds }: FleetResult): string {
  const cases = stacks.map((one): TestCase => {
    const { stack, organization, operated, outcome, ledgers } = one;
    const [message, ...others] = remarksOf(one);
    const text = [message ?? outcome, ...others].join("\n");
    const isFailure = ["stalled", "failed", "drift", losesLedger].includes(outcome);
    const reason: TestCase["result"] = isFailure
      ? { element: "failure", type: outcome, message: message ?? outcome, text }
      : { element: "skipped", message: message === undefined ? outcome : `${outcome}: ${message}` };
    const classname = operated?.namespace ?? `${project}.${organization}`;
    const name = isReal(one) ? stack : `${stack} (preview)`;
    const lost = ledgers.map((ledger) => `WARNING: ${ledger}, with its ledger`);
    const output = operated
      ? operated.lastSuccess && `last success: ${operated.lastSuccess}`
      : [kinds.map((kind) => `${one[kind]} ${kind}`).join(", "), ...lost].join("\n");
    const attributes = { classname, name, ...(!operated && { time: one.seconds.toFixed(3) }) };
    return { attributes, result: isGood(one) ? undefined : reason, output };
  });
  const title = [`consortium fleet ${command}`, project].filter(Boolean).join(": ");
  return junitXml(title, cases, seconds?.toFixed(3));
}

const unixTime = (text?: string) => (text === undefined ? undefined : Date.parse(text) / 1_000);
const gauges: [name: string, help: string, valueOf: (one: StackResult) => number | undefined][] = [
  ["stack_state", "1 for the state of each stack.", () => 1],
  ["stack_state_since_seconds", "Unix time at which it entered this state.", (one) => unixTime(one.operated?.since)],
  [
    "stack_last_success_seconds",
    "Unix time of its last successful update.",
    (one) => unixTime(one.operated?.lastSuccess),
  ],
  ["stack_locked", "1 if the lock of its state stops it.", (one) => (lockOf(one) === undefined ? 0 : 1)],
];

/** In Prometheus' text format. Two Stacks of one stack, one of which only previews, differ by the label `preview`. */
export function resultMetrics({ stacks }: Pick<FleetResult, "stacks">): string {
  type Sample = [labels: Record<string, string | undefined>, value: number | undefined];
  const metric = (name: string, help: string, samples: readonly Sample[]) => {
    const lines = samples.flatMap(([labels, value]) =>
      value === undefined ? [] : [`{${metricLabels(labels)}} ${value}`],
    );
    return family(
      `consortium_fleet_${name}`,
      help,
      lines.map((line) => `consortium_fleet_${name}${line}`),
    );
  };
  const previews = stacks.filter((one) => !isReal(one));
  const byState = (some: readonly StackResult[], preview?: string) =>
    countsOf(some).map(({ outcome, many }): Sample => [{ state: stateOf({ outcome }), preview }, many]);
  const all = [...byState(stacks.filter(isReal)), ...(previews.length > 0 ? byState(previews, "true") : [])];
  const each = gauges.flatMap(([name, help, valueOf]) =>
    metric(
      name,
      help,
      stacks.map((one) => {
        const { stack, operated: { namespace, preview } = {} } = one;
        const state = name === "stack_state" ? stateOf(one) : undefined;
        return [{ namespace, stack, preview: preview && "true", state }, valueOf(one)];
      }),
    ),
  );
  return [...metric("stacks", "Stacks by state.", all), ...each, ""].join("\n");
}

/** What a report is printed and written as. */
export interface Reports {
  json?: boolean;
  junit?: string;
  prometheus?: string;
}

/** Prints a report, and writes its files. @param file the fleet file, as messages name it */
export function report(result: FleetResult, { json, junit, prometheus }: Reports, file?: string): void {
  print(json ? resultJson(result) : resultText(result, file));
  if (junit !== undefined) replaceFile(junit, resultJunit(result));
  if (prometheus !== undefined) replaceFile(prometheus, resultMetrics(result));
}
