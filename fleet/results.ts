import { z } from "zod";
import { printable, textOf } from "pulumi-consortium/internal/fleet";

/* What a fleet command did: the form of `--json`, and the results of several runs, such as those of all shards, as those of one. */

const count = z.number();
const texts = z.array(z.string());

/** The result of one stack. */
const stackResult = z.object({
  stack: z.string(),
  organization: z.string(),
  outcome: z.enum(["ok", "failed", "drift", "interrupted", "not begun"]),
  created: count,
  updated: count,
  replaced: count,
  deleted: count,
  unchanged: count,
  seconds: z.number(),
  /** Why it failed, in full. */
  error: z.string().optional(),
  /** Ledgers that are replaced or deleted: "replaces Environment trade/prod". */
  ledgers: texts,
  /** What else is replaced: "Node trade/prod/acme-1". */
  replacements: texts.default([]),
  /** What differs from the state: "Node trade/prod/acme-1 is gone". */
  drift: texts,
  /** What a killed run may have created and no state has. */
  leftovers: texts,
  /** Whether it continued where a killed run stopped. */
  recovered: z.boolean(),
});
export type StackResult = z.infer<typeof stackResult>;
export type Outcome = StackResult["outcome"];

const command = z.enum(["up", "preview", "destroy", "drift"]);
export type Command = z.infer<typeof command>;

/** One of several shards, and how many stacks all of them have. */
const shard = z.object({ index: z.number(), count: z.number(), inAll: z.number() });

export interface FleetResult {
  command: Command;
  project: string;
  seconds: number;
  shard?: z.infer<typeof shard>;
  stacks: readonly StackResult[];
  /** Stacks of the project that are no longer in the file. */
  strays: readonly string[];
}

/** What `--json` prints. Properties of a stack that a later version adds are kept. */
const document = z.object({
  command,
  project: z.string(),
  seconds: z.number(),
  shard: shard.optional(),
  stacks: z.array(stackResult.loose()),
  strays: texts,
});

interface Part extends FleetResult {
  file: string;
}

/**
 * Merges files that `--json` wrote. `missing` says which shards have no results; `seconds` are those of the longest run.
 * @throws if a file holds no results, or results that do not belong together
 */
export function mergeResults(files: readonly string[]): { merged: FleetResult; missing?: string } {
  const texts = files.map((file) => ({ file, text: textOf(file) }));
  const parts = texts.filter(({ text }) => text.trim() !== "").map(partIn); // a killed job leaves an empty file
  const [first] = parts;
  if (first === undefined) throw new Error(`${files.join(", ")}: empty. The run ended before it had any result.`);
  for (const { file, command, project, shard } of parts) {
    if (command !== first.command || project !== first.project)
      throw new Error(
        `${file} has the results of ${command} in the project ${project}, and ${first.file} of ${first.command} in ${first.project}: merge ` +
          "only files of one run.",
      );
    if (shard?.count !== first.shard?.count || shard?.inAll !== first.shard?.inAll)
      throw new Error(
        `${file} has ${titleOf(shard)}, and ${first.file} has ${titleOf(first.shard)}: merge only shards that were made of the same stacks.`,
      );
  }
  const seen = new Map<string, string>();
  for (const { file, stacks } of parts)
    for (const { stack } of stacks) {
      const other = seen.get(stack);
      if (other !== undefined) throw new Error(`${stack} is in ${other} and in ${file}: name each result once.`);
      seen.set(stack, file);
    }
  const merged = {
    command: first.command,
    project: first.project,
    seconds: Math.max(...parts.map(({ seconds }) => seconds)),
    stacks: parts.flatMap(({ stacks }) => stacks),
    strays: [...new Set(parts.flatMap(({ strays }) => strays))],
  };
  return { merged, missing: missingIn(parts, seen.size) };
}

const titleOf = (shard: FleetResult["shard"]): string =>
  shard === undefined ? "no shard" : `shard ${shard.index}/${shard.count} of ${shard.inAll} stacks`;

/** Shards without stacks may be left out. */
function missingIn(parts: readonly Part[], found: number): string | undefined {
  const shard = parts[0]?.shard;
  if (shard === undefined || found === shard.inAll) return undefined;
  const given = new Set(parts.map((part) => part.shard?.index));
  const lacking = Array.from({ length: shard.count }, (_, at) => at + 1).filter((index) => !given.has(index));
  return (
    `${shard.inAll - found} of ${shard.inAll} stacks have no result. There are no results of the shards ` +
    `${lacking.map((index) => `${index}/${shard.count}`).join(", ")}. Run these shards again, and merge all of them.`
  );
}

function partIn({ file, text }: { file: string; text: string }): Part {
  const read = (): unknown => {
    try {
      return JSON.parse(text);
    } catch {
      return undefined;
    }
  };
  const { data, error } = document.safeParse(read());
  if (data) return { ...data, file };
  const [issue] = error.issues;
  const where = issue && issue.path.length > 0 ? ` (${printable(issue.path.join("."))}: ${issue.message})` : "";
  throw new Error(
    `${file} does not hold the results of a fleet${where}. Name files that \`consortium fleet … --json\` printed.`,
  );
}
