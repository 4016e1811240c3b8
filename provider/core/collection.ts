import { type ApiError, type Identified, isApiError, PartialList } from "../api";
import { answerOr } from "../api/api-error";
import { inTime } from "../api/clock";
import { environmentName } from "../api/environment";
import { paths } from "../api/paths";
import { isGoing, isGone, isOneOf } from "../api/states";
import { Anything, anything } from "../api/wire";
import { type ErrorCode, type ErrorDetails, UserError } from "../errors";
import { type Definition, inputMeta, isOver, nameOf, type Place, type Props } from "./definition";
import { wireName } from "./field";
import { type Run, type Session } from "./session";
import { fromWire } from "./state";
import { times } from "./times";
import { sameValue } from "./values";

/** A list that is requested or answered, which siblings share. */
type Requested = NonNullable<ReturnType<Run["at"]>["list"]>;
type Listing = Awaited<Requested["items"]>;

/** `unlistable`: the service does not list this collection, and its parent exists. */
type Presence = { item: Identified } | "gone" | "unlistable";

/**
 * The objects in one place, for one verb: what the service lists, and what this process knows besides, because lists may lag.
 * One list call serves all siblings: callers say how old a list may be, and join a request that is new enough.
 */
export class Listed {
  readonly #known;

  constructor(
    readonly session: Session,
    readonly place: Place,
  ) {
    this.#known = session.run.at(place.collection);
  }

  get #schema(): typeof Anything {
    const { idField } = this.place;
    return idField === undefined ? Anything : anything(idField);
  }

  get path(): string {
    return this.place.collection;
  }

  /** Path of what it is in; empty: nothing. */
  get parentPath(): string {
    const { parent } = this.place;
    return parent ? paths.item(parent.place.collection, parent.id) : "";
  }

  pathOf(id: string): string {
    return paths.item(this.path, id);
  }

  /** What the service showed at most `maxAgeMs` ago. */
  async look(maxAgeMs: number): Promise<Listing> {
    const list = this.#requested(maxAgeMs);
    const { items, until } = list;
    const { clock, deadline } = this.session;
    const { at, limit } = deadline;
    const outOfTime = (): UserError =>
      new UserError("not-ready", `GET ${this.path} was not answered in time: the limit is ${limit} (customTimeouts).`);
    try {
      // The siblings' call may take longer than this verb.
      return await (until > at ? inTime(clock, at - clock.now(), items, outOfTime) : items);
    } catch (error) {
      const { parent, isUnlisted } = this.place;
      // What it is in was created a moment ago. Where nothing is ever listed, a missing list says nothing.
      if (mayBeEarly(error) && parent && !isUnlisted && this.session.run.isNew(clock, [parent.id])) {
        await clock.sleep(times.lookEveryMs);
        return this.look(0);
      }
      // A sibling with less time gave up, so ask again. A lasting answer would stay the same.
      const givenUp = this.#known.list !== list;
      if (until < at && givenUp && isApiError(error)) return this.look(maxAgeMs);
      throw error;
    }
  }

  #requested(maxAgeMs: number): Requested {
    const { client, clock, deadline } = this.session;
    const known = this.#known;
    const now = clock.now();
    if (known.list && known.list.startedAt >= now - maxAgeMs) return known.list;
    const items = client.list(this.path, this.#schema).then(
      (all): Listing => ({ items: all }),
      (error: unknown): Listing => {
        if (error instanceof PartialList) return { items: [...error.items] as Identified[], part: error };
        throw error;
      },
    );
    const list: Requested = { startedAt: now, until: deadline.at, items };
    known.list = list;
    items.catch((error: unknown) => {
      // Keep an answer such as "there is no such list" for the siblings, but not a passing failure.
      const lasting = isApiError(error, "missing", "unsupported", "denied");
      if (!lasting && known.list === list) delete known.list;
    });
    return list;
  }

  /** The object as listed, even if its state says that it is gone. */
  async listed(id: string, maxAgeMs: number): Promise<Identified | undefined> {
    return (await this.look(maxAgeMs)).items.find((item) => item.id === id);
  }

  /** Its parent, as listed. undefined: it has none, or the parent is not listed. */
  async parent(maxAgeMs: number): Promise<Identified | undefined> {
    const { parent } = this.place;
    return parent && new Listed(this.session, parent.place).listed(parent.id, maxAgeMs);
  }

  /**
   * The objects that exist, including those of this process that are not listed yet. undefined: they cannot be listed.
   * @throws PartialList for a partial list: an object that it lacks may exist, so it proves no name to be free
   */
  async siblings(maxAgeMs: number): Promise<Identified[] | undefined> {
    const { isUnlisted } = this.place;
    try {
      const { items, part } = await this.look(maxAgeMs);
      if (!part) return this.there(items);
      if (isUnlisted) return undefined;
      throw part;
    } catch (error) {
      if (isUnlisted && isApiError(error, "missing", "unsupported", "denied")) return undefined;
      throw error;
    }
  }

  /** The objects of a list that exist, and those of this process that it does not show yet. */
  there(listed: Identified[]): Identified[] {
    const known = new Map([...this.made(), ...listed].map((item) => [item.id, item]));
    return [...known.values()].filter((item) => !isGone(item) && !this.#known.removed.has(item.id));
  }

  /** The objects that exist, and are not on their way out. Empty if the service lacks the kind, or what they are in is gone. */
  async staying(maxAgeMs: number): Promise<Identified[]> {
    const items = await this.siblings(maxAgeMs).catch(async (error: unknown) => {
      if (isApiError(error, "missing", "unsupported")) return [];
      if (isForbidden(error) && (await this.#withParent(maxAgeMs, error)) === "gone") return [];
      throw error;
    });
    return (items ?? []).filter((item) => !isGone(item) && !isGoing(item));
  }

  /**
   * Whether an object exists. It is "gone" only on proof: by the state `deleted`, because what it was in is gone, or by lists that agree
   * over time, or another state that says so (see `#prove`); never after a failure, a refused key or a wrong address.
   * @param madeAt when it was made, as `madeAt` tells: what was made a moment ago may not be shown yet
   * @throws UserError if it is not listed, and nothing proves that it is gone
   */
  async find(id: string, maxAgeMs: number, madeAt?: number): Promise<Presence> {
    const { clock } = this.session;
    let listed: Listing;
    try {
      listed = await this.look(maxAgeMs);
    } catch (error) {
      // Its parent may not be known yet, either.
      if (mayBeEarly(error) && !this.place.isUnlisted && this.#isUnseen(id, madeAt)) {
        await clock.sleep(times.lookEveryMs);
        return this.find(id, 0, madeAt);
      }
      return this.#unlistable(error, maxAgeMs);
    }
    // A list may lag: ask by id, if the service supports that, and for a new list.
    const within = ({ items }: Listing): Identified | undefined => items.find((item) => item.id === id);
    let byId: ById | undefined;
    let item = within(listed) ?? (byId = await this.#byId(id)).item;
    for (let looks = 1; !item && (looks === 1 || this.#isUnseen(id, madeAt)); looks++) {
      await clock.sleep(this.#isUnseen(id, madeAt) ? times.lookEveryMs : times.goneMs);
      listed = await this.look(times.waitingAgeMs);
      item = within(listed) ?? (this.#isUnseen(id, madeAt) ? await this.get(id) : undefined);
    }
    if (item && !isGone(item)) return { item };
    // Only this word is the specification's: what is archived may come back.
    if (!isOneOf(["deleted"], item?.state))
      await this.#prove(id, listed, item !== undefined || byId?.isRefused === true);
    return "gone";
  }

  /** Interprets a refused list: its parent may be gone, and the object with it. @throws the refusal */
  async #unlistable(error: unknown, maxAgeMs: number): Promise<Presence> {
    if (!isApiError(error, "missing", "unsupported", "denied", "invalid", "conflict") || !this.place.parent)
      throw error;
    // For lists that no service has to have, a 403 means no more than a 404.
    const isLacking = isApiError(error, "missing", "unsupported") || (this.place.isUnlisted && isForbidden(error));
    return this.#withParent(maxAgeMs, isLacking ? "unlistable" : error);
  }

  /** "gone" with its parent; otherwise this. */
  async #withParent(maxAgeMs: number, otherwise: Error | "unlistable"): Promise<Presence> {
    const { parent } = this.place;
    if (parent && (await new Listed(this.session, parent.place).find(parent.id, maxAgeMs)) === "gone") return "gone";
    if (typeof otherwise === "object") throw otherwise;
    return otherwise;
  }

  /**
   * Proves that an object is gone that is missing from two lists, or listed as gone in a word of the service's own: what is in it is refused,
   * if every service lists that; otherwise its id is. A proxy may answer everything with an empty list.
   * @throws UserError, or the error of a list that says that it is a part, which proves nothing
   */
  async #prove(id: string, listed: Listing, isRefused: boolean): Promise<void> {
    if (this.session.run.isNamed([id, ...parentsOf(this.place)])) return;
    if (listed.part) throw listed.part;
    const inside = paths.inside(this.path, id);
    if (inside === undefined ? isRefused : await this.#isRefused(inside)) return;
    throw new UserError(
      "not-listed",
      `Run the command again; if ${this.pathOf(id)} was deleted, confirm that for one run with ` +
        `${environmentName("confirmDeleted")}=${id}. It is not listed, but nothing proves that it is gone: ` +
        `GET ${inside ?? this.pathOf(id)} is still answered. It stays in the state.`,
    );
  }

  async #isRefused(collection: string): Promise<boolean> {
    try {
      await new Listed(this.session, { collection }).look(times.waitingAgeMs);
      return false;
    } catch (error) {
      if (isApiError(error, "missing") || isForbidden(error)) return true;
      throw error;
    }
  }

  /** Whether an object of that time may not be shown yet. */
  #isUnseen(id: string, madeAt = -Infinity): boolean {
    if (this.session.run.isNew(this.session.clock, [id])) return true;
    return Math.abs(this.serviceNow - madeAt) < times.unseenMs; // the service tells its time in whole seconds
  }

  /** The time by the service's clock, if it tells that, in ms since 1970. */
  get serviceNow(): number {
    const { client, clock } = this.session;
    return client.http.serviceTime(clock.now()) ?? Date.now();
  }

  /** The object by GET, which the spec has for nodes only. undefined: the answer shows none with this id, or there is no such call. */
  async get(id: string): Promise<Identified | undefined> {
    return (await this.#byId(id)).item;
  }

  /** A 403 for an id is how some services answer for what is missing: the list says whether the key may see it. */
  async #byId(id: string): Promise<ById> {
    const answer = await this.session.client.find(this.pathOf(id)).catch((error: unknown) => {
      if (!isForbidden(error)) throw error;
    });
    const { data } = this.#schema.safeParse(answer);
    return { isRefused: answer === undefined, ...(data?.id === id && { item: data }) };
  }

  /** Call when this process has just created what has these collections, so they are empty. */
  startEmpty(id: string, ...names: readonly string[]): void {
    const list = { startedAt: this.session.clock.now(), until: Infinity, items: Promise.resolve({ items: [] }) };
    for (const name of names) this.session.run.at(`${this.pathOf(id)}/${name}`).list = list;
  }

  /** Objects that this process created there and has not deleted. */
  made(): Identified[] {
    return [...this.#known.made.values()];
  }

  isMade(id: string): boolean {
    return this.#known.made.has(id);
  }

  /** Call when this process has begun to change what is there. */
  recordChange(): void {
    this.#known.changedAt = this.session.clock.now();
  }

  /** Whether this process has just created or deleted something there, or created one of these: not every call may know it yet. */
  isChanging(within: readonly unknown[] = []): boolean {
    const { run, clock } = this.session;
    return clock.now() - (this.#known.changedAt ?? -Infinity) < times.unseenMs || run.isNew(clock, within);
  }

  recordMade(item: Identified): void {
    this.recordChange();
    this.#known.made.set(item.id, item);
  }

  recordRemoved(id: string): void {
    this.recordChange();
    this.#known.made.delete(id);
    this.#known.removed.add(id);
  }

  /** Deletes an object; success if it is already gone. */
  async delete(id: string): Promise<void> {
    await answerOr(this.session.client.delete(this.pathOf(id)), undefined, "missing");
    this.recordRemoved(id);
  }

  /** Sends a create. `createsAnswered` waits for it. */
  async creating<T>(create: Promise<T>): Promise<T> {
    const { creates } = this.#known;
    creates.add(create);
    try {
      return await this.session.run.settling(this.parentPath, () => create);
    } finally {
      creates.delete(create);
    }
  }

  /** Resolves when the creates now in flight are answered. */
  async createsAnswered(): Promise<void> {
    await Promise.allSettled([...this.#known.creates]);
  }

  /** Whether this run replaces the object. */
  isGivenUp(id: string): boolean {
    return this.session.run.leases.isGivenUp(this.pathOf(id));
  }

  /** Whether the engine has shown a state of the object: the stack has it. */
  isOfStack(id: string): boolean {
    return this.session.run.shown.has(this.pathOf(id));
  }
}

/** The result of a GET by id. It is refused where there is no such object, or no such call. */
interface ById {
  item?: Identified;
  isRefused: boolean;
}

/** Whether it may be how a service answers for what it does not know yet. */
const mayBeEarly = (error: unknown): error is ApiError =>
  isApiError(error, "missing", "conflict", "invalid") || isForbidden(error);

/** Whether the key was accepted, and may not do this. */
export const isForbidden = (error: unknown): error is ApiError => isApiError(error, "denied") && error.status !== 401;

const parentsOf = ({ parent }: Place): string[] => (parent ? [parent.id, ...parentsOf(parent.place)] : []);

/** The objects of one kind in one place, as their resource sees them. */
export class Collection extends Listed {
  constructor(
    session: Session,
    readonly definition: Definition,
    place: Place,
    /** Inputs or state of the object that the verb is about. */
    readonly inputs: Props,
    /** How messages name it. */
    readonly what: string,
  ) {
    super(session, place);
  }

  static of(session: Session, definition: Definition, props: Props, id?: string): Collection {
    const what = nameOf(definition, props) + (id === undefined ? "" : ` (${id})`);
    return new Collection(session, definition, definition.place(props), props, what);
  }

  error(code: ErrorCode, text: string, details?: ErrorDetails): UserError {
    return new UserError(code, `${this.what}: ${text}`, details);
  }

  say(text: string, weight = ""): void {
    this.session.say(`${weight}${this.what}: ${text}`);
  }

  warn(text: string): void {
    this.say(text, "Warning: ");
  }

  /** Call when it is clear which object is the resource's. @throws if another resource has it */
  override recordMade(item: Identified): void {
    super.recordMade(item);
    this.session.run.leases.take(this.session.resource, this.definition, this.inputs, this.pathOf(item.id));
  }

  /** Why the object cannot be this resource's: another one of the program has it, and keeps it. */
  refusal(id: string): string | undefined {
    return this.session.run.leases.refusal(this.pathOf(id), this.definition, this.session.resource);
  }

  /** The properties of the object that the service shows. */
  shown(item: Identified): Props {
    return fromWire(this.definition, item);
  }

  /** The items that have the name in the inputs; if there are none, a shared one that fits them. */
  namesakes(items: Identified[]): Identified[] {
    const { inputs } = this;
    const { naming, shared } = this.definition;
    if (!naming) return [];
    // Unparsed, because it runs for all siblings of each create.
    const agrees = naming.map((key) => {
      const { normal = (value: unknown) => value } = inputMeta(this.definition, key)!;
      const [field, wanted] = [wireName(key), normal(inputs[key], inputs)];
      return (item: Identified) => sameValue(normal(item[field], inputs), wanted);
    });
    const named = items.filter((item) => !isOver(this.definition, item) && agrees.every((agree) => agree(item)));
    if (named.length > 0 || !shared?.isSame) return named;
    return items.filter((item) => shared.isSame!(inputs, this.shown(item)));
  }
}
