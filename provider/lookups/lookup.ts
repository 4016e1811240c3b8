import { type z } from "zod";
import { type ConsortiumClient } from "../api";
import { isGone } from "../api/states";
import { check, type Checked } from "../core/check";
import { type Props } from "../core/definition";

/** A question to the service that changes nothing: `getNodes` and the like. */
export interface Lookup {
  name: string;
  doc: string;
  /** A strict zod object, its fields with docs. */
  args: z.ZodObject;
  /** One result; of a list, one of its items. */
  result: z.ZodType;
  /** The key under which the function of a plugin answers its list, since functions answer objects. Without it, there is one result. */
  list?: string;
  /** With checked arguments: one result, or a list of them. */
  run(client: ConsortiumClient, args: Props): Promise<unknown>;
}

/** Arguments by property, as those of resources. */
export const checkArguments = (
  { name, args }: Lookup,
  given: Props,
  isUnknown: (value: unknown) => boolean = () => false,
): Checked => check({ type: name, inputs: args }, given, isUnknown);

type LookupOf<Args extends z.ZodObject> = Omit<Lookup, "args" | "run" | "name"> & {
  args: Args;
  run(client: ConsortiumClient, args: z.output<Args>): Promise<unknown>;
};

/** What `run` gets is what `args` describes. */
export const lookup = <Args extends z.ZodObject>(one: LookupOf<Args>): Omit<Lookup, "name"> => ({
  ...one,
  run: (client, args) => one.run(client, args as z.output<Args>),
});

const camel = (key: string): string =>
  key.replace(/^_/, "").replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** Fields under the names that the resources use; unknown ones are kept. */
export const shown = (item: object): Props =>
  Object.fromEntries(Object.entries(item).map(([key, value]: [string, unknown]) => [camel(key), value]));

/** What is there of a list, all or what has the given value: a service may not filter. */
export const shownWith = (items: readonly object[], key: string, value: unknown): Props[] =>
  items
    .filter((item) => !isGone(item))
    .map(shown)
    .filter((item) => value === undefined || item[key] === value);
