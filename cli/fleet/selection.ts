import { basename } from "node:path";
import { type Changes, changesSince } from "./changes";
import { workFolderOf } from "./project";
import { type Fleet, type FleetStack } from "./schema";
import { inShard, type Shard } from "./shards";

/* Which stacks of a fleet a command is for. */

const literal = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** `acme-*`: a star stands for anything. */
const expressionOf = (pattern: string): RegExp => new RegExp(`^${pattern.split("*").map(literal).join(".*")}$`);

/** The stacks that match a pattern; all without one. @throws when one of them fits nothing */
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

export interface Wanted {
  /** Patterns of names. */
  only: readonly string[];
  shard?: Shard;
  /** A commit. */
  changedSince?: string;
}

export interface Selection {
  stacks: FleetStack[];
  /** How many there are in all shards. */
  inAll: number;
  changes?: Changes;
}

/** The stacks that are wanted. @throws when a pattern fits nothing, or git cannot say what has changed */
export function selected(fleet: Fleet, { only, shard, changedSince }: Wanted): Selection {
  const named = chosen(fleet, only);
  const changes = changedSince === undefined ? undefined : changesSince(fleet, changedSince);
  const all = changes ? named.filter(({ name }) => changes.reasons.has(name)) : named;
  return { stacks: shard ? inShard(fleet.stacks, all, shard) : all, inAll: all.length, changes };
}

/** What to know of stacks that left the file: the backend knows them still, under their former name. */
export const removedNotes = (fleet: Fleet, { removed }: Changes): string[] =>
  removed.map(({ name, renamed }) =>
    renamed === undefined
      ? `${name} is not in ${basename(fleet.file)} any more: nothing of it is changed.`
      : `${name} is not in ${basename(fleet.file)} any more, and ${renamed} has its settings. If that is its new name, rename the stack ` +
        `before the next up: \`pulumi stack rename ${renamed} --stack ${name}\` in ${workFolderOf(fleet)}.`,
  );
