import { RunError } from "@pulumi/pulumi";
import { lineOf, type PlacedProblem } from "../yaml/problems";

export type { PlacedProblem as NetworkProblem } from "../yaml/problems";

const shownAtMost = 50;

function messageOf(what: string, problems: readonly PlacedProblem[]): string {
  const [only, another] = problems;
  if (only && !another) {
    const where = only.file === undefined ? `${what}: ` : "";
    return `${where}${lineOf(only)}\nNothing was created.`;
  }
  const shown = problems.slice(0, shownAtMost).map((problem) => `  ${lineOf(problem)}`);
  const more = problems.length > shownAtMost ? [`  and ${problems.length - shownAtMost} more`] : [];
  return [`${what} has ${problems.length} problems; nothing was created:`, ...shown, ...more].join("\n");
}

/** A definition that cannot be used. It reports all errors at once, and nothing of the network was created. */
export class NetworkDefinitionError extends RunError {
  constructor(
    /** The definition, as people call it. */
    what: string,
    /** All errors, in the order of the definition. */
    readonly problems: readonly PlacedProblem[],
  ) {
    super(messageOf(what, problems));
  }
}
