import { RunError } from "@pulumi/pulumi";
import { lineOf, type PlacedProblem } from "../yaml/problems";

export type { PlacedProblem as NetworkProblem } from "../yaml/problems";

const shownAtMost = 50;

/** A definition that cannot be used. It reports all errors at once, and nothing of the network was created. */
export class NetworkDefinitionError extends RunError {
  constructor(
    /** The definition, as people call it. */
    what: string,
    /** All errors, in the order of the definition. */
    readonly problems: readonly PlacedProblem[],
  ) {
    if (problems.length === 1) {
      const [only] = problems as [PlacedProblem];
      const where = only.file === undefined ? `${what}: ` : "";
      super(`${where}${lineOf(only)}\nNothing of it was created.`);
      return;
    }
    const shown = problems.slice(0, shownAtMost).map((problem) => `  ${lineOf(problem)}`);
    const more = problems.length > shownAtMost ? [`  and ${problems.length - shownAtMost} more`] : [];
    super([`${what} has ${problems.length} problems; nothing of it was created:`, ...shown, ...more].join("\n"));
  }
}
