import { type CustomResourceOptions, RunError } from "@pulumi/pulumi";
import { durationSeconds } from "../provider/facts";

/** Seconds in a duration of Pulumi's `customTimeouts`, such as `90s`, `10m` or `1h30m`. */
export function seconds(text: string, where: string): number {
  const found = durationSeconds(text);
  if (found === undefined)
    throw new RunError(`${where}: "${text}" is not a duration. Write it like 90s, 10m or 1h30m.`);
  return found;
}

/** The resource option in seconds, for the inputs: the host does not hand the option on to the provider. */
export function timeoutInputs(name: string, opts?: CustomResourceOptions): Record<string, number> | undefined {
  const given = Object.entries(opts?.customTimeouts ?? {}).filter(([, text]) => text !== undefined);
  if (given.length === 0) return undefined;
  return Object.fromEntries(
    given.map(([verb, text]) => [verb, seconds(String(text), `${name}: customTimeouts.${verb}`)]),
  );
}
