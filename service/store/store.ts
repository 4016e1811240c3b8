import { randomInt } from "node:crypto";
import { z } from "zod";
import { Damaged, explain, Refusal } from "../errors";
import { jsonText } from "../storage/files";
import { type Entity, type FieldsOf, type Kind, kinds } from "./entities";
import { type Change as Written, type Database, nameOf } from "../storage/database";
import type { SteadyClock } from "../storage/steady-clock";

/** For lists that lag: how long to keep deleted objects (ms), how many of them, and how many versions of an object. */
const memory = 3_600_000;
const most = { gone: 1_024, versions: 128 };

const alphabet = "abcdefghijklmnopqrstuvwxyz0123456789";
const newId = (kind: Kind) =>
  kind.charAt(0) + Array.from({ length: 9 }, () => alphabet[randomInt(alphabet.length)]).join("");
const keyOf = (kind: Kind, id: string) => `${kind}/${id}`;

type Draft<K extends Kind> = Pick<Entity<K>, "kind" | "parent" | "organization" | "due" | "fields"> & {
  id?: string | undefined;
  state?: string;
  given?: Entity<K>["given"];
};
type Change<K extends Kind> = Partial<Omit<Entity<K>, "kind" | "id" | "parent">>;

/** All objects, each as a row of immutable versions, so that a list can show an earlier state. */
export class Store {
  #rows = new Map<string, Entity[]>();
  readonly #children = new Map<string, Set<string>>();
  /** The deleted objects, the oldest first. */
  readonly #gone = new Set<string>();
  #order = 0;
  /** Versions that are not on disk yet. */
  #pending: Entity[] = [];
  #writing: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;
  /** The failed writes so far, and why the last one failed. */
  #failed = { count: 0, error: undefined as unknown };
  /** The service's time, which never goes back. */
  readonly clock: () => number;

  /** @param database keeps the latest version of each object; without it, they are in memory only */
  constructor(
    clock: SteadyClock,
    private readonly database?: Database,
  ) {
    this.clock = clock.now;
  }

  /** Reads all objects. Drops objects that were deleted long ago. */
  static async open(clock: SteadyClock, database: Database): Promise<Store> {
    const store = new Store(clock, database);
    const all: Entity[] = [];
    for await (const [key, value] of database.entries("", "~")) all.push(entityOf(key, value));
    all.sort((one, other) => orderOf(one) - orderOf(other));
    for (const entity of all) {
      store.#keep(entity);
      clock.saw(entity.changedAt);
    }
    store.#order = all.length === 0 ? 0 : orderOf(all.at(-1)!) + 1;
    await store.#forget();
    return store;
  }

  create<K extends Kind>(draft: Draft<K>): Entity<K> {
    const now = this.clock();
    const id = draft.id ?? newId(draft.kind);
    const made = { id, createdAt: now, changedAt: now, revision: 0, order: this.#order++ };
    const entity: Entity<K> = { state: "active", ...draft, ...made };
    this.put([entity]);
    return entity;
  }

  change<K extends Kind>(entity: Entity<K>, change: Change<K>): Entity<K> {
    const changed = { ...entity, revision: entity.revision + 1, ...change, changedAt: this.clock() };
    this.put([changed]);
    return changed;
  }

  setFields<K extends Kind>(kind: K, id: string, fields: Partial<FieldsOf[K]>): Entity<K> {
    const entity = this.get(kind, id)!;
    return this.change(entity, { fields: { ...entity.fields, ...fields } });
  }

  remove(entity: Entity): void {
    const now = this.clock();
    this.change(entity, { state: "deleted", due: undefined, deletedAt: now, hiddenAt: now });
  }

  /** Stores new versions, all or none. Answers must wait for `synced`. */
  put(entities: readonly Entity[]): void {
    if (this.database?.isClosed) throw new Refusal(503, "Nothing can be changed: the service is stopping.");
    for (const entity of entities) this.#keep(entity);
    if (!this.database) return;
    this.#pending.push(...entities);
    this.#next ??= this.#writing.then(() => this.#write(this.database!));
  }

  get failures(): number {
    return this.#failed.count;
  }

  /** Resolves when all previous changes are on disk. @param failures the number of failed writes before the change */
  async synced(failures = this.failures): Promise<void> {
    await (this.#next ?? this.#writing);
    if (this.failures > failures) throw this.#failed.error;
  }

  async close(): Promise<void> {
    await this.synced().catch(() => undefined);
    await this.database?.close();
  }

  get<K extends Kind>(kind: K, id: string): Entity<K> | undefined {
    const entity = this.#rows.get(keyOf(kind, id))?.at(-1);
    return entity && !isGone(entity, this.clock()) ? (entity as Entity<K>) : undefined;
  }

  /** The existing objects of a kind in a parent, in the order of creation. */
  children<K extends Kind>(kind: K, parent: string): Entity<K>[] {
    const now = this.clock();
    return this.#versionsIn(kind, parent, now).filter((entity) => !isGone(entity, now));
  }

  /** The objects that a list shows at a time, including deleted ones that are still listed. */
  listed<K extends Kind>(kind: K, parent: string, at: number): Entity<K>[] {
    return this.#versionsIn(kind, parent, at).filter((entity) => entity.hiddenAt === undefined || entity.hiddenAt > at);
  }

  present<K extends Kind>(kind: K, parent: string, at: number): Entity<K>[] {
    return this.listed(kind, parent, at).filter((entity) => !isGone(entity, at));
  }

  all<K extends Kind>(kind: K): Entity<K>[] {
    const now = this.clock();
    return [...this.#rows.values()]
      .map((row) => row.at(-1)!)
      .filter((entity) => entity.kind === kind && !isGone(entity, now)) as Entity<K>[];
  }

  #versionsIn<K extends Kind>(kind: K, parent: string, at: number): Entity<K>[] {
    const keys = this.#children.get(keyOf(kind, parent)) ?? [];
    return [...keys].flatMap((key) => {
      const version = this.#rows.get(key)?.findLast((entity) => entity.changedAt <= at);
      return version ? [version as Entity<K>] : [];
    });
  }

  #keep(entity: Entity): void {
    const key = keyOf(entity.kind, entity.id);
    const row = this.#rows.get(key) ?? [];
    row.push(entity);
    this.#rows.set(key, row);
    const siblings = keyOf(entity.kind, entity.parent);
    this.#children.set(siblings, (this.#children.get(siblings) ?? new Set()).add(key));
    if (row.length > most.versions) row.shift();
    if (entity.deletedAt === undefined) return;
    this.#gone.add(key);
    const [oldest] = this.#gone;
    if (this.#gone.size > most.gone) this.#drop(oldest!, this.#rows.get(oldest!)!.at(-1)!);
  }

  #drop(key: string, { kind, parent }: Entity): void {
    this.#rows.delete(key);
    this.#gone.delete(key);
    this.#children.get(keyOf(kind, parent))?.delete(key);
  }

  /** Writes pending versions. If that fails, it reverts them. */
  async #write(database: Database): Promise<void> {
    const entities = this.#pending;
    this.#pending = [];
    this.#writing = this.#next!;
    this.#next = undefined;
    const changes = entities.map((entity): Written => [keyOf(entity.kind, entity.id), JSON.stringify(entity)]);
    try {
      await database.write(changes);
    } catch (error) {
      this.#failed = { count: this.#failed.count + 1, error };
      this.#undo(new Set([...entities, ...this.#pending.splice(0)]));
    }
  }

  #undo(entities: ReadonlySet<Entity>): void {
    const rows = this.#rows;
    this.#rows = new Map();
    this.#children.clear();
    this.#gone.clear();
    for (const row of rows.values()) for (const entity of row) if (!entities.has(entity)) this.#keep(entity);
  }

  async #forget(): Promise<void> {
    const before = this.clock() - memory;
    const dropped: string[] = [];
    for (const [key, row] of this.#rows) {
      const entity = row.at(-1)!;
      if (entity.hiddenAt === undefined || entity.hiddenAt > before) continue;
      this.#drop(key, entity);
      dropped.push(key);
    }
    if (dropped.length > 0) await this.database!.write(dropped.map((key) => [key, undefined]));
  }
}

const orderOf = ({ order = 0 }: Entity) => order;

const object = z.looseObject({
  kind: z.enum(kinds),
  id: z.string(),
  parent: z.string(),
  organization: z.string(),
  state: z.string(),
  createdAt: z.number(),
  changedAt: z.number(),
  revision: z.number(),
  fields: z.looseObject({}),
});

function entityOf(key: string, value: Buffer): Entity {
  const { success, data, error } = jsonText.pipe(object).safeParse(value.toString());
  if (!success)
    throw new Damaged(`The ${nameOf(key)} is damaged: it is not an object of the service (${explain(error)})`);
  return data;
}

const isGone = (entity: Entity, at: number) => entity.deletedAt !== undefined && entity.deletedAt <= at;
