import { z } from "zod";
import { definePolicy } from "../define";

export const tetherInterval = definePolicy({
  name: "tether-interval",
  level: "mandatory",
  rule: "A tether service pins neither too often nor too rarely.",
  settings: {
    minHours: z.number().min(1).default(1).describe("Minimum hours between two pins."),
    maxHours: z.number().min(1).optional().describe("Maximum hours between two pins. Default: no limit."),
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
