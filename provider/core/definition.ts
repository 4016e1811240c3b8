import { type z } from "zod";
import { type ConsortiumClient, type Identified } from "../api";
import { paths } from "../api/paths";
import { type ErrorCode } from "../errors";
import { type Condition, conditionOf } from "../api/states";
import { type FieldMeta, metaOf, nameOf, type Props } from "./field";
import { type Session } from "./session";
import { times } from "./times";

export { nameOf, type Props };

/** Where an object lives: the collection that lists it, and the collection's parent. */
export interface Place {
  /** Path of the collection, such as `/consortia/c1/environments`. */
  collection: string;
  parent?: { place: Place; id: string };
  /** The field that is an object's id, if the service gives it no other: it is then created and changed with a PUT under that name. */
  idField?: string;
  /** The spec has no list of these: if it cannot be listed, the object counts as existing while its parent does. */
  isUnlisted?: boolean;
}

type Timeouts = typeof times.verbSeconds;

export interface Issue {
  property: string;
  reason: string;
  /** Default: the value is invalid. */
  code?: ErrorCode;
}

/** The result of a verb: the id and the complete state. */
export interface Made {
  id: string;
  state: Props;
}

interface Details {
  /** The outputs that a complete object has. */
  outputs: readonly string[];
  /** Progress message while some are missing. */
  waiting: string;
  /** undefined: some are still missing. */
  read(client: ConsortiumClient, id: string, state: Props): Promise<Props | undefined>;
}

/** What a resource may do in its own way: verbs, built from functions of the core (`stepsOf` in verbs.ts), and answers to their questions. */
export interface Steps {
  create(session: Session, inputs: Props): Promise<Made>;
  /** undefined: it is confirmed to be gone. */
  read(session: Session, id: string, state: Props): Promise<Props | undefined>;
  update(session: Session, id: string, olds: Props, news: Props): Promise<Props>;
  /** @returns why the object stays; undefined: it is gone */
  delete(session: Session, id: string, state: Props): Promise<string | undefined>;
  /** Whether a missing object has served its purpose: its resource stays, and it is not made again. */
  isServed(session: Session, state: Props): Promise<boolean>;
  /** Whether the key can see it. Only keys of its own organization can (spec, section 1). */
  isShown(client: ConsortiumClient, id: string): Promise<boolean>;
  /** Whether the state is complete. Otherwise the next update completes it. */
  settled(state: Props): boolean;
  /** Outputs that only the answer to the create contains (a password). undefined: it lacks them. */
  shownOnce(object: Identified): Props | undefined;
  /** More outputs, from other calls than the list. */
  details: Details;
  /** Rules between known values, for `check`. `given` also has the values that will be known later. */
  rules(known: Props, given: Props): Issue[];
  /**
   * Warnings of a preview about allowed but unusual inputs.
   * @param stopped ids of objects of the stack that do nothing after this run, such as paused environments
   */
  cautions(inputs: Props, stopped: ReadonlySet<string>): string[];
  /** Lines of a preview about what a create, or an update of this state, pays for. */
  costs(inputs: Props, state?: Props): string[];
  /** Warnings of `check` about losses. Pulumi shows earlier inputs only to `check`, and calls no provider about planned deletions. */
  losses(olds: Props, news: Props): string[];
  /** Advice about values that an import does not restore. */
  onImport: string;
  /** What its states mean, where that differs from `conditionOf`. */
  states: States;
  /** The input with the id of an existing object, which this resource configures and never creates. */
  idKey: string;
}

interface Shared {
  /** Whether an object is shared, by what the service shows of it. */
  applies(shown: Props): boolean;
  /** Whether an object fits the inputs even if its name differs. */
  isSame?(inputs: Props, shown: Props): boolean;
  /** Inputs that must fit for adoption. All else stays as it is. */
  fits: readonly string[];
}

interface States {
  /** @param state in lower case @returns undefined: as for all objects */
  condition(state: string): Condition | undefined;
  /** Text of previews about an object that is over. It follows "is expired: ". */
  over?: string;
}

/** The facts of one kind of resource. The core does the rest. */
export interface Definition {
  /** Name of the class, such as `Node`. */
  type: string;
  /** Its name in messages, such as `node`. */
  title: string;
  doc: string;
  /** A strict zod object: inputs as in states and policies, with parents as flat ids. */
  inputs: z.ZodObject;
  /** Properties that the service adds. */
  outputs: z.ZodObject;
  timeouts?: Partial<Timeouts>;
  /** Reads the service's object tolerantly. */
  wire: z.ZodType<Identified>;
  place(inputs: Props): Place;
  /** The properties that tell siblings apart. undefined: nothing does (credentials, tethers). */
  naming?: readonly string[];
  /** Set if several organizations or stacks use one such object: it is adopted as it is, and what was adopted is never deleted. */
  shared?: Shared;
  /** Whether other objects name it by its id: a replacement is made before the old one goes. */
  isNamedById?: boolean;
  /** Outputs to ask for again if the answer to the create lacks them. */
  shownLater?: readonly string[];
  steps?: Partial<Steps>;
}

/** Milliseconds that a verb may take: the user's `customTimeouts`, in seconds in the inputs, or the default. */
export function timeoutMs({ timeouts }: Definition, verb: keyof Timeouts, inputs: Props): number {
  const custom = (inputs.customTimeouts ?? {}) as Partial<Timeouts>;
  return 1000 * (custom[verb] ?? timeouts?.[verb] ?? times.verbSeconds[verb]);
}

/** The path of the object with these properties, which identifies it everywhere: an id may be only a name, unique in its place. */
export function pathOf(definition: Pick<Definition, "type" | "place">, props: Props, id: string): string {
  try {
    return paths.item(definition.place(props).collection, id);
  } catch {
    return `${definition.type} ${id}`; // a state that somebody edited may lack a parent: the call that needs it says so
  }
}

/** Text that distinguishes this object from its siblings. undefined: siblings may be alike. */
export const identityOf = ({ naming }: Pick<Definition, "naming">, props: Props): string | undefined =>
  naming?.map((key) => String(props[key])).join(" ");

/** What the state of an object of this kind means. */
export const conditionIn = ({ steps }: Pick<Definition, "steps">, { state }: { state?: unknown }): Condition =>
  steps?.states?.condition(String(state).trim().toLowerCase()) ?? conditionOf(state);

/** Whether it is in a state in which it can do nothing any more. */
export const isOver = (definition: Pick<Definition, "steps">, object: { state?: unknown }): boolean =>
  conditionIn(definition, object) === "over";

/** The input with its name, if it has one. Siblings may share a name. */
export const nameKey = ({ inputs }: Pick<Definition, "inputs">): string | undefined =>
  ["name", "orgName"].find((key) => key in inputs.shape);

/** Metadata of an input. undefined: unknown input. */
export function inputMeta({ inputs }: Pick<Definition, "inputs">, key: string): FieldMeta | undefined {
  const schema = (inputs.shape as Record<string, z.ZodType | undefined>)[key];
  return schema && metaOf(schema);
}

export const inputKeys = ({ inputs }: Pick<Definition, "inputs">): string[] => Object.keys(inputs.shape);

type Shapes = Pick<Definition, "inputs" | "outputs">;
const secretsOf = new WeakMap<Shapes["inputs"], readonly string[]>();

/** Inputs and outputs that are never shown. Every verb asks. */
export function secretKeys({ inputs, outputs }: Shapes): readonly string[] {
  const known = secretsOf.get(inputs);
  if (known) return known;
  const all = Object.entries<z.ZodType>({ ...inputs.shape, ...outputs.shape });
  const keys = all.flatMap(([key, schema]) => (metaOf(schema).secret ? [key] : []));
  secretsOf.set(inputs, keys);
  return keys;
}

/** Inputs with this effect on change. */
export const keysWith = (definition: Pick<Definition, "inputs">, onChange: FieldMeta["onChange"]): string[] =>
  inputKeys(definition).filter((key) => inputMeta(definition, key)?.onChange === onChange);
