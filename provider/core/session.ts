import { type z } from "zod";
import { type Clock, type ConsortiumClient, type Deadline, type Identified, type PartialList } from "../api";
import { type Caller, noDeadline, systemClock } from "../api/clock";
import { paths } from "../api/paths";
import { UserError } from "../errors";
import { type Creates, noLog } from "./create-log";
import { nameOf, type Props } from "./field";
import { times } from "./times";
import { isUnset, normalOf, unformatted } from "./values";

/* What a verb works with, what this process knows, and which resource of the program has which object. */

export interface Session {
  client: ConsortiumClient;
  clock: Clock;
  /** Everything this process knows. */
  run: Run;
  /** Shows a line at once, in the row of the stack. */
  say(message: string): void;
  /** `CONSORTIUM_ADOPT`: every resource of this run adopts what already has its name. */
  adoptAll: boolean;
  createLog: Creates;
  /** Shows a line about what this process waits for. */
  tell: (message: string) => void;
  /** When the verb must be done, retries and waits included. */
  deadline: Deadline;
  /** The resource of the program that the verb is for, if the adapter knows it. */
  resource?: ProgramResource;
  /** Whether the user has been asked about this very deletion, with everything that goes with it. */
  isAsked?: boolean;
}

/** A session outside any adapter: nothing is known before, nothing is adopted, and nothing is said. */
export function newSession(client: ConsortiumClient, given: Partial<Session> = {}): Session {
  const { say = () => undefined } = given;
  const unset = { clock: systemClock, run: new Run(), createLog: noLog, adoptAll: false, deadline: noDeadline };
  return { ...unset, client, say, tell: say, ...given };
}

/** The session of one verb, which must end within this time. @param caller the verb and the resource, for the log */
export function within(session: Session, ms: number, caller?: Caller): Session {
  const limit = `${ms / 1000} s`;
  const deadline: Deadline = { at: session.clock.now() + ms, limit, setting: "customTimeouts", caller };
  return { ...session, deadline, client: session.client.until(deadline) };
}

/** The organization of an object, as recorded in its state. */
export interface Ownership {
  /** Ids of the organizations that it may be, usually one. Absent: the service did not show it. */
  organizations?: string[];
  /** Fingerprints of the keys that were proved to belong to it, and of the addresses where: `salt:key:address`, newest last. */
  keys: string[];
}

/** An object of a state, with what identifies its organization. */
export interface StateObject {
  /** Its name in messages. */
  what: string;
  ownership: Ownership;
  /** Asks whether the key sees it, for objects outside any consortium. */
  isShown?: (client: ConsortiumClient) => Promise<boolean>;
  /** The consortium that it is or is in; undefined for a tether service. */
  consortiumId?: string;
  id: string;
  /** Its path, which identifies it everywhere. */
  path: string;
}

/** Everything a run knows about one place. */
interface Known {
  /** The latest list, requested or answered. */
  list?: Requested;
  /** Objects that this process created, by id. */
  made: Map<string, Identified>;
  /** Ids of the objects that it deleted. */
  removed: Set<string>;
  /** Creates in flight. */
  creates: Set<Promise<unknown>>;
  /** Time at which it last created or deleted something there. */
  changedAt?: number;
}

interface Requested {
  /** Time at which the request was sent or queued: the list is at least this new. */
  startedAt: number;
  /** Time at which the call is given up. A caller with more time asks again. */
  until: number;
  items: Promise<Listing>;
}

/** A collection as the service lists it. */
interface Listing {
  items: Identified[];
  /** Set if that is not everything: the error for callers that need all of it. */
  part?: PartialList;
}

/**
 * The knowledge of one process about one key: the objects that it created and deleted, by place; the states that the engine has shown it;
 * and which resource has which object.
 */
export class Run {
  readonly leases = new Leases();
  /** The organization of the key, once the service has told it, or a consortium that this run made. */
  organization?: string;
  /** Common failures that were reported: the short form, and the resource that reported it in full. */
  readonly told = new Map<string, string>();
  /** Ids of objects that do nothing after this run, such as paused environments. */
  readonly stopped = new Set<string>();
  /** Time at which this process created an object, by id. */
  readonly createdAt = new Map<string, number>();
  /** Whether other calls show something new of what is in a place, as one of them told, by the path of what it is in. */
  readonly news = new Map<string, { at: number; isNew: Promise<boolean> }>();
  /** How many objects this run is creating or waiting for, by the path of what they are in. */
  readonly unsettled = new Map<string, number>();
  /** Keys of the resources that the program has shown: a plain refresh or destroy shows only states. */
  readonly programmed = new Set<string>();
  readonly #known = new Map<string, Known>();
  /** Paths of objects of which the engine has shown a state: the stack has them. */
  readonly shown = new Set<string>();
  /** Paths of objects that it deleted. */
  readonly deleted = new Set<string>();
  /** Objects recorded in the states. New objects must belong to the same organization. */
  stateObjects: readonly StateObject[] = [];
  readonly #subjects = new Map<string, StateObject>();
  #deletions = 0;
  #lastDeletion = -Infinity;

  /** @param confirmed ids of organizations or objects: the user confirmed for this run that they were deleted */
  constructor(private readonly confirmed: ReadonlySet<string> = new Set()) {}

  at(place: string): Known {
    const known: Known = this.#known.get(place) ?? { made: new Map(), removed: new Set(), creates: new Set() };
    this.#known.set(place, known);
    return known;
  }

  /** Call when the service has accepted a deletion. @returns what to call when the deletion is over */
  deleting(clock: Clock): () => void {
    this.#deletions++;
    return () => {
      this.#deletions--;
      this.#lastDeletion = clock.now();
    };
  }

  /** Milliseconds since this process's last deletion ended. Until then, parents may look full. */
  sinceDeletionMs(clock: Clock): number {
    return this.#deletions > 0 ? 0 : clock.now() - this.#lastDeletion;
  }

  /** Whether this process created one of these a moment ago: not every call of the service may know it yet. */
  isNew(clock: Clock, ids: readonly unknown[]): boolean {
    return ids.some((id) => clock.now() - (this.createdAt.get(id as string) ?? -Infinity) < times.unseenMs);
  }

  /** Counts an object as unsettled meanwhile. @param parent the path of what it is in */
  async settling<T>(parent: string, wait: () => Promise<T>): Promise<T> {
    const count = (by: number): unknown => this.unsettled.set(parent, (this.unsettled.get(parent) ?? 0) + by);
    count(1);
    try {
      return await wait();
    } finally {
      count(-1);
    }
  }

  /** Remembers a state that the engine shows. One per ownership and consortium is enough. */
  remember(object: StateObject): void {
    this.shown.add(object.path);
    if (object.ownership.keys.length === 0 && !object.ownership.organizations && !object.consortiumId) return;
    this.#subjects.set(JSON.stringify([object.ownership, object.consortiumId]), object);
    this.stateObjects = [...this.#subjects.values()];
  }

  /** Whether the user has confirmed for this run that it, or its parent, was deleted. */
  isConfirmed({ ownership, consortiumId, id }: StateObject): boolean {
    return this.isNamed([...(ownership.organizations ?? []), consortiumId, id]);
  }

  /** Whether one of these ids is among those that the user has confirmed. */
  isNamed(ids: readonly (string | undefined)[]): boolean {
    return ids.some((id) => id !== undefined && this.confirmed.has(id));
  }
}

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
interface Lease {
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
  /** How its create has failed: `unready` objects exist, and a later run waits for them. */
  failed?: "unready" | "made nothing";
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
const isWaiting = ({ isNew, made, failed }: Lease): boolean => isNew && made === undefined && failed === undefined;

/**
 * Which resource of the program has which object, by the object's path, and which ones ask for one. The second one is refused. Who gets an
 * object that is given up is not foreseen: the engine creates first and deletes last, so whoever has taken it by then has it.
 */
class Leases {
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
    if (holder)
      throw new UserError(
        "managed-twice",
        `${what}: take "${holder.resource.name}" or "${resource.name}" out of the program: it leaves the state, and the object stays. It is ` +
          "both of them, and one object cannot be managed twice.",
      );
    Object.assign(mine, { path, type: definition.type, isNew: false, made: undefined, failed: undefined });
    this.#holders.set(path, mine);
    const name = isOver ? undefined : wishOf({ ...definition, steps: {} }, { ...inputs, adopt: undefined });
    const claimant = [path, name].map((wish) => this.#wishes.get(wish ?? "")).find((lease) => lease && lease !== mine);
    if (!claimant || !isWaiting(claimant)) return this.#wishFor(mine, name);
    mine.wish = name; // it has it, although the other one asks for it
    throw new UserError("managed-twice", `${what}: ${held(definition, mine, claimant.resource)}`);
  }

  /** The resource that has the object. */
  holder(path: string, except?: ProgramResource): Lease | undefined {
    const found = this.#holders.get(path);
    return found && found.resource.key === except?.key ? undefined : found;
  }

  /** Why the resource cannot have the object: another one of the program has it, and keeps it. */
  refusal(path: string, definition: Definition, wanted?: ProgramResource): string | undefined {
    const holder = this.holder(path, wanted);
    return holder && held(definition, holder, wanted);
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
    const mayAdopt = (lease: Lease): boolean =>
      isWaiting(lease) && (isAll || lease.adopts === true) && path.startsWith(`${lease.collection}/`) &&
      (lease.wish === path || !lease.wish?.startsWith("/")); // prettier-ignore
    return this.isGivenUp(path) ? undefined : [...this.#leases.values()].find(mayAdopt);
  }

  /** The resource has created or adopted the object. @throws if another one has it */
  take(resource: ProgramResource | undefined, definition: Definition, inputs: Props, path: string): void {
    const reason = this.refusal(path, definition, resource);
    if (reason !== undefined) throw new UserError("managed-twice", `${nameOf(definition, inputs)}: ${reason}`);
    if (!resource) return;
    this.#holders.set(path, Object.assign(this.#of(resource, true), { made: path, failed: undefined }));
  }

  /** The create of the resource has failed. */
  failed(resource: ProgramResource | undefined, how: Lease["failed"]): void {
    const mine = resource && this.#leases.get(resource.key);
    if (!mine) return;
    mine.failed = how;
    if (how === "unready" || mine.made === undefined) return;
    // The object stays with the resource that has it in its state.
    this.#holders.delete(mine.made);
    mine.made = undefined;
  }

  /** The object is replaced: its successor may have its name. @param by what replaces it */
  giveUp(path: string, by?: ProgramResource): void {
    const mine = by && this.#leases.get(by.key);
    this.#givenUp.set(path, mine ?? this.#givenUp.get(path));
    if (mine) Object.assign(mine, { path: undefined, made: undefined, failed: undefined });
    const holder = this.#holders.get(path);
    if (holder === mine || holder?.made !== path) this.#holders.delete(path);
  }

  isGivenUp(path: string): boolean {
    return this.#givenUp.has(path);
  }

  /** The resource that replaces this object; otherwise its own, if the program has shown that. */
  successor(path: string, own?: ProgramResource): Lease | undefined {
    return this.#givenUp.get(path) ?? (own && this.#leases.get(own.key));
  }

  /** A resource, of this kind, that this run could not make, or not make ready. */
  unmade(type?: string): Lease | undefined {
    return [...this.#leases.values()].find(
      (lease) => lease.failed !== undefined && (type === undefined || lease.type === type),
    );
  }

  deleted(path: string): void {
    const holder = this.#holders.get(path);
    if (holder) holder.path = undefined;
    this.#holders.delete(path);
  }
}

/** The error for a resource that asks for another resource's object. */
function held({ title }: Definition, by: Lease, wanted: ProgramResource | undefined): string {
  const id = (by.made ?? by.path ?? "").replace(/^.*\//, "");
  const [old, now] = [`"${by.resource.name}"`, wanted ? `"${wanted.name}"` : "the new one"];
  return (
    `give each resource its own name, or one of them the object. The ${title} ${decodeURIComponent(id)} is ${old} of this program already, ` +
    `and one object cannot be managed twice. To give it to ${now}, take ${old} out of the program, and either give ${now} the resource ` +
    `option aliases: [{ name: "${by.resource.name}" }], or run \`pulumi state rename\` with the URN of ${old} and the new name first.`
  );
}
