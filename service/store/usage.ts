import { getHeapStatistics, type HeapInfo } from "node:v8";
import { Refusal } from "../errors";
import { valuesIn } from "../json";
import type { Limits } from "../settings/settings";
import type { Entity, Kind } from "./entities";

/** Bytes of memory that a value takes besides its text. */
const perValue = 64;
/** Bytes that old versions of an organization's objects may take. */
const mostOld = 4 * 1_048_576;
/** Objects that the service itself adds. Callers do not control their number, so they are never refused. */
const uncounted = new Set<Kind>(["organization", "report", "ledger"]);

/** Approximate bytes of an object. The length of its text is not enough: `[[],[],…]` takes twenty times as much. */
function sizeOf(entity: Entity): number {
  const json = JSON.stringify(entity);
  return json.length + perValue * valuesIn(json);
}

/** How many objects an organization has, and how many bytes they take. */
export interface Used {
  objects: number;
  bytes: number;
}

/** A version that is not the latest, or belongs to a deleted object. */
interface Old {
  key: string;
  bytes: number;
}

interface Kept extends Used {
  /** Oldest first. */
  old: Old[];
  oldBytes: number;
}

/** The part of V8's heap for new values. */
const young = 48 * 1_048_576;
/** Half of the memory that is left: the other half is for calls. */
const roomFor = ({ heap_size_limit: most, used_heap_size: used }: HeapInfo) => (most - young - used) / 2;
/** A start has more room: all stored objects must fit again, even if the process is a little larger now. */
const startable = 1.25;
const mebibytes = (bytes: number) => `${Math.ceil(bytes / 1_048_576)} MiB`;

/** Space that objects take, per organization and in total. */
export class Usage {
  readonly #organizations = new Map<string, Kept>();
  /** The bytes of the latest version of each object that is not deleted. */
  readonly #latest = new Map<string, number>();
  #all = 0;

  /** @param room the bytes that all objects may take */
  constructor(private readonly room = roomFor(getHeapStatistics())) {}

  of(organization: string): Used {
    const { objects, bytes } = this.#of(organization);
    return { objects, bytes };
  }

  /** The bytes of all objects, with their old versions. */
  get all(): number {
    return this.#all;
  }

  /** The error if all objects need more memory than a start has. */
  get excess(): string | undefined {
    const room = startable * this.room;
    if (this.#all <= room) return undefined;
    return `its objects take ${mebibytes(this.#all)} of memory, but this process can use only ${mebibytes(room)} for them`;
  }

  /** Refuses a version beyond the organization's quota, or without enough memory. */
  refuse(key: string, entity: Entity, name: string, { objects: most, bytes: mostBytes }: Limits): void {
    const { objects, bytes } = this.#of(entity.organization);
    const before = this.#latest.get(key);
    const more = sizeOf(entity) - (before ?? 0);
    const raise = (option: string, to: number) =>
      `Delete some, or ask whoever runs the service to raise the limit: consortium serve --limit-${option} ${to}.`;
    if (before === undefined && objects >= most)
      throw new Refusal(
        403,
        `The organization ${name} may have ${most} objects, and has ${objects}. ${raise("objects", 2 * most)}`,
      );
    if (more > 0 && bytes + more > mostBytes)
      throw new Refusal(
        403,
        `The objects of the organization ${name} may take ${mostBytes} bytes. They take ${bytes}, and this needs ${more} more. ${raise("bytes", 2 * mostBytes)}`,
      );
    if (more > 0 && this.#all + more > this.room)
      throw new Refusal(
        507,
        "The service has no memory left for more objects, so nothing was changed. Delete some, or start it with more memory.",
      );
  }

  /**
   * Notes a new version of an object.
   *
   * @returns the objects that must drop their oldest version, because old versions take too many bytes
   */
  keep(key: string, entity: Entity): string[] {
    const kept = this.#of(entity.organization);
    const counted = uncounted.has(entity.kind) ? 0 : 1;
    const bytes = sizeOf(entity);
    const before = this.#latest.get(key);
    if (before !== undefined) {
      kept.objects -= counted;
      kept.bytes -= counted * before;
      this.#grown(kept, key, before);
      this.#latest.delete(key);
    }
    this.#all += bytes;
    if (entity.deletedAt === undefined) {
      kept.objects += counted;
      kept.bytes += counted * bytes;
      this.#latest.set(key, bytes);
    } else this.#grown(kept, key, bytes);
    const forgotten: string[] = [];
    while (kept.oldBytes > mostOld) forgotten.push(this.#forget(kept));
    return forgotten;
  }

  /** Notes that deleted objects are no longer kept. */
  drop(keys: ReadonlySet<string>): void {
    for (const kept of this.#organizations.values()) {
      const dropped = kept.old.filter(({ key }) => keys.has(key)).reduce((sum, { bytes }) => sum + bytes, 0);
      kept.old = kept.old.filter(({ key }) => !keys.has(key));
      kept.oldBytes -= dropped;
      this.#all -= dropped;
    }
  }

  #grown(kept: Kept, key: string, bytes: number): void {
    kept.old.push({ key, bytes });
    kept.oldBytes += bytes;
  }

  #forget(kept: Kept): string {
    const { key, bytes } = kept.old.shift()!;
    kept.oldBytes -= bytes;
    this.#all -= bytes;
    return key;
  }

  #of(organization: string): Kept {
    const kept = this.#organizations.get(organization) ?? { objects: 0, bytes: 0, old: [], oldBytes: 0 };
    this.#organizations.set(organization, kept);
    return kept;
  }
}
