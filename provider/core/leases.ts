import { type z } from "zod";
import { paths } from "../api/paths";
import { nameOf, type Props } from "./field";
import { isUnset, normalOf, unformatted } from "./values";
import { UserError } from "../errors";

/*
 * Which resource of the program has which object, by the object's path, and which ones ask for one. The second one is refused. Who gets an
 * object that is given up is not foreseen: the engine creates first and deletes last, so whoever has taken it by then has it.
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

/** What this run knows about a resource. */
export interface Lease {
  resource: ProgramResource;
  type?: string;
  /** Where it is, or is to be. */
  collection?: string;
  /** It adopts what it finds. */
  adopts?: boolean;
  /** The engine asked without a state: the resource is new, or being replaced. */
  isNew: boolean;
  /** What it asks for, or the name that it has (`wishOf`). */
  wish?: string;
  /** The object of its state, unless it gives that up. */
  path?: string;
  /** The object that it has created or adopted. */
  made?: string;
  /** How its create has ended: `unready` objects exist, and a later run waits for them. */
  ended?: "ready" | "unready" | "failed";
}

/** What a new resource asks for, as one text: the path of an object, or a name in its place. undefined: siblings may be alike. */
function wishOf(definition: Definition, inputs: Props): string | undefined {
  const { naming, type, steps } = definition;
  const { collection } = definition.place(inputs);
  if (steps?.idKey !== undefined) return paths.item(collection, String(inputs[steps.idKey]));
  if (typeof inputs.adopt === "string") return paths.item(collection, inputs.adopt);
  if (!naming) return undefined;
  const normal = normalOf(definition, inputs, naming);
  return JSON.stringify([type, collection, ...naming.map((key) => (isUnset(normal[key]) ? null : unformatted(normal[key])))]); // prettier-ignore
}

/** Whether it is new, and its create has not ended. */
const isWaiting = ({ isNew, made, ended }: Lease): boolean => isNew && made === undefined && ended === undefined;

/** The resources that the engine has shown to this provider in this run. */
export class Leases {
  readonly #leases = new Map<string, Lease>();
  /** Who has an object, by its path. */
  readonly #holders = new Map<string, Lease>();
  /** Who asks for an object, or has one with this name (`wishOf`). */
  readonly #wishes = new Map<string, Lease>();
  /** What replaces an object, by the path of that. */
  readonly #givenUp = new Map<string, Lease | undefined>();

  #of(resource: ProgramResource, isNew: boolean): Lease {
    const known = this.#leases.get(resource.key) ?? { resource, isNew };
    this.#leases.set(resource.key, known);
    return known;
  }

  /** Records a resource of the program; all its inputs are known. @returns why it cannot have the object that it asks for */
  declare(resource: ProgramResource, definition: Definition, isNew: boolean, inputs: Props): string | undefined {
    const mine = this.#of(resource, isNew);
    // For a replacement, the engine asks a second time as if it were new.
    if (isNew && mine.path !== undefined) this.giveUp(mine.path, resource);
    const { collection } = definition.place(inputs);
    Object.assign(mine, { type: definition.type, collection, isNew, adopts: Boolean(inputs.adopt) });
    if (!isNew) return undefined;
    const wish = wishOf(definition, inputs);
    const other = wish === undefined ? undefined : (this.#holders.get(wish) ?? this.#wishes.get(wish));
    if (other && other !== mine) {
      if (other.path !== undefined) return held(definition, other, resource);
      if (isWaiting(other))
        return `remove one of them, or give each its own: "${other.resource.name}" of this program asks for the same ${definition.title}.`;
    }
    return void this.#wishFor(mine, wish);
  }

  #wishFor(mine: Lease, wish: string | undefined): void {
    if (mine.wish !== undefined && this.#wishes.get(mine.wish) === mine) this.#wishes.delete(mine.wish);
    mine.wish = wish;
    if (wish !== undefined) this.#wishes.set(wish, mine);
  }

  /** Records that the resource has this object, and keeps it. @throws if another resource has it, or asks for it */
  hold(
    resource: ProgramResource,
    definition: Definition,
    { path, id, isOver }: { path: string; id: string; isOver?: boolean },
    inputs: Props,
  ): void {
    const mine = this.#of(resource, false);
    const what = `${nameOf(definition, inputs)} (${id})`;
    const holder = this.holder(path, resource);
    if (holder) {
      throw new UserError(
        "managed-twice",
        `${what}: take "${holder.resource.name}" or "${resource.name}" out of the program: it leaves the state, and the object stays. It is ` +
          "both of them, and one object cannot be managed twice.",
      );
    }
    Object.assign(mine, { path, type: definition.type, isNew: false, made: undefined, ended: undefined });
    this.#holders.set(path, mine);
    const name = isOver ? undefined : wishOf({ ...definition, steps: {} }, { ...inputs, adopt: undefined });
    const claimant = [path, name].map((wish) => this.#wishes.get(wish ?? "")).find((one) => one && one !== mine);
    if (!claimant || !isWaiting(claimant)) return this.#wishFor(mine, name);
    mine.wish = name; // it has it, although the other one asks for it
    throw new UserError("managed-twice", `${what}: ${held(definition, mine, claimant.resource)}`);
  }

  /** The resource that has the object. */
  holder(path: string, except?: ProgramResource): Lease | undefined {
    const found = this.#holders.get(path);
    return found && found.resource.key === except?.key ? undefined : found;
  }

  /** Whether another resource is still to create or adopt one with this name. */
  isWanted(definition: Definition, inputs: Props, except?: ProgramResource): boolean {
    const found = this.#wishes.get(wishOf(definition, { ...inputs, adopt: undefined }) ?? "");
    return found !== undefined && found.resource.key !== except?.key && isWaiting(found);
  }

  /** Whether another resource gives its name up, which this one asks for. */
  freesName(path: string, { key }: ProgramResource = { key: "", name: "" }): boolean {
    const [holder, mine] = [this.#holders.get(path), this.#leases.get(key)];
    return holder !== undefined && mine !== undefined && holder !== mine && holder.wish !== mine.wish;
  }

  /** A resource that is still to adopt the object, or may be: one by its name. @param isAll whether every new one adopts */
  adopting(path: string, isAll: boolean): Lease | undefined {
    const mayAdopt = (one: Lease): boolean =>
      isWaiting(one) && (isAll || one.adopts === true) && path.startsWith(`${one.collection}/`) &&
      (one.wish === path || !one.wish?.startsWith("/")); // prettier-ignore
    return this.isGivenUp(path) ? undefined : [...this.#leases.values()].find(mayAdopt);
  }

  /** The resource has created or adopted the object. @throws if another one has it */
  take(resource: ProgramResource | undefined, definition: Definition, inputs: Props, path: string): void {
    const holder = this.holder(path, resource);
    if (holder)
      throw new UserError("managed-twice", `${nameOf(definition, inputs)}: ${held(definition, holder, resource)}`);
    if (!resource) return;
    const mine = this.#of(resource, true);
    mine.made = path;
    this.#holders.set(path, mine);
  }

  /** The create of the resource has ended. */
  ended(resource: ProgramResource | undefined, how: Lease["ended"]): void {
    const mine = resource && this.#leases.get(resource.key);
    if (!mine) return;
    mine.ended = how;
    if (how !== "failed" || mine.made === undefined) return;
    // The object stays with the resource that has it in its state.
    this.#holders.delete(mine.made);
    mine.made = undefined;
  }

  /** The object is replaced: its successor may have its name. @param by what replaces it */
  giveUp(path: string, by?: ProgramResource): void {
    const mine = by && this.#leases.get(by.key);
    this.#givenUp.set(path, mine ?? this.#givenUp.get(path));
    if (mine) Object.assign(mine, { path: undefined, made: undefined, ended: undefined });
    const holder = this.#holders.get(path);
    if (holder === mine || holder?.made !== path) this.#holders.delete(path);
  }

  isGivenUp(path: string): boolean {
    return this.#givenUp.has(path);
  }

  /** The resource that replaces this object. */
  replacing(path: string): Lease | undefined {
    return this.#givenUp.get(path);
  }

  /** What this run knows about the resource. undefined: the program has not shown it. */
  of({ key }: ProgramResource): Lease | undefined {
    return this.#leases.get(key);
  }

  /** A resource that this run could not make, or not make ready. @param type of this kind */
  unmade(type?: string): Lease | undefined {
    const isOfKind = (one: Lease): boolean => type === undefined || one.type === type;
    return [...this.#leases.values()].find(
      (one) => isOfKind(one) && (one.ended === "failed" || one.ended === "unready"),
    );
  }

  deleted(path: string): void {
    const holder = this.#holders.get(path);
    if (holder) holder.path = undefined;
    this.#holders.delete(path);
  }
}

/** The error for a resource that asks for another resource's object. */
export function held({ title }: Definition, by: Lease, wanted: ProgramResource | undefined): string {
  const id = (by.made ?? by.path ?? "").replace(/^.*\//, "");
  const [old, now] = [`"${by.resource.name}"`, wanted ? `"${wanted.name}"` : "the new one"];
  return (
    `give each resource its own name, or one of them the object. The ${title} ${decodeURIComponent(id)} is ${old} of this program already, ` +
    `and one object cannot be managed twice. To give it to ${now}, take ${old} out of the program, and either give ${now} the resource ` +
    `option aliases: [{ name: "${by.resource.name}" }], or run \`pulumi state rename\` with the URN of ${old} and the new name first.`
  );
}
