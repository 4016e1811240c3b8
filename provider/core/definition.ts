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

/** The result of a verb: the id and the whole state. */
export interface Made {
  id: string;
  state: Props;
}

/** Verbs that replace those of collections. */
export interface OwnVerbs {
  /** @param left the state of the same object, where another resource has just left it to this one */
  create(session: Session, inputs: Props, left?: Props): Promise<Made>;
  /** undefined: it is confirmed to be gone. */
  read(session: Session, id: string, state: Props): Promise<Props | undefined>;
  update(session: Session, id: string, olds: Props, news: Props): Promise<Props>;
  delete(session: Session, id: string, state: Props): Promise<void>;
  /** Whether this run's key can see it: only its own organization's can (spec, section 1). */
  isShown(client: ConsortiumClient, id: string): Promise<boolean>;
  /** Whether the state is finished; else the next update goes on with what is missing. */
  settled(state: Props): boolean;
}

interface Details {
  /** The outputs that a finished object has. */
  outputs: readonly string[];
  /** For messages while some are missing. */
  waiting: string;
  /** undefined while they are not all there. */
  read(client: ConsortiumClient, id: string, state: Props): Promise<Props | undefined>;
}

interface Shared {
  /** Whether it is shared, by what the service shows of it. */
  applies(shown: Props): boolean;
  /** Whether it is what the inputs want, although it has another name. */
  isSame?(inputs: Props, shown: Props): boolean;
  /** What has to fit where it is adopted; all else stays as it is. */
  fits: readonly string[];
  /** Why it stays when its resource goes; undefined: nobody else uses it. */
  usedBy(session: Session, id: string, state: Props, isAdopted: boolean): Promise<string | undefined>;
}

/** What is special about a resource; the core does the rest. */
export interface Definition {
  /** Name of the class, such as `Node`. */
  type: string;
  /** Its name in messages, such as `node`. */
  title: string;
  doc: string;
  /** A strict zod object: inputs as they are in the state and for policies, parents as flat ids. */
  inputs: z.ZodObject;
  /** What the service adds. */
  outputs: z.ZodObject;
  timeouts?: Partial<Timeouts>;
  /** Rules between properties, of the values that are known; `given` has those as well that will be known later. */
  rules?(known: Props, given: Props): Issue[];
  /** Reads the service's object, tolerantly. */
  wire: z.ZodType<Identified>;
  place(inputs: Props): Place;
  /** The properties whose values tell siblings apart; undefined: nothing does (credentials, tethers). */
  naming?: readonly string[];
  /**
   * The field that is its id, where the service gives it none: such an object is put under that name, and changed by putting it
   * again.
   */
  idField?: string;
  /** Set where several organizations or stacks use one such object: it is adopted as it is, and stays while others use it. */
  shared?: Shared;
  /** Whether one that is gone has done what it was for: its resource stays, and it is not made again. */
  isServed?(session: Session, state: Props): Promise<boolean>;
  /** Whether its state says something else than whether it can be used. */
  isReadyAtOnce?: boolean;
  /** What has to be so before it is created; may be asked for again. */
  prepare?(client: ConsortiumClient, inputs: Props): Promise<void>;
  /** The input with the id of an existing object, which is configured and never created. */
  idKey?: string;
  /** Fields of the create body that follow from several inputs, under the service's names. */
  bodyOf?(inputs: Props): Props;
  /** Outputs to ask for again if the answer to the create lacked them. */
  shownLater?: readonly string[];
  /** Outputs that only the answer to the create contains (a password); undefined if it did not. */
  shownOnce?(object: Identified): Props | undefined;
  /** What to do about such outputs if somebody else created the object. */
  onImport?: string;
  /** More outputs, from calls besides the list. */
  details?: Details;
  /** The output with its organization; only top-level objects have one. */
  owner?: string;
  /** Whether it was created with its parent and goes with it: a service may not delete it alone. */
  foundedWith?(object: Identified, parent: Identified): boolean;
  /** Collections in a new object that are known to be empty. */
  emptyWhenMade?: readonly string[];
  /** The preview's warning about a replacement. */
  replaceWarning?: string;
  /** For a resource that does not live in a collection (the tether service). */
  own?: OwnVerbs;
}

const standardTimeouts: Timeouts = { create: 300, update: 300, delete: 300 };

/** Milliseconds that a verb may take: what the user set (`customTimeouts`, in seconds in the inputs), or the default. */
export function timeoutMs({ timeouts }: Definition, verb: keyof Timeouts, inputs: Props): number {
  const custom = (inputs.customTimeouts ?? {}) as Partial<Timeouts>;
  return 1000 * (custom[verb] ?? timeouts?.[verb] ?? standardTimeouts[verb]);
}

/** What tells the object with these properties from its siblings, as one text; undefined: nothing does. */
export const identityOf = ({ naming }: Pick<Definition, "naming">, props: Props): string | undefined =>
  naming?.map((key) => String(props[key])).join(" ");

/** The input with its name, if it has one. Siblings may share a name. */
export const nameKey = ({ inputs }: Pick<Definition, "inputs">): string | undefined =>
  ["name", "orgName"].find((key) => key in inputs.shape);

/** Metadata of an input; undefined if there is no such input. */
export function inputMeta({ inputs }: Pick<Definition, "inputs">, key: string): FieldMeta | undefined {
  const schema = (inputs.shape as Record<string, z.ZodType | undefined>)[key];
  return schema && metaOf(schema);
}

export const inputKeys = ({ inputs }: Pick<Definition, "inputs">): string[] => Object.keys(inputs.shape);

/** Inputs and outputs that are never shown. */
export const secretKeys = ({ inputs, outputs }: Pick<Definition, "inputs" | "outputs">): string[] =>
  Object.entries<z.ZodType>({ ...inputs.shape, ...outputs.shape }).flatMap(([key, schema]) =>
    metaOf(schema).secret ? [key] : [],
  );

/** Inputs that are not in the spec: left out if a service rejects them. */
export const undocumentedKeys = (definition: Pick<Definition, "inputs">): string[] =>
  inputKeys(definition).filter((key) => inputMeta(definition, key)?.undocumented);
