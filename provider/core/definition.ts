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

export interface Verbs {
  create(session: Session, inputs: Props): Promise<Made>;
  /** undefined: it is gone, and that was confirmed. */
  read(session: Session, id: string, state: Props): Promise<Props | undefined>;
  update(session: Session, id: string, olds: Props, news: Props): Promise<Props>;
  delete(session: Session, id: string, state: Props): Promise<void>;
}

interface Shape {
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
}

interface Details {
  /** Those without which the object is not finished. */
  outputs: readonly string[];
  /** What messages say while they are not all there. */
  waiting: string;
  /** undefined while they are not all there. */
  read(client: ConsortiumClient, id: string, state: Props): Promise<Props | undefined>;
}

/** A resource that lives in a collection: the one lifecycle of the core runs it. */
export interface CollectionDefinition extends Shape {
  kind: "collection";
  /** Reads the service's object, tolerantly. */
  wire: z.ZodType<Identified>;
  place(inputs: Props): Place;
  /** The property whose value tells siblings apart; undefined: nothing does (credentials). */
  naming?: "name" | "orgName";
  /** Outputs worth asking again for, when the answer to the create did not hold them. */
  expected: readonly string[];
  /** Outputs that only the answer to the create tells (a password); undefined: that answer did not tell them. */
  shownOnce?(object: Identified): Props | undefined;
  /** What to do about outputs that only that answer tells, where somebody else made the object. */
  untold?: string;
  /** More outputs, from calls besides the list. */
  details?: Details;
  /** The output that shows the organization it belongs to; only what is in nothing else has one. */
  owner?: string;
  /** Whether it came with what it is in, and goes with it: a service need not delete it alone. */
  foundedWith?(object: Identified, parent: Identified): boolean;
  /** Collections in a newly made one that are known to be empty, without asking. */
  startsEmpty?: readonly string[];
  /** Said loudly in the preview when a change makes a new one. */
  replaceWarning?: string;
}

/** A resource with verbs of its own (the tether service: it cannot be created, only configured). */
export interface CustomDefinition extends Shape, Verbs {
  kind: "custom";
  /** The input that says which object it is: it exists already. */
  idKey: string;
  /** @param left the state of the same object, where another resource has just left it to this one */
  create(session: Session, inputs: Props, left?: Props): Promise<Made>;
  /** Whether the service shows it to the key of this run: it does so for its own organization only (spec, section 1). */
  isShown(client: ConsortiumClient, id: string): Promise<boolean>;
  /** Whether the state is finished; else the next update goes on with what is missing. */
  settled(state: Props): boolean;
}

export type Definition = CollectionDefinition | CustomDefinition;

const standardTimeouts: Timeouts = { create: 300, update: 300, delete: 300 };

/** Milliseconds that a verb may take: what the user set (`customTimeouts`, in seconds in the inputs), or the default. */
export function timeoutMs(definition: Shape, verb: keyof Timeouts, inputs: Props): number {
  const custom = (inputs.customTimeouts ?? {}) as Partial<Timeouts>;
  return 1000 * (custom[verb] ?? definition.timeouts?.[verb] ?? standardTimeouts[verb]);
}

/** The input that holds its name; undefined where it has none. Names need not tell siblings apart. */
export const nameKey = ({ inputs }: Shape): string | undefined =>
  ["name", "orgName"].find((key) => key in inputs.shape);

/** What is known of an input; undefined where the resource has no such input. */
export function inputMeta(definition: Shape, key: string): FieldMeta | undefined {
  const schema = (definition.inputs.shape as Record<string, z.ZodType | undefined>)[key];
  return schema && metaOf(schema);
}

export const inputKeys = (definition: Shape): string[] => Object.keys(definition.inputs.shape);

/** Outputs that are never shown. */
export const secretOutputs = ({ outputs }: Shape): string[] =>
  Object.entries<z.ZodType>(outputs.shape).flatMap(([key, schema]) => (metaOf(schema).secret ? [key] : []));

/** Inputs that a service may refuse to know, since the spec does not list them: left out then. */
export const undocumentedKeys = (definition: Shape): string[] =>
  inputKeys(definition).filter((key) => inputMeta(definition, key)?.undocumented);
