import { RunError } from "@pulumi/pulumi";
import { printable } from "../../provider/api/printable";

/** Keys and indexes from the root of a definition to a value. */
export type Path = readonly (string | number)[];

/** One thing that is wrong with a definition. */
export interface NetworkProblem {
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

const line = ({ file, line, column, path, message }: NetworkProblem): string => {
  const position = line === undefined ? file : `${file}:${line}:${column}`;
  const parts = [position, path, message].filter((part) => part !== undefined && part !== "");
  return printable(parts.join(": "));
};

const shownAtMost = 50;

/** A definition that cannot be used. Everything that is wrong with it is said at once, and nothing of it was created. */
export class NetworkDefinitionError extends RunError {
  constructor(
    /** The definition, as people call it. */
    what: string,
    /** All that is wrong, in the order of the definition. */
    readonly problems: readonly NetworkProblem[],
  ) {
    if (problems.length === 1) {
      const [only] = problems as [NetworkProblem];
      const where = only.file === undefined ? `${what}: ` : "";
      super(`${where}${line(only)}\nNothing of it was created.`);
      return;
    }
    const shown = problems.slice(0, shownAtMost).map((problem) => `  ${line(problem)}`);
    const more = problems.length > shownAtMost ? [`  and ${problems.length - shownAtMost} more`] : [];
    super([`${what} has ${problems.length} problems; nothing of it was created:`, ...shown, ...more].join("\n"));
  }
}
