import { type Clock, type Identified, type PartialList } from "../api";
import { type StateObject } from "./ownership";
import { Leases } from "./leases";
import { times } from "./times";

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

export interface Requested {
  /** Time at which the request was sent or queued: the list is at least this new. */
  startedAt: number;
  /** Time at which the call is given up. A caller with more time asks again. */
  until: number;
  items: Promise<Listing>;
}

/** A collection as the service lists it. */
export interface Listing {
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
  readonly #subjects = new Map<string, StateObject>();
  #deletions = 0;
  #lastDeletion = -Infinity;

  /** @param confirmed ids of organizations or objects: the user confirmed for this run that they were deleted */
  constructor(private readonly confirmed: ReadonlySet<string> = new Set()) {}

  at(place: string): Known {
    const known = this.#known.get(place) ?? {
      made: new Map<string, Identified>(),
      removed: new Set<string>(),
      creates: new Set<Promise<unknown>>(),
    };
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
  }

  /** Objects recorded in the states. New objects must belong to the same organization. */
  get stateObjects(): readonly StateObject[] {
    return [...this.#subjects.values()];
  }

  /** Whether the user has confirmed for this run that it, or its parent, was deleted. */
  isConfirmed({ ownership, consortiumId, id }: Pick<StateObject, "ownership" | "consortiumId" | "id">): boolean {
    return this.isNamed([...(ownership.organizations ?? []), consortiumId, id]);
  }

  /** Whether one of these ids is among those that the user has confirmed. */
  isNamed(ids: readonly (string | undefined)[]): boolean {
    return ids.some((one) => one !== undefined && this.confirmed.has(one));
  }
}
