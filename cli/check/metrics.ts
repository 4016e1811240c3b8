import { type Outcome, type Result } from "../../observe/check/checks";
import { metricLabels } from "../shared/formats";

/* The results of a check as metrics. */

/** Number of results by outcome. */
export const counted = (results: readonly Result[]): Record<Outcome, number> => {
  const counts: Record<Outcome, number> = { ok: 0, failed: 0, skipped: 0, unseen: 0, unknown: 0 };
  for (const { outcome } of results) counts[outcome]++;
  return counts;
};

export const family = (name: string, help: string, lines: string[]): string[] =>
  lines.length === 0 ? [] : [`# HELP ${name} ${help}`, `# TYPE ${name} gauge`, ...lines];

/** What is served besides: whether there are results. */
export const up = (isUp: boolean): string[] =>
  family("consortium_check_up", "Whether the last check could run: 1 or 0.", [`consortium_check_up ${isUp ? 1 : 0}`]);

/** For Prometheus (text format 0.0.4). @param tookMs duration of the check, if it should be shown */
export function metricsOf(results: readonly Result[], now: number, tookMs?: number): string {
  const labels = ({ check, subject: { kind, id, name, within = "" } }: Result): string =>
    metricLabels({ check, kind, id, name, within });
  const seen = results.filter(({ outcome }) => outcome === "ok" || outcome === "failed");
  const measured = results.filter(({ value }) => value !== undefined);
  const lines = [
    ...family(
      "consortium_check_ok",
      "Whether a check passed: 1 or 0. Absent if it could not be checked.",
      seen.map((one) => `consortium_check_ok{${labels(one)}} ${one.outcome === "ok" ? 1 : 0}`),
    ),
    ...family(
      "consortium_check_value",
      "The value that a check measured, in blocks, pins or seconds.",
      measured.map((one) => `consortium_check_value{${labels(one)}} ${one.value}`),
    ),
    ...family(
      "consortium_check_results",
      "Number of results by outcome.",
      Object.entries(counted(results)).map(
        ([outcome, count]) => `consortium_check_results{outcome="${outcome}"} ${count}`,
      ),
    ),
    ...(tookMs === undefined
      ? []
      : family("consortium_check_duration_seconds", "How long the check took.", [
          `consortium_check_duration_seconds ${tookMs / 1000}`,
        ])),
    ...family("consortium_check_timestamp_seconds", "When it was checked.", [
      `consortium_check_timestamp_seconds ${now / 1000}`,
    ]),
  ];
  return `${lines.join("\n")}\n`;
}
