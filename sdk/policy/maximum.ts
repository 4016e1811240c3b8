import { type PolicyProviderResource } from "@pulumi/policy";
import { z } from "zod";
import { type Report } from "./define";
import { ask, type Existing, type Organization, outsideStack } from "./live";
import { type Parents } from "./parents";
import { type Member } from "./resources";
import { listed } from "./text";

/** Settings of a policy that counts: the service's own limit is the default (provider/facts.ts). */
export const maximumSettings = (limit: number, of: string) => ({
  max: z.int().min(0).default(limit).describe(`Most ${of}.`),
  live: z
    .boolean()
    .default(false)
    .describe("Count what the organization already has outside this stack, too; needs an API key."),
});

/** Resources that share one limit. */
interface Counted {
  /** Whose limit it is, such as `Environment "ledger"`. */
  owner: string;
  /** The resource to blame. */
  urn?: string;
  things: string;
  mine: readonly Member[];
  provider?: PolicyProviderResource;
  /** All that the owner has. */
  list: (organization: Organization) => Promise<Existing[]>;
  remedy: string;
}

/** Reports what is too much. Answers what exists outside this stack; undefined: that was not asked, or not answered. */
export async function checkMaximum(
  { owner, urn, things, mine, provider, list, remedy }: Counted,
  { max, live }: { max: number; live: boolean },
  parents: Parents,
  report: Report,
): Promise<Existing[] | undefined> {
  const existing = live ? await ask(provider, report, list) : undefined;
  const others = existing && outsideStack(mine, existing, parents);
  const outside = (others ?? []).map(({ id, name }) => name ?? id);
  const count = mine.length + outside.length;
  if (count > max) {
    const where = outside.length === 0 ? "" : `, and outside of it ${listed(outside)}`;
    const here = `in this stack ${listed(mine.map(({ name }) => name))}${where}`;
    const deleted = outside.length === 0 ? "" : " What this run deletes counts, too, since Pulumi deletes last.";
    report.violation(
      `${owner} would have ${count} ${things} (${here}), but at most ${max} are allowed. ${remedy}${deleted}`,
      urn,
    );
  }
  return others;
}
