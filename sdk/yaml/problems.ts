import { printable } from "../../provider/api/printable";

/* What is wrong with a definition, and where. Imports little: programs load it with the package. */

/** Keys and indexes from the root of a definition to a value. */
export type Path = readonly (string | number)[];

/** One thing that is wrong, before its place is written for people. */
export interface Problem {
  path: Path;
  message: string;
  /** The key itself is wrong, and not its value. */
  atKey?: boolean;
  /** Omitted if this part of the definition, or an entry in it, is invalid, which may be the cause. */
  unless?: Path;
  /** Where in the text, where no path leads there. */
  offset?: number;
}

/** One thing that is wrong with a definition. */
export interface PlacedProblem {
  /** Where in the definition, such as `environments.prod.nodes`; empty for the whole of it. */
  path: string;
  /** What is wrong, and what to do. */
  message: string;
  /** The file, as it was named; undefined for a definition in the program. */
  file?: string;
  /** From 1; undefined where the file could not be read at all. */
  line?: number;
  column?: number;
}

/** A definition that was read: as plain data, with what was wrong already, and the places of its values. */
export interface Reading {
  /** Undefined: nothing of it can be used. */
  value: unknown;
  problems: Problem[];
  /** Name of the file, as it was given; undefined for a definition in the program. */
  file?: string;
  /** From 1; undefined where there is no text. */
  position?: (problem: Problem) => { line: number; column: number };
  /** Where it is secret; a component of the plugin is told that. */
  secrets?: readonly Path[];
  /** How a value is written in the text, where that is not how it is shown: `007`. */
  source?: (path: Path) => string | undefined;
}

/** Whether a path leads to a place, or into it. */
export const isWithin = (path: Path, place: Path): boolean => place.every((step, index) => step === path[index]);

/** Problems as people and programs get them, in the order of the text. */
export function placed({ file, position }: Reading, problems: readonly Problem[]): PlacedProblem[] {
  const all = problems.map((problem): PlacedProblem => {
    const path = problem.path.map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`)).join("");
    return { path: path.replace(/^\./, ""), message: problem.message, file, ...position?.(problem) };
  });
  return all.sort((one, other) => (one.line ?? 0) - (other.line ?? 0) || (one.column ?? 0) - (other.column ?? 0));
}

/** A problem as a line of text: `network.yaml:4:13: members.globex: …`. */
export function lineOf({ file, line, column, path, message }: PlacedProblem): string {
  const position = line === undefined ? file : `${file}:${line}:${column}`;
  return printable([position, path, message].filter((part) => part !== undefined && part !== "").join(": "));
}
