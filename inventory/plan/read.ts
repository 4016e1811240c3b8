import { basename } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { z } from "zod";
import { partsOfUrn } from "../../provider/constants";
import { UserError } from "../../provider/errors";
import { isObject } from "../../provider/plain";

/** A step that Pulumi would take, or a finding of a refresh. */
export interface Step {
  op: string;
  urn: string;
  /** Whether it was found in the service, rather than planned. */
  found: boolean;
  old?: State;
  new?: State;
  /** Properties that make it a replacement. */
  reasons: string[];
}

export interface Message {
  severity: string;
  text: string;
}

export interface Violation {
  policy: string;
  mandatory: boolean;
  urn: string;
  text: string;
}

/** One run of `preview`, `refresh` or `destroy`, of one stack. */
export interface Plan {
  /** `project/stack`, or the name of the file if the run ended before it named its stack. */
  name: string;
  steps: Step[];
  messages: Message[];
  violations: Violation[];
  unchanged: number;
  /** Whether the run came to its end, even if it failed: otherwise more may belong to the plan. */
  isWhole: boolean;
  /** Whether it is a refresh only: everything was found, nothing is planned. */
  drift: boolean;
}

const props = z.record(z.string(), z.unknown()).nullish();
const state = z.looseObject({
  type: z.string().optional(),
  id: z.string().optional(),
  inputs: props,
  outputs: props,
  custom: z.boolean().optional(),
  retainOnDelete: z.boolean().optional(),
  external: z.boolean().optional(),
});
export type State = z.infer<typeof state>;

const names = z.array(z.string()).nullish();
const counts = z.record(z.string(), z.number()).nullish();
const diagnostic = z.looseObject({
  message: z.string().default(""),
  severity: z.string().default("info"),
  urn: z.string().optional(),
});

const metadata = z.looseObject({
  op: z.string(),
  urn: z.string(),
  type: z.string().default(""),
  old: state.nullish(),
  new: state.nullish(),
  keys: names,
});
/**
 * An event of the engine: a line of `up --json`, and of a preview with PULUMI_ENABLE_STREAMING_JSON_PREVIEW. The single document
 * that a preview prints otherwise says neither which policies are violated nor what drifted.
 */
const event = z.looseObject({
  resourcePreEvent: z.looseObject({ metadata }).optional(),
  resOutputsEvent: z.looseObject({ metadata }).optional(),
  diagnosticEvent: diagnostic.optional(),
  policyEvent: z
    .looseObject({
      resourceUrn: z.string().default(""),
      policyName: z.string(),
      enforcementLevel: z.string(),
      message: z.string(),
    })
    .optional(),
  summaryEvent: z.looseObject({ resourceChanges: counts }).optional(),
});

export type EngineEvent = z.infer<typeof event>;

/** The name of a plan if its file does not name a stack. */
export const planName = (file: string): string =>
  file === "-" ? "standard input" : basename(file).replace(/\.json$/, "");

/** Reads Pulumi's `--json` output. It is empty if the run ended before it planned anything. */
export function readPlan(text: string, file: string): Plan {
  const values = jsonIn(text);
  const events = z.array(event.extend({ sequence: z.number() })).safeParse(values);
  if (events.success) return planOfEvents(file, events.data);
  throw new UserError(
    "invalid-file",
    `${file} does not contain the events that Pulumi prints with --json. Create it again, from standard output alone, with: ` +
      "PULUMI_ENABLE_STREAMING_JSON_PREVIEW=true pulumi preview --json > plan.json (or pulumi refresh --preview-only --json).",
  );
}

/** The events that belong to a plan. */
const kept = ["preludeEvent", "resourcePreEvent", "resOutputsEvent", "diagnosticEvent", "policyEvent", "summaryEvent"];

/**
 * Pulumi's output without debug messages, so that it can be kept. Its events always include them, and those of its Node.js SDK
 * contain the outputs of resources, even passwords, in clear text.
 */
export function withoutDebug(text: string): string {
  const values = (jsonIn(text) ?? []).filter(isObject);
  const isDebug = (one: unknown): boolean => (one as { severity?: string } | undefined)?.severity === "debug";
  const lines = values.filter((value) => kept.some((kind) => kind in value) && !isDebug(value.diagnosticEvent));
  return lines.map((line) => `${JSON.stringify(line)}\n`).join("");
}

/** The JSON of each line, without a last line that was cut off; `undefined` if the text is something else. */
function jsonIn(text: string): unknown[] | undefined {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const values: unknown[] = [];
  for (const [index, line] of lines.entries()) {
    try {
      values.push(JSON.parse(line));
    } catch {
      const isCut = index > 0 && index === lines.length - 1 && !text.endsWith("\n");
      return isCut ? values : undefined;
    }
  }
  return values;
}

function planOfEvents(file: string, events: EngineEvent[]): Plan {
  const steps: Step[] = [];
  const reading = new Set<string>();
  for (const { resourcePreEvent, resOutputsEvent } of events) {
    const about = (resourcePreEvent ?? resOutputsEvent)?.metadata;
    if (about === undefined) continue;
    const ended = resOutputsEvent !== undefined && reading.delete(about.urn);
    if (resourcePreEvent && about.op === "refresh") reading.add(about.urn);
    else if (resourcePreEvent ?? ended) {
      const { op, urn, old, new: next, keys } = about;
      steps.push({ op, urn, found: ended, old: old ?? undefined, new: next ?? undefined, reasons: keys ?? [] });
    }
  }
  const { stack, project } = partsOfUrn(steps[0]?.urn ?? "");
  const summary = events.find(({ summaryEvent }) => summaryEvent)?.summaryEvent;
  return {
    name: stack && project ? `${project}/${stack}` : file,
    steps,
    messages: [...events, ...(summary ? [] : [{ diagnosticEvent: cutOff(events.length === 0) }])]
      .flatMap(({ diagnosticEvent }) => diagnosticEvent ?? [])
      .filter(({ severity, message }) => severity !== "debug" && message.trim() !== "")
      .map(({ severity, message }) => ({ severity, text: plainly(message) })),
    violations: events
      .flatMap(({ policyEvent }) => policyEvent ?? [])
      .map(({ policyName: policy, enforcementLevel, resourceUrn: urn, message }) => {
        return { policy, mandatory: enforcementLevel === "mandatory", urn, text: plainly(message) };
      }),
    unchanged: summary?.resourceChanges?.same ?? 0,
    isWhole: summary !== undefined,
    drift: steps.length > 0 && steps.every(({ found }) => found),
  };
}

/** The error for output without the summary that ends each run. */
const cutOff = (isEmpty: boolean): z.infer<typeof diagnostic> => ({
  severity: "error",
  message: isEmpty
    ? "Pulumi ended before it planned anything: its own message is in the log of the run."
    : "Pulumi's output ends before the summary of the run, which was killed or is still running: this is not the whole plan. Run it again.",
});

const plainly = (text: string): string =>
  stripVTControlCharacters(text)
    .replace(/^(error|warning): /, "")
    .trim();
