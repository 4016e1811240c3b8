import { definePolicy } from "./define";

export interface IntervalSettings {
  minHours: number;
  maxHours?: number;
}

export const tetherInterval = definePolicy<"tether-interval", IntervalSettings>({
  name: "tether-interval",
  level: "mandatory",
  rule: "A tether service pins neither too often nor too seldom.",
  settings: {
    minHours: {
      type: "number",
      minimum: 1,
      default: 1,
      description: "Fewest hours between two pins.",
    },
    maxHours: { type: "number", minimum: 1, description: "Most hours between two pins. Default: no limit." },
  },
  resource(tether, { minHours, maxHours }, report) {
    const hours = tether.number("intervalHours");
    if (tether.kind !== "TetherService" || hours === undefined) return;
    const found = `Tether service "${tether.name}" has intervalHours ${hours}`;
    if (hours < minHours) report.violation(`${found}, but at least ${minHours} is allowed. Set ${minHours} or more.`);
    if (maxHours !== undefined && hours > maxHours) {
      report.violation(`${found}, but at most ${maxHours} is allowed. Set ${maxHours} or less.`);
    }
  },
});
