import {
  counted,
  jsonText,
  junitXml,
  metricLabels,
  printableLines,
  type TestCase,
} from "pulumi-consortium/internal/fleet";
import { holdersOf, lockedBy } from "./recovery";
import { type FleetResult, losesLedger, type StackResult } from "./results";

/* The status of a fleet's stacks, from the Stacks of a cluster or from the results of its last run. */

/** From good to bad. The first five and `stalled` are states of an operator's Stack; the others, and `ready`, are outcomes of a run. */
export const states: readonly string[] = [
  ...["ready", "running", "waiting", "retrying", "new"],
  ...["drift", losesLedger, "not begun", "interrupted", "failed", "stalled"],
];
export type State = string;

export interface StackStatus {
  /** Name of the Pulumi stack. */
  stack: string;
  /** Namespace and name of its Stack in the cluster. */
  namespace?: string;
  name?: string;
  /** Whether it only previews, beside the Stack that applies. */
  preview?: true;
  state: State;
  reason?: string;
  /** Since when it is in this state. */
  since?: string;
  /** End of its last successful update; unknown after a failure. */
  lastSuccess?: string;
  /** The revision that was last applied. */
  commit?: string;
  /** Who holds the lock of its state. */
  lock?: string;
}

interface Condition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  lastTransitionTime?: string;
}

/** The parts of the operator's Stack that are read here. */
export interface StackObject {
  metadata: { name: string; namespace: string; generation?: number; annotations?: Record<string, string> };
  spec: { stack: string; programRef?: { name: string }; preview?: boolean };
  status?: {
    observedGeneration?: number;
    conditions?: Condition[];
    currentUpdate?: { name?: string };
    lastUpdate?: { state?: string; message?: string; lastResyncTime?: string; lastSuccessfulCommit?: string };
    projectInfo?: { name: string };
  };
}

const whileReconciling: Record<string, State> = {
  PrerequisiteNotSatisfied: "waiting",
  RetryingAfterFailure: "retrying",
  PreviewFailed: "retrying",
};

/** The operator's status of a Stack. */
export function statusOf({ metadata, spec, status = {} }: StackObject): StackStatus {
  const { name, namespace, generation } = metadata;
  const { conditions = [], lastUpdate: last, observedGeneration } = status;
  const one = (type: string) => conditions.find((each) => each.type === type && each.status === "True");
  const [stalled, reconciling, ready] = ["Stalled", "Reconciling", "Ready"].map(one);
  const condition = stalled ?? reconciling ?? ready;
  // Conditions of an earlier specification do not count, except that nothing runs any more.
  const isOld = stalled === undefined && observedGeneration !== generation && generation !== undefined;
  const holders = holdersOf(last?.message ?? "");
  return {
    stack: spec.stack,
    namespace,
    name,
    preview: spec.preview || undefined,
    state: isOld || condition === undefined ? "new" : stateOf(condition),
    reason: condition === undefined || condition === ready ? undefined : reasonOf(condition, last),
    since: condition?.lastTransitionTime,
    lastSuccess: last?.state === "succeeded" ? last.lastResyncTime : undefined,
    commit: last?.lastSuccessfulCommit,
    lock: holders.length > 0 && last?.state === "failed" ? lockedBy(holders) : undefined,
  };
}

const stateOf = ({ type, reason = "" }: Condition): State =>
  ({ Stalled: "stalled", Ready: "ready" })[type] ?? whileReconciling[reason] ?? "running";

const longestReason = 300;
/** With the errors of the last update, or all of its message if nothing in it is marked as one. */
function reasonOf({ reason = "", message = "" }: Condition, { state = "", message: said = "" } = {}): string {
  const errors = said.split("\n").filter((line) => /\berror: /.test(line));
  const shown = errors.length > 0 ? errors.map((line) => line.trim()).join("; ") : said;
  const last = state === "failed" && reason.includes("Fail") && shown !== "" ? ` (${shown})` : "";
  const text = printableLines(`${reason}: ${message}${last}`).replaceAll(/\s+/g, " ");
  return text.length > longestReason ? `${text.slice(0, longestReason)}…` : text;
}

/** A run's result for a stack. */
export const statusOfResult = ({ stack, outcome, error, drift, ledgers }: StackResult): StackStatus => ({
  stack,
  state: outcome === "ok" ? "ready" : outcome,
  reason: error ?? ([...drift, ...(outcome === losesLedger ? ledgers : [])].join("; ") || undefined),
  lock: error !== undefined && error.includes("the stack is locked by") ? error : undefined,
});
export const statusOfResults = ({ stacks }: FleetResult): StackStatus[] => stacks.map(statusOfResult);

const isBad = ({ state }: StackStatus): boolean => states.indexOf(state) >= states.indexOf("drift");
const isReal = ({ preview }: StackStatus): boolean => preview === undefined;
const isReady = ({ state }: StackStatus): boolean => state === "ready";

/** 0: all are ready; 1: one is stalled or has failed; 2: otherwise. */
export const statusCode = (all: readonly StackStatus[]): 0 | 1 | 2 =>
  all.every(isReady) ? 0 : all.some(isBad) ? 1 : 2;

/* Output. */

const countsOf = (all: readonly StackStatus[]): [State, number][] =>
  states.map((state) => [state, all.filter((one) => one.state === state).length]);

/** "190 of 200 stacks ready (95 %), 10 stalled, 2 locked; 3 of 4 previews ready" */
export function progressLine(all: readonly StackStatus[]): string {
  const real = all.filter(isReal);
  const previews = all.filter((one) => !isReal(one));
  const [[, ready] = ["", 0], ...others] = countsOf(real);
  const locked = real.filter(({ lock }) => lock !== undefined).length;
  const rest = [...others, ["locked", locked] as const].flatMap(([state, many]) =>
    many > 0 ? [`${many} ${state}`] : [],
  );
  const share = real.length === 0 ? 100 : Math.floor((ready * 100) / real.length);
  const beside = `${previews.filter(isReady).length} of ${counted(previews.length, "preview")} ready`;
  const more = previews.length > 0 ? [beside] : [];
  return [[`${ready} of ${counted(real.length, "stack")} ready (${share} %)`, ...rest].join(", "), ...more].join("; ");
}

const reasonIn = ({ lock, reason }: StackStatus): string =>
  [lock ?? "", reason === lock ? "" : (reason ?? "")].filter(Boolean).join(" ") || "-";

/** A table, worst first. With more than 20 stacks, it only counts those that are ready. */
export function statusText(all: readonly StackStatus[]): string {
  const shown = (all.length > 20 ? all.filter((one) => !isReady(one)) : [...all]).sort(
    (one, other) => states.indexOf(other.state) - states.indexOf(one.state),
  );
  const [kind, kindOf] = all.every(isReal)
    ? [[], () => []]
    : [["KIND"], (one: StackStatus) => [isReal(one) ? "stack" : "preview"]];
  const rows = shown.map((one) => [
    one.namespace === undefined ? one.stack : `${one.namespace}/${one.stack}`,
    ...kindOf(one),
    ...[one.state, one.since ?? "-", one.lastSuccess ?? "-"],
    reasonIn(one),
  ]);
  const head = ["STACK", ...kind, "STATE", "SINCE", "LAST SUCCESS", "REASON"];
  const widths = head.map((_, at) => Math.max(...[head, ...rows].map((row) => row[at]!.length)));
  const line = (row: string[]) =>
    row.map((text, at) => (at === head.length - 1 ? text : text.padEnd(widths[at]!))).join("  ");
  const table = rows.length > 0 ? [head, ...rows].map(line) : [];
  return [...table.map((text) => printableLines(text.replaceAll("\n", " "))), progressLine(all)].join("\n");
}

/** For programs. */
export const statusJson = (all: readonly StackStatus[]): string =>
  jsonText({ stacks: all, total: Object.fromEntries(countsOf(all.filter(isReal))), ok: all.every(isReady) });

/** For tools that read JUnit: each stack is a test case. */
export const statusJunit = (all: readonly StackStatus[]): string =>
  junitXml(
    "consortium fleet status",
    all.map((one): TestCase => {
      const { namespace, state, reason, lastSuccess } = one;
      const stack = isReal(one) ? one.stack : `${one.stack} (preview)`;
      const message = reason?.split("\n")[0] ?? state;
      const failure = { element: "failure", type: state, message, text: reason ?? state } as const;
      return {
        attributes: { classname: namespace ?? "fleet", name: stack },
        result: isReady(one)
          ? undefined
          : isBad(one)
            ? failure
            : { element: "skipped", message: `${state}: ${message}` },
        output: lastSuccess === undefined ? undefined : `last success: ${lastSuccess}`,
      };
    }),
  );

type Sample = [labels: Record<string, string | undefined>, value: number];

/** In Prometheus' text format. Two Stacks of one stack, one of which only previews, differ by the label `preview`. */
export function statusMetrics(all: readonly StackStatus[]): string {
  const metric = (name: string, help: string, samples: Sample[]) => [
    `# HELP consortium_fleet_${name} ${help}`,
    `# TYPE consortium_fleet_${name} gauge`,
    ...samples.map(([pairs, value]) => `consortium_fleet_${name}{${metricLabels(pairs)}} ${value}`),
  ];
  const of = ({ stack, namespace, preview }: StackStatus) => ({ namespace, stack, preview: preview && "true" });
  const [real, previews] = [all.filter(isReal), all.filter((one) => !isReal(one))];
  const timed = (key: "since" | "lastSuccess") =>
    all.flatMap((one): Sample[] => (one[key] === undefined ? [] : [[of(one), Date.parse(one[key]) / 1_000]]));
  return [
    ...metric("stacks", "Stacks by state.", [
      ...countsOf(real).map(([state, many]): Sample => [{ state }, many]),
      ...(previews.length > 0 ? countsOf(previews) : []).map(([state, many]): Sample => [
        { state, preview: "true" },
        many,
      ]),
    ]),
    ...metric(
      "stack_state",
      "1 for the state of each stack.",
      all.map((one) => [{ ...of(one), state: one.state }, 1]),
    ),
    ...metric("stack_state_since_seconds", "Unix time at which it entered this state.", timed("since")),
    ...metric("stack_last_success_seconds", "Unix time of the last successful update.", timed("lastSuccess")),
    ...metric(
      "stack_locked",
      "1 if the lock of its state stops it.",
      all.map((one) => [of(one), one.lock ? 1 : 0]),
    ),
    "",
  ].join("\n");
}
