import { render } from "../../cli/report";
import { readPlan } from "../../inventory/plan/read";

/** What Pulumi prints with --json, made by hand. */
export const secret = {
  "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
  ciphertext: "[secret]",
};
export const later = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
export const urn = (type: string, name: string): string =>
  `urn:pulumi:prod::net::pulumi-nodejs:dynamic/consortium:${type}::${name}`;
export const stackUrn = "urn:pulumi:prod::net::pulumi:pulumi:Stack::net-prod";

export interface State {
  id?: string;
  inputs?: object;
  outputs?: object;
  [other: string]: unknown;
}
export const step = (
  op: string,
  type: string,
  name: string,
  oldState?: State,
  newState?: State,
  more: { replaceReasons?: string[] } = {},
): PlannedStep => ({
  op,
  urn: urn(type, name),
  ...more,
  ...(oldState && { oldState }),
  ...(newState && { newState }),
});
export interface PlannedStep {
  op: string;
  urn: string;
  oldState?: State;
  newState?: State;
  replaceReasons?: string[];
}
export const planned = (
  steps: PlannedStep[],
  { same = 1, diagnostics = [] }: { same?: number; diagnostics?: object[] } = {},
): string =>
  [
    ...[{ op: "same", urn: stackUrn } as PlannedStep, ...steps].map(
      ({ op, urn, oldState, newState, replaceReasons }) => ({
        resourcePreEvent: { metadata: { op, urn, old: oldState, new: newState, keys: replaceReasons } },
      }),
    ),
    ...diagnostics.map((diagnosticEvent) => ({ diagnosticEvent })),
    { summaryEvent: { resourceChanges: { same } } },
  ]
    .map((event, sequence) => JSON.stringify({ sequence, ...event }))
    .join("\n");
export const show = (text: string, max = 65_536): string => render([readPlan(text, "plan")], { max });
export const row = (text: string): string =>
  text
    .split("\n")
    .filter((line) => /^\| (?!---|resource|policy| \|)/.test(line))
    .join("\n");
