import { type PolicyProviderResource } from "@pulumi/policy";
import { z } from "zod";
import { definePolicy, type Report } from "./define";
import { ask, type Existing, type Organization, outsideStack } from "./live";
import { Parents } from "./parents";
import { type Member, type Stack } from "./resources";
import { listed } from "./text";

/** Resources that share one limit. */
interface Counted {
  /** Whose limit it is, such as `Environment "ledger"`. */
  owner: string;
  /** The resource to blame. */
  urn?: string;
  mine: readonly Member[];
  provider?: PolicyProviderResource;
  /** All that the owner has. */
  list: (organization: Organization) => Promise<Existing[]>;
  /** What else must hold. `others` exist outside this stack; undefined: that was not asked, or not answered. */
  further?: (others: Existing[] | undefined, report: Report) => void;
}

interface Maximum<Name extends string> {
  name: Name;
  rule: string;
  /** What the service itself allows: provider/facts.ts. */
  limit: number;
  things: string;
  /** Where they are counted, as the setting says it: `per environment`. */
  per: string;
  remedy: string;
  counted: (parents: Parents, stack: Stack) => Counted[];
}

/** A policy of how many resources something may have: in this stack, and outside of it where the setting `live` asks for that. */
export const maximumPolicy = <Name extends string>(maximum: Maximum<Name>) =>
  definePolicy({
    name: maximum.name,
    level: "mandatory",
    rule: maximum.rule,
    settings: {
      max: z.int().min(0).default(maximum.limit).describe(`Maximum number of ${maximum.things} ${maximum.per}.`),
      live: z
        .boolean()
        .default(false)
        .describe("Also count what the organization already has outside this stack; needs an API key."),
    },
    async stack(stack, { max, live }, report) {
      const parents = new Parents(stack);
      for (const { owner, urn, mine, provider, list, further } of maximum.counted(parents, stack)) {
        const existing = live ? await ask(provider, report, list) : undefined;
        const others = existing && outsideStack(mine, existing, parents);
        const outside = (others ?? []).map(({ id, name }) => name ?? id);
        const count = mine.length + outside.length;
        if (count > max) {
          const where = outside.length === 0 ? "" : `, and outside of it ${listed(outside)}`;
          const here = `in this stack ${listed(mine.map(({ name }) => name))}${where}`;
          const deleted = outside.length === 0 ? "" : " What this run deletes counts, too, since Pulumi deletes last.";
          const found = `${owner} would have ${count} ${maximum.things} (${here}), but at most ${max} are allowed.`;
          report.violation(`${found} ${maximum.remedy}${deleted}`, urn);
        }
        further?.(others, report);
      }
    },
  });
