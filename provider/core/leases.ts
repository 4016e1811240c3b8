import { type z } from "zod";
import { paths } from "../api/paths";
import { nameOf, type Props } from "./field";
import { isUnset, normalOf, unformatted } from "./values";
import { UserError } from "../errors";

/*
 * Which resource of the program has which object, as far as this run has shown; lifecycle/handover.ts decides by it. Objects are
 * identified by their paths.
 */

/** The part of a definition that is needed here; importing the whole would be circular. */
interface Definition {
  type: string;
  title: string;
  inputs: z.ZodObject;
  naming?: readonly string[];
  steps?: { idKey?: string };
  place(props: Props): { collection: string };
}

/** A resource of the program. */
export interface ProgramResource {
  /** Unique in the stack. */
  key: string;
  /** Its logical name, for messages. */
  name: string;
}

/** The object of a resource. `isOver`: others may take its name. */
interface Held {
  path: string;
  id: string;
  isOver?: boolean;
}

/** Everything this run knows about a resource. */
export interface Lease {
  resource: ProgramResource;
  definition: Definition;
  inputs: Props;
  /** The engine asked without a state: the resource is new, or being replaced. */
  isNew: boolean;
  /** Its object in the state; undefined until the engine asks for a diff, which it may never do. */
  object?: Held;
  /** The name that its object has, as `nameMark` writes it, where the program gives it another one. */
  formerName?: string;
  /** It gives this object up. */
  replaced: boolean;
  /** Progress of its create. `isReady`: it has ended well. */
  create?: { path: string; isReady?: boolean } | "failed";
}

/** The name in its place, as one text. undefined: siblings have no distinguishing name. */
function nameMark(definition: Definition, props: Props): string | undefined {
  const { naming, type } = definition;
  if (!naming) return undefined;
  const normal = normalOf(definition, props, naming);
  const values = naming.map((key) => (isUnset(normal[key]) ? null : unformatted(normal[key])));
  return JSON.stringify([type, definition.place(props).collection, ...values]);
}

/** Whether both have the same name in the same place. */
export function isNamesake(definition: Definition, one: Props, other: Props): boolean {
  const mark = nameMark(definition, one);
  return mark !== undefined && mark === nameMark(definition, other);
}

/** Id of the object that a resource asks for; undefined: none. */
export function namedId(definition: Definition, inputs: Props): string | undefined {
  const idKey = definition.steps?.idKey;
  if (idKey !== undefined) return String(inputs[idKey]);
  return typeof inputs.adopt === "string" ? inputs.adopt : undefined;
}

/** Path of that object. */
function namedPath(definition: Definition, inputs: Props): string | undefined {
  const id = namedId(definition, inputs);
  return id === undefined ? undefined : paths.item(definition.place(inputs).collection, id);
}

const keeps = ({ object, replaced }: Lease, path: string): boolean => object?.path === path && !replaced;
/** Whether it is new, and its create has not ended. */
const isWaiting = ({ isNew, create }: Lease): boolean => isNew && create === undefined;
const took = ({ create }: Lease, path: string): boolean => typeof create === "object" && create.path === path;

/** Pulumi's two ways to give an object of the stack to another resource. */
function handover(from: ProgramResource | undefined, to: ProgramResource | undefined): string {
  const [old, now] = [from ? `"${from.name}"` : "the old resource", to ? `"${to.name}"` : "the new one"];
  return (
    `To give it to ${now}, take ${old} out of the program, and either give ${now} the resource option ` +
    `aliases: [{ name: "${from?.name ?? "<its name>"}" }], or run \`pulumi state rename\` with the URN of ${old} and the new name first.`
  );
}

/** The error for resources that swap names, so that each waits for the other. */
export const swapping = (what: string, { name }: ProgramResource): string =>
  `${what}: give it a temporary name, run \`pulumi up\`, then set the final one. It swaps names with "${name}", and one run cannot do ` +
  "that, because each name is still taken.";

const undo = ({ name }: ProgramResource): string =>
  `Take "${name}" out of the program: it leaves the state, and the object stays.`;

/** The resources that the engine has shown to this provider in this run. */
export class Leases {
  readonly #leases = new Map<string, Lease>();
  /** The same by what they have or ask for (`marksOf`): every check and diff looks for others there. */
  readonly #marked = new Map<string, Map<string, Lease>>();
  readonly #released = new Map<string, Props>();
  /** Objects that are replaced, and the names that the program gave them. */
  readonly #givenUp = new Map<string, unknown>();

  /** Records a resource of the program; all its inputs are known. @returns why it cannot have the object that it asks for */
  declare(resource: ProgramResource, definition: Definition, isNew: boolean, inputs: Props): string | undefined {
    const before = this.#leases.get(resource.key);
    const mine: Lease = { replaced: false, ...before, resource, definition, inputs, isNew };
    // For a replacement, the engine asks a second time as if it were new.
    if (isNew && before?.object) {
      mine.replaced = true;
      this.giveUp(before.object.path);
    }
    this.#set(mine);
    if (!isNew) return undefined;
    const named = namedPath(definition, inputs);
    const name = nameMark(definition, inputs);
    const rival = this.#other([named, name], resource, ({ object, replaced }) => object !== undefined && !replaced);
    if (rival) return held(definition, rival.object!.id, rival.resource, resource);
    // Siblings that are adopted by id may share a name.
    const twin = this.#other([named === undefined ? name : wish(named)], resource, isWaiting);
    if (!twin || (named === undefined && namedId(definition, twin.inputs) !== undefined)) return undefined;
    const asks =
      definition.steps?.idKey !== undefined
        ? `is for the same ${definition.title}`
        : `${named === undefined ? "also has this name" : "also adopts this one"} in the same place`;
    return `"${twin.resource.name}" of this program ${asks}. Remove one of them, or give each its own.`;
  }

  /**
   * Records that the resource has this object, and keeps it unless it is replaced.
   * @returns a warning @throws if another resource has taken it, or they swap names
   */
  hold(
    resource: ProgramResource,
    definition: Definition,
    object: Held,
    state: Props,
    inputs: Props,
    replaced: boolean,
  ): string | undefined {
    const { path, id } = object;
    const { naming = [] } = definition;
    const before = { ...inputs, ...Object.fromEntries(naming.map((key) => [key, state[key]])) };
    const keepsName = object.isOver === true || replaced || isNamesake(definition, before, inputs);
    const formerName = keepsName ? undefined : nameMark(definition, before);
    this.#set({ resource, definition, inputs, isNew: false, object, formerName, replaced });
    if (replaced) return undefined;
    const what = `${nameOf(definition, inputs)} (${id})`;
    const taker = this.#other([path], resource, (one) => took(one, path));
    if (taker) {
      throw new UserError(
        "managed-twice",
        `${what}: ${undo(taker.resource)} This run has given it to that, before the program showed that it is "${resource.name}", and ` +
          "one object cannot be managed twice.",
      );
    }
    const name = object.isOver ? undefined : nameMark(definition, inputs);
    const claimant = this.#other([wish(path), name], resource, isWaiting);
    if (claimant) throw new UserError("managed-twice", `${what}: ${held(definition, id, resource, claimant.resource)}`);
    const other = this.swapsWith(resource);
    if (other) throw new UserError("managed-twice", swapping(what, other));
    const twin = this.#other([path], resource, (one) => keeps(one, path));
    return twin && `${what} is both "${twin.resource.name}" and "${resource.name}". ${undo(resource)}`;
  }

  /** The resource that still has this one's new name, if the renames form a cycle back to this one. */
  swapsWith(resource: ProgramResource | undefined): ProgramResource | undefined {
    const mine = resource && this.#leases.get(resource.key);
    const next = mine && this.#namedBefore(mine);
    const seen = new Set<Lease>();
    for (let one = next; one && !seen.has(one); one = this.#namedBefore(one)) {
      if (one === mine) return next?.resource;
      seen.add(one);
    }
    return undefined;
  }

  /** The resource that gives up the name that this one takes. */
  #namedBefore({ resource, definition, inputs, formerName }: Lease): Lease | undefined {
    const name = formerName === undefined ? undefined : nameMark(definition, inputs);
    return name === undefined
      ? undefined
      : this.#other([former(name)], resource, ({ formerName: given }) => given === name);
  }

  /** The resource that has the object and keeps it. */
  holder(path: string, except?: ProgramResource): Lease | undefined {
    return this.#other([path], except, (one) => took(one, path) || keeps(one, path));
  }

  /** Resources of the place that have not created or adopted an object yet, or failed to. */
  withoutObject(collection: string): Lease[] {
    return [...this.#leases.values()].filter(
      ({ definition, inputs, object, isNew, create }) =>
        (create === "failed" || (isNew && create === undefined && object === undefined)) &&
        definition.place(inputs).collection === collection,
    );
  }

  /** Whether another resource is still to create or adopt one with this name. */
  isWanted(definition: Definition, props: Props, except?: ProgramResource): boolean {
    return this.#other([nameMark(definition, props)], except, isWaiting) !== undefined;
  }

  /** The resource has created or adopted the object. */
  take(resource: ProgramResource | undefined, definition: Definition, inputs: Props, path: string): void {
    if (!resource) return;
    const before = this.#leases.get(resource.key) ?? { resource, definition, inputs, isNew: true, replaced: false };
    this.#set({ ...before, create: { path } });
  }

  /** The object that the resource has created or adopted is ready, or this run gave up waiting for it. */
  ready(resource: ProgramResource | undefined, isReady = true): void {
    const before = resource && this.#leases.get(resource.key);
    if (typeof before?.create === "object") this.#set({ ...before, create: { ...before.create, isReady } });
  }

  failed(resource: ProgramResource | undefined): void {
    const before = resource && this.#leases.get(resource.key);
    if (before) this.#set({ ...before, create: "failed" });
  }

  /** The object is replaced: its successor may have its name. @param name the one that the program gave it */
  giveUp(path: string, name?: unknown): void {
    this.#givenUp.set(path, name ?? this.#givenUp.get(path));
  }

  isGivenUp(path: string): boolean {
    return this.#givenUp.has(path);
  }

  /** The name that the program gave to an object that is replaced. */
  givenUpName(path: string): unknown {
    return this.#givenUp.get(path);
  }

  /** The resource that replaces this object. */
  replacing(path: string): Lease | undefined {
    return this.#other([path], undefined, ({ object, replaced }) => object?.path === path && replaced);
  }

  /** What this run knows about the resource. undefined: the program has not shown it. */
  of({ key }: ProgramResource): Lease | undefined {
    return this.#leases.get(key);
  }

  /** A resource in this place, or the one with this object, that this run could not make, or not make ready. */
  unmade(path: string): Lease | undefined {
    const isIn = ({ definition, inputs }: Lease): boolean =>
      `${definition.place(inputs).collection}/`.startsWith(`${path}/`);
    return [...this.#leases.values()].find((one) => {
      if (typeof one.create !== "object") return one.create === "failed" && isIn(one);
      return one.create.isReady === false && (one.create.path === path || isIn(one));
    });
  }

  /** The old resource leaves the object to its next one. */
  release(path: string, state: Props): void {
    this.#released.set(path, state);
  }

  /** State of an object that this run released. */
  released(path: string): Props | undefined {
    return this.#released.get(path);
  }

  deleted(path: string): void {
    this.#released.delete(path);
    for (const [key, lease] of [...(this.#marked.get(path) ?? [])]) {
      this.#unmark(lease);
      this.#leases.delete(key);
    }
  }

  #set(lease: Lease): void {
    const { key } = lease.resource;
    const before = this.#leases.get(key);
    if (before) this.#unmark(before);
    this.#leases.set(key, lease);
    for (const mark of marksOf(lease)) {
      const here = this.#marked.get(mark) ?? new Map<string, Lease>();
      this.#marked.set(mark, here.set(key, lease));
    }
  }

  #unmark(lease: Lease): void {
    for (const mark of marksOf(lease)) this.#marked.get(mark)?.delete(lease.resource.key);
  }

  /** The first lease of another resource with one of these marks that is like this. */
  #other(
    marks: readonly (string | undefined)[],
    mine: ProgramResource | undefined,
    isLike: (lease: Lease) => boolean,
  ): Lease | undefined {
    for (const mark of marks)
      for (const lease of (mark !== undefined && this.#marked.get(mark)?.values()) || [])
        if (isLike(lease) && lease.resource.key !== mine?.key) return lease;
    return undefined;
  }
}

/** The mark of a resource that asks for the object with this path. */
const wish = (path: string): string => `wish ${path}`;

/** The mark of a resource that gives this name up. */
const former = (name: string): string => `former ${name}`;

/** Marks of a resource: the paths of its objects and of the one it asks for, its name, and the name that it gives up. */
function marksOf({ definition, inputs, object, formerName, create }: Lease): string[] {
  const named = namedPath(definition, inputs);
  return [
    object?.path,
    typeof create === "object" ? create.path : undefined,
    named && wish(named),
    object?.isOver ? undefined : nameMark(definition, inputs),
    formerName && former(formerName),
  ].filter((mark) => mark !== undefined);
}

/** The error for a resource that leases another resource's object. */
export const held = (
  definition: Definition,
  id: string,
  by: ProgramResource,
  wanted: ProgramResource | undefined,
): string =>
  `give each resource its own name, or one of them the object. The ${definition.title} ${id} is "${by.name}" of this program already, ` +
  `and one object cannot be managed twice. ${handover(by, wanted)}`;
