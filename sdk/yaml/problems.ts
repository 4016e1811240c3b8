import { printable } from "../../provider/api/printable";

/* Problems of a definition, with their places. Imports little, because programs load it with the package. */

/** Keys and indexes from the root of a definition to a value. */
export type Path = readonly (string | number)[];

/** One thing that is wrong, with its path. */
export interface Problem {
  path: Path;
  message: string;
  /** The key itself is wrong, not its value. */
  atKey?: boolean;
  /** Do not report it if this part of the definition, or an entry in it, is invalid: that may be the cause. */
  unless?: Path;
  /** Where in the text, if no path leads there. */
  offset?: number;
}

/** One thing that is wrong with a definition, and where. */
export interface PlacedProblem {
  /** Where in the definition, such as `environments.prod.nodes`; empty for the whole definition. */
  path: string;
  /** The problem, and what to do. */
  message: string;
  /** Name of the file, as it was given; undefined for a definition in the program. */
  file?: string;
  /** From 1; undefined if the file could not be read. */
  line?: number;
  column?: number;
}

/** A definition that was read: plain data, the problems so far, and the places of its values. */
export interface Reading {
  /** Undefined if nothing of it can be used. */
  value: unknown;
  problems: Problem[];
  /** Name of the file, as it was given; undefined for a definition in the program. */
  file?: string;
  /** From 1; undefined if there is no text. */
  position?: (problem: Problem) => { line: number; column: number };
  /** Where it is secret, if the plugin's component says so. */
  secrets?: readonly Path[];
  /** How a value is written in the text, such as `007` for 7. */
  source?: (path: Path) => string | undefined;
}

/** Whether a path leads to a place, or into it. */
export const isWithin = (path: Path, place: Path): boolean => place.every((step, index) => step === path[index]);

/** Problems with their places, in the order of the text. */
export function placed({ file, position }: Reading, problems: readonly Problem[]): PlacedProblem[] {
  const all = problems.map((problem): PlacedProblem => {
    const path = problem.path.map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`)).join("");
    return { path: path.replace(/^\./, ""), message: problem.message, file, ...position?.(problem) };
  });
  return all.sort((one, other) => (one.line ?? 0) - (other.line ?? 0) || (one.column ?? 0) - (other.column ?? 0));
}

/** A problem as a line of text: `network.yaml:4:13: members.globex: …`. */
function lineOf({ file, line, column, path, message }: PlacedProblem): string {
  const position = line === undefined ? file : `${file}:${line}:${column}`;
  return printable([position, path, message].filter((part) => part !== undefined && part !== "").join(": "));
}

const shownAtMost = 50;

/** The message for all problems of a definition. @param what how it calls the definition; undone: "created" or "started" */
export function summaryOf(what: string, problems: readonly PlacedProblem[], undone: string): string {
  const [only, another] = problems;
  if (only && !another) return `${only.file === undefined ? `${what}: ` : ""}${lineOf(only)}\nNothing was ${undone}.`;
  const shown = problems.slice(0, shownAtMost).map((problem) => `  ${lineOf(problem)}`);
  if (problems.length > shownAtMost) shown.push(`  and ${problems.length - shownAtMost} more`);
  return [`${what} has ${problems.length} problems; nothing was ${undone}:`, ...shown].join("\n");
}
