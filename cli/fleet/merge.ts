import { z } from "zod";
import { printable } from "../../provider/api/printable";
import { textOf } from "../shared/terminal";
import { type ShardOf } from "./output";
import { type Outcome } from "./run";
import { type Command, type Result } from "./stack";

/* The results of several runs, such as those of all shards, as those of one. */

const number = z.number();
const texts = z.array(z.string());

/** What `--json` prints, as far as it is needed here; what else there is of a stack stays. */
const document = z.object({
  command: z.enum(["up", "preview", "destroy", "drift"]),
  project: z.string(),
  seconds: number,
  shard: z.object({ index: number, count: number, inAll: number }).optional(),
  stacks: z.array(
    z.looseObject({
      stack: z.string(),
      organization: z.string(),
      outcome: z.enum(["ok", "failed", "drift", "interrupted", "not begun"]),
      created: number,
      updated: number,
      replaced: number,
      deleted: number,
      unchanged: number,
      seconds: number,
      error: z.string().optional(),
      ledgers: texts,
      replacements: texts.default([]),
      drift: texts,
      leftovers: texts,
      recovered: z.boolean(),
    }),
  ),
  strays: texts,
});

interface Part extends z.infer<typeof document> {
  file: string;
}

export interface Merged extends Outcome {
  command: Command;
  project: string;
  /** Of the run that took longest. */
  seconds: number;
  /** What is not there, for people: results of shards that nobody gave. */
  missing?: string;
}

/** @throws where a file holds no results, or they do not belong together */
export function mergeResults(files: readonly string[]): Merged {
  const texts = files.map((file) => ({ file, text: textOf(file) }));
  // What a job that was killed leaves.
  const parts = texts.filter(({ text }) => text.trim() !== "").map(partIn);
  const [first] = parts;
  if (first === undefined) throw new Error(`${files.join(", ")}: empty. Its run ended before it had any result.`);
  for (const { file, command, project, shard } of parts) {
    if (command !== first.command || project !== first.project)
      throw new Error(
        `${file} has the results of ${command} in the project ${project}, and ${first.file} of ${first.command} in ${first.project}: merge ` +
          "only files of one run.",
      );
    if (shard?.count !== first.shard?.count || shard?.inAll !== first.shard?.inAll)
      throw new Error(
        `${file} has ${whatOf(shard)}, and ${first.file} ${whatOf(first.shard)}: merge only shards that were made of the same stacks.`,
      );
  }
  const seen = new Map<string, string>();
  for (const { file, stacks } of parts)
    for (const { stack } of stacks) {
      const other = seen.get(stack);
      if (other !== undefined) throw new Error(`${stack} is in ${other} and in ${file}: name each result once.`);
      seen.set(stack, file);
    }
  return {
    command: first.command,
    project: first.project,
    seconds: Math.max(...parts.map(({ seconds }) => seconds)),
    results: parts.flatMap(({ stacks }) => stacks.map(resultOf)),
    strays: [...new Set(parts.flatMap(({ strays }) => strays))],
    missing: missingIn(parts, seen.size),
  };
}

const whatOf = (shard: ShardOf | undefined): string =>
  shard === undefined ? "no shard" : `shard ${shard.index}/${shard.count} of ${shard.inAll} stacks`;

/** Shards without stacks of their own may be left out. */
function missingIn(parts: readonly Part[], found: number): string | undefined {
  const shard = parts[0]?.shard;
  if (shard === undefined || found === shard.inAll) return undefined;
  const given = new Set(parts.map((part) => part.shard?.index));
  const lacking = Array.from({ length: shard.count }, (_, at) => at + 1).filter((index) => !given.has(index));
  return (
    `${shard.inAll - found} of ${shard.inAll} stacks have no result: there is none of ` +
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

const resultOf = ({ created, updated, replaced, deleted, unchanged, ...rest }: Part["stacks"][number]): Result => ({
  ...rest,
  counts: { created, updated, replaced, deleted, unchanged },
});
