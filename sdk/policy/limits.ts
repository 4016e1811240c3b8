import { type Existing } from "./live";
import { type Setting } from "./settings";
import { type Member } from "./resources";
import { listed } from "./text";

export interface LimitSettings {
  max: number;
  live: boolean;
}

export const limitSettings = (max: number, of: string) => ({
  max: { type: "integer", minimum: 0, default: max, description: `Most ${of}.` } satisfies Setting,
  live: {
    type: "boolean",
    default: false,
    description: "Count what the organization already has outside this stack, too; needs an API key.",
  } satisfies Setting,
});

/** What is too much, and how to mend it; undefined: all is well. */
export function overLimit(limit: {
  /** Whose limit it is, such as `Environment "ledger"`. */
  owner: string;
  things: string;
  mine: readonly Member[];
  others?: readonly Existing[];
  max: number;
  mend: string;
}): string | undefined {
  const { owner, things, mine, others = [], max, mend } = limit;
  const count = mine.length + others.length;
  if (count <= max || mine.length === 0) return undefined;
  const outside = others.length === 0 ? "" : `, and outside of it ${listed(others.map(({ id, name }) => name ?? id))}`;
  const here = `in this stack ${listed(mine.map(({ name }) => name))}${outside}`;
  const deleted = others.length === 0 ? "" : " What this run deletes counts, too, since Pulumi deletes last.";
  return `${owner} would have ${count} ${things} (${here}), but at most ${max} are allowed. ${mend}${deleted}`;
}
