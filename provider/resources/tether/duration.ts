const unitSeconds: Record<string, number> = { ms: 0.001, s: 1, m: 60, h: 3600 };

/** Seconds in a duration such as `90s`, `10m` or `1h30m`; undefined: it is none. */
export function durationSeconds(text: string): number | undefined {
  const parts = [...text.trim().matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)];
  if (parts.length === 0 || parts.map(([part]) => part).join("") !== text.trim()) return undefined;
  return parts.reduce((sum, [, count, unit]) => sum + Number(count) * unitSeconds[unit!]!, 0);
}
