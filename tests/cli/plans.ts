import { render } from "../../cli/report";
import { readPlan } from "../../inventory/plan/read";

/** Output of Pulumi with --json, written by hand. */
export const secret = {
  "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
  ciphertext: "[secret]",
};
export const later = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
export const urn = (type: string, name: string): string =>
  `urn:pulumi:prod::net::pulumi-nodejs:dynamic/consortium:${type}::${name}`;
const stackUrn = "urn:pulumi:prod::net::pulumi:pulumi:Stack::net-prod";

export interface State {
  id?: string;
  inputs?: object;
  outputs?: object;
  [other: string]: unknown;
}
export interface PlannedStep {
  op: string;
  urn: string;
  old?: State;
  new?: State;
  /** The properties that cause the replacement. */
  keys?: string[];
}
export const step = (
  op: string,
  type: string,
  name: string,
  old?: State,
  next?: State,
  keys?: string[],
): PlannedStep => ({ op, urn: urn(type, name), old, new: next, keys });

/** Events as Pulumi prints them, one per line; a summary ends each run. */
export const eventsOf = (...events: object[]): string => {
  const end = events.some((event) => "summaryEvent" in event) ? [] : [{ summaryEvent: { resourceChanges: {} } }];
  return [...events, ...end].map((event, sequence) => JSON.stringify({ sequence, ...event })).join("\n");
};
export const planned = (
  steps: PlannedStep[],
  { same = 1, diagnostics = [] }: { same?: number; diagnostics?: object[] } = {},
): string =>
  eventsOf(
    ...[{ op: "same", urn: stackUrn }, ...steps].map((metadata) => ({ resourcePreEvent: { metadata } })),
    ...diagnostics.map((diagnosticEvent) => ({ diagnosticEvent })),
    { summaryEvent: { resourceChanges: { same } } },
  );
export const show = (text: string, max = 65_536): string => render([readPlan(text, "plan")], { max });
export const row = (text: string): string =>
  text
    .split("\n")
    .filter((line) => /^\| (?!---|resource|policy| \|)/.test(line))
    .join("\n");
