import { randomInt } from "node:crypto";
import { getHeapStatistics } from "node:v8";
import { ServiceError } from "../errors";
import type { Limits } from "../settings/settings";
import type { Entity, FieldsOf, Kind } from "./entities";
import { StateFile } from "./state-file";
import { Usage, type Used } from "./usage";

/** How long deleted objects are kept (ms), for lists that lag, as far as there is room for old versions. */
const memory = 3_600_000;

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
  readonly #rows = new Map<string, Entity[]>();
  readonly #children = new Map<string, Set<string>>();
  readonly #file: StateFile | undefined;
  readonly #usage = new Usage();
  /** The service's time, which never goes back. */
  readonly clock: () => number;

  constructor(clock: SteadyClock, file?: string) {
    this.clock = clock.now;
    if (file === undefined) return;
    this.#file = new StateFile(
      file,
      () => this.#remembered(),
      (entity) => {
        clock.saw(entity.changedAt);
        this.#keep(entity);
        const excess = this.#usage.excess;
        if (excess !== undefined) throw new ServiceError(tooLarge(file, excess));
      },
    );
  }

  /** @param limits the quotas of its organization, if a caller wants it */
  create<K extends Kind>(draft: Draft<K>, limits?: Limits): Entity<K> {
    const now = this.clock();
    const id = draft.id ?? newId(draft.kind);
    const entity: Entity<K> = { state: "active", ...draft, id, createdAt: now, changedAt: now, revision: 0 };
    this.#refuse(entity, limits);
    this.put([entity]);
    return entity;
  }

  change<K extends Kind>(entity: Entity<K>, change: Change<K>, limits?: Limits): Entity<K> {
    const changed = { ...entity, revision: entity.revision + 1, ...change, changedAt: this.clock() };
    this.#refuse(changed, limits);
    this.put([changed]);
    return changed;
  }

  setFields<K extends Kind>(kind: K, id: string, fields: Partial<FieldsOf[K]>): Entity<K> {
    const entity = this.get(kind, id)!;
    return this.change(entity, { fields: { ...entity.fields, ...fields } });
  }

  /** Removes an object at once, without a trace. */
  remove(entity: Entity): void {
    const now = this.clock();
    this.change(entity, { state: "deleted", due: undefined, deletedAt: now, hiddenAt: now });
  }

  /** Stores new versions, all or none. Answers must wait for `synced`. */
  put(entities: readonly Entity[]): void {
    this.#file?.append(entities);
    for (const entity of entities) this.#keep(entity);
    this.#file?.tidy(this.#live());
  }

  /** How many objects an organization has, and how many bytes they take. */
  usedBy = (organization: string): Used => this.#usage.of(organization);

  get<K extends Kind>(kind: K, id: string): Entity<K> | undefined {
    const entity = this.#rows.get(keyOf(kind, id))?.at(-1);
    return entity && !isGone(entity, this.clock()) ? (entity as Entity<K>) : undefined;
  }

  /** The existing objects of a kind in a parent, in the order of creation. */
  children<K extends Kind>(kind: K, parent: string): Entity<K>[] {
    const now = this.clock();
    return this.#versionsIn(kind, parent, now).filter((entity) => !isGone(entity, now));
  }

  /** The objects that a list shows at a time, with those that are deleted but still listed. */
  listed<K extends Kind>(kind: K, parent: string, at: number): Entity<K>[] {
    return this.#versionsIn(kind, parent, at).filter((entity) => entity.hiddenAt === undefined || entity.hiddenAt > at);
  }

  /** Those of them that were not deleted by then. */
  present<K extends Kind>(kind: K, parent: string, at: number): Entity<K>[] {
    return this.listed(kind, parent, at).filter((entity) => !isGone(entity, at));
  }

  all<K extends Kind>(kind: K): Entity<K>[] {
    const now = this.clock();
    return [...this.#rows.values()]
      .map((row) => row.at(-1)!)
      .filter((entity) => entity.kind === kind && !isGone(entity, now)) as Entity<K>[];
  }

  /** Resolves when all that was stored before is on disk. */
  synced = (): Promise<void> => this.#file?.synced() ?? Promise.resolve();

  /** Removes outdated lines from the file. */
  tidy(): void {
    this.#file?.tidy(this.#live(), this.#rows.size + 1);
  }

  close(): void {
    this.#file?.close();
  }

  #versionsIn<K extends Kind>(kind: K, parent: string, at: number): Entity<K>[] {
    const keys = this.#children.get(keyOf(kind, parent)) ?? [];
    return [...keys].flatMap((key) => {
      const version = this.#rows.get(key)?.findLast((entity) => entity.changedAt <= at);
      return version ? [version as Entity<K>] : [];
    });
  }

  #live = () => ({ objects: this.#rows.size, bytes: this.#usage.all });

  #refuse(entity: Entity, limits: Limits | undefined): void {
    const owner = this.get("organization", entity.organization)?.fields.name ?? "";
    if (limits) this.#usage.refuse(keyOf(entity.kind, entity.id), entity, owner, limits);
  }

  #keep(entity: Entity): void {
    const key = keyOf(entity.kind, entity.id);
    const row = this.#rows.get(key) ?? [];
    row.push(entity);
    this.#rows.set(key, row);
    const siblings = keyOf(entity.kind, entity.parent);
    this.#children.set(siblings, (this.#children.get(siblings) ?? new Set()).add(key));
    for (const old of this.#usage.keep(key, entity)) {
      const [oldest, ...others] = this.#rows.get(old)!;
      if (others.length > 0) this.#rows.set(old, others);
      else this.#drop(old, oldest!);
    }
  }

  #drop(key: string, { kind, parent }: Entity): void {
    this.#rows.delete(key);
    this.#children.get(keyOf(kind, parent))?.delete(key);
  }

  /** Drops objects that were deleted long ago. Returns the latest versions of all others. */
  #remembered(): Entity[] {
    const before = this.clock() - memory;
    const dropped = new Set<string>();
    for (const [key, row] of this.#rows) {
      const entity = row.at(-1)!;
      if (entity.hiddenAt === undefined || entity.hiddenAt > before) continue;
      this.#drop(key, entity);
      dropped.add(key);
    }
    this.#usage.drop(dropped);
    return [...this.#rows.values()].map((row) => row.at(-1)!);
  }
}

const tooLarge = (file: string, excess: string) =>
  `${file} is too large for this process: ${excess}. Nothing was changed. Start it with more memory, such as NODE_OPTIONS=--max-old-space-size=${Math.ceil(getHeapStatistics().heap_size_limit / 2 ** 19)}.`;

const isGone = (entity: Entity, at: number) => entity.deletedAt !== undefined && entity.deletedAt <= at;

/**
 * A clock that never goes back: if the machine's clock is set back, it continues from the latest time that it saw. So what was
 * created stays created, and what was deleted stays deleted.
 */
export class SteadyClock {
  #shift = 0;
  #latest = -Infinity;

  constructor(private readonly clock: () => number) {}

  readonly now = (): number => {
    const time = this.clock() + this.#shift;
    if (time < this.#latest) this.#shift += this.#latest - time;
    return (this.#latest = Math.max(time, this.#latest));
  };

  /** Notes that something happened at this time. */
  readonly saw = (time: number): void => {
    this.#latest = Math.max(this.#latest, time);
  };
}
