import { type z } from "zod";
import { type ConsortiumClient, type Identified } from "../api";
import { type FieldMeta, metaOf, nameOf, type Props } from "./field";
import { type Session } from "./session";

export { nameOf, type Props };

/** Where an object lives: the collection that lists it, and the object that owns the collection. */
export interface Place {
  /** Path of the collection, such as `/consortia/c1/environments`. */
  collection: string;
  parent?: { place: Place; id: string };
  /** The spec has no list of these: one that cannot be listed counts as there while its parent is. */
  isUnlisted?: boolean;
}

/** Default time-outs in seconds (contract, "Resources"). */
export interface Timeouts {
  create: number;
  update: number;
  delete: number;
}

export interface Issue {
  property: string;
  reason: string;
}

/** What a verb leaves behind: the id and the whole state. */
export interface Made {
  id: string;
  state: Props;
}

/** Verbs in place of those that all collections share. */
export interface OwnVerbs {
  /** @param left the state of the same object, where another resource has just left it to this one */
  create(session: Session, inputs: Props, left?: Props): Promise<Made>;
  /** undefined: it is gone, and that was confirmed. */
  read(session: Session, id: string, state: Props): Promise<Props | undefined>;
  update(session: Session, id: string, olds: Props, news: Props): Promise<Props>;
  delete(session: Session, id: string, state: Props): Promise<void>;
  /** Whether the service shows it to the key of this run: it does so for its own organization only (spec, section 1). */
  isShown(client: ConsortiumClient, id: string): Promise<boolean>;
  /** Whether the state is finished; else the next update goes on with what is missing. */
  settled(state: Props): boolean;
}

interface Details {
  /** Those without which the object is not finished. */
  outputs: readonly string[];
  /** What messages say while they are not all there. */
  waiting: string;
  /** undefined while they are not all there. */
  read(client: ConsortiumClient, id: string, state: Props): Promise<Props | undefined>;
}

/** All that is special about a resource; the core does the rest. */
export interface Definition {
  /** Name of the class, such as `Node`. */
  type: string;
  /** How messages call it, such as `node`. */
  title: string;
  doc: string;
  /** A strict zod object: inputs as they are in the state and for policies, parents as flat ids. */
  inputs: z.ZodObject;
  /** What the service adds. */
  outputs: z.ZodObject;
  timeouts?: Partial<Timeouts>;
  /** Rules between properties; asked only with the values that are known. */
  rules?(known: Props): Issue[];
  /** Reads the service's object, tolerantly. */
  wire: z.ZodType<Identified>;
  place(inputs: Props): Place;
  /** The property whose value tells siblings apart; undefined: nothing does (credentials, tethers). */
  naming?: "name" | "orgName";
  /** The input that is the id of an object that exists already: it is configured, and never created. */
  idKey?: string;
  /** Fields of the create body that follow from several inputs, under the service's names. */
  bodyOf?(inputs: Props): Props;
  /** Outputs worth asking again for, when the answer to the create did not hold them. */
  shownLater?: readonly string[];
  /** Outputs that only the answer to the create tells (a password); undefined: that answer did not tell them. */
  shownOnce?(object: Identified): Props | undefined;
  /** What to do about outputs that only that answer tells, where somebody else made the object. */
  onImport?: string;
  /** More outputs, from calls besides the list. */
  details?: Details;
  /** The output that shows the organization it belongs to; only what is in nothing else has one. */
  owner?: string;
  /** Whether it came with what it is in, and goes with it: a service need not delete it alone. */
  foundedWith?(object: Identified, parent: Identified): boolean;
  /** Collections in a newly made one that are known to be empty, without asking. */
  emptyWhenMade?: readonly string[];
  /** Said loudly in the preview when a change makes a new one. */
  replaceWarning?: string;
  /** Of a resource that the service does not create and delete in a collection (the tether service). */
  own?: OwnVerbs;
}

const standardTimeouts: Timeouts = { create: 300, update: 300, delete: 300 };

/** Milliseconds that a verb may take: what the user set (`customTimeouts`, in seconds in the inputs), or the default. */
export function timeoutMs({ timeouts }: Definition, verb: keyof Timeouts, inputs: Props): number {
  const custom = (inputs.customTimeouts ?? {}) as Partial<Timeouts>;
  return 1000 * (custom[verb] ?? timeouts?.[verb] ?? standardTimeouts[verb]);
}

/** The input that holds its name; undefined where it has none. Names need not tell siblings apart. */
export const nameKey = ({ inputs }: Pick<Definition, "inputs">): string | undefined =>
  ["name", "orgName"].find((key) => key in inputs.shape);

/** What is known of an input; undefined where the resource has no such input. */
export function inputMeta({ inputs }: Pick<Definition, "inputs">, key: string): FieldMeta | undefined {
  const schema = (inputs.shape as Record<string, z.ZodType | undefined>)[key];
  return schema && metaOf(schema);
}

export const inputKeys = ({ inputs }: Pick<Definition, "inputs">): string[] => Object.keys(inputs.shape);

/** Outputs that are never shown. */
export const secretOutputs = ({ outputs }: Pick<Definition, "outputs">): string[] =>
  Object.entries<z.ZodType>(outputs.shape).flatMap(([key, schema]) => (metaOf(schema).secret ? [key] : []));

/** Inputs that a service may refuse to know, since the spec does not list them: left out then. */
export const undocumentedKeys = (definition: Pick<Definition, "inputs">): string[] =>
  inputKeys(definition).filter((key) => inputMeta(definition, key)?.undocumented);
