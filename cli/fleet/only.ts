const literal = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** `acme-*`: a star stands for anything. */
const expressionOf = (pattern: string): RegExp => new RegExp(`^${pattern.split("*").map(literal).join(".*")}$`);

/** Stacks like one of the patterns; all where there is none. @throws when one of them fits nothing */
export function chosen<S extends { name: string }>(
  { stacks, file }: { stacks: S[]; file: string },
  patterns: readonly string[],
): S[] {
  if (patterns.length === 0) return stacks;
  const expressions = patterns.map(expressionOf);
  const useless = patterns.find((_, at) => !stacks.some(({ name }) => expressions[at]!.test(name)));
  if (useless !== undefined)
    throw new Error(`${file} has no stack like ${useless}; there are ${stacks.map(({ name }) => name).join(", ")}.`);
  return stacks.filter(({ name }) => expressions.some((one) => one.test(name)));
}

/** The organizations of stacks: only their keys are needed. */
export const organizationsOf = <O>(stacks: readonly { organization: O }[]): O[] => [
  ...new Set(stacks.map(({ organization }) => organization)),
];
