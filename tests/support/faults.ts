import { type FaultRule } from "../../service/index";

/** Ways in which the answer to one call is lost, or an error although the service may have acted. */
export const lostAnswers: FaultRule[] = [
  { kind: "resetBefore" },
  { kind: "resetAfter" },
  { kind: "hang" },
  { kind: "hang", acted: true },
  { kind: "truncated" },
  { kind: "html" },
  { kind: "html", acted: true },
  { kind: "status", status: 500 },
  { kind: "status", status: 500, acted: true },
  { kind: "status", status: 504, acted: true },
];

/** Rows for `test.each`, each with its rule as the title. */
export const titled = (faults: FaultRule[]): [title: string, fault: FaultRule][] =>
  faults.map((fault) => [JSON.stringify(fault), fault]);
