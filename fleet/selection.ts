import { basename } from "node:path";
import { type Changes, changesSince } from "./changes";
import { workFolderOf } from "./project";
import { type Fleet, type FleetStack } from "./schema";
import { plannedShards, type Shard } from "./shards";

/* Which stacks of a fleet a command runs for. */

const literal = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** `acme-*`: a star matches anything. */
const expressionOf = (pattern: string): RegExp => new RegExp(`^${pattern.split("*").map(literal).join(".*")}$`);

/** The stacks that match one of the patterns; all if there are none. @throws if a pattern matches no stack */
export function chosen({ stacks, file }: Pick<Fleet, "stacks" | "file">, patterns: readonly string[]): FleetStack[] {
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

/** The wanted stacks. @throws if a pattern matches no stack, or git cannot tell what has changed */
export function selected(fleet: Fleet, { only, shard, changedSince }: Wanted): Selection {
  const named = chosen(fleet, only);
  const changes = changedSince === undefined ? undefined : changesSince(fleet, changedSince);
  const all = changes ? named.filter(({ name }) => changes.reasons.has(name)) : named;
  if (!shard) return { stacks: all, inAll: all.length, changes };
  const planned = plannedShards(fleet.stacks, all, shard.count).find((one) => one.shard.index === shard.index);
  return { stacks: planned?.stacks ?? [], inAll: all.length, changes };
}

/** Notes on stacks that left the file. The backend still has them, under their former names. */
export const removedNotes = (fleet: Fleet, { removed }: Changes): string[] =>
  removed.map(({ name, renamed }) =>
    renamed === undefined
      ? `${name} is no longer in ${basename(fleet.file)}: nothing in it is changed.`
      : `${name} is no longer in ${basename(fleet.file)}, and ${renamed} has its settings. If that is its new name, rename the stack ` +
        `before the next up: \`pulumi stack rename ${renamed} --stack ${name}\` in ${workFolderOf(fleet)}.`,
  );
