import { Refusal } from "../errors";
import type { Limits } from "../settings/settings";
import type { Entity, Kind } from "./entities";

/** Objects that the service itself adds. Callers do not control their number, so they are never refused. */
const uncounted = new Set<Kind>(["organization", "report", "ledger"]);

/** How many objects an organization has, and how many bytes of JSON they are. */
export interface Used {
  objects: number;
  bytes: number;
}

/** What each organization has. */
export class Usage {
  readonly #organizations = new Map<string, Used>();
  /** The bytes of each object. */
  readonly #sizes = new Map<string, number>();

  of(organization: string): Used {
    return this.#organizations.get(organization) ?? { objects: 0, bytes: 0 };
  }

  /** Refuses a version beyond the organization's quota. */
  refuse(key: string, entity: Entity, name: string, { objects: most, bytes: mostBytes }: Limits): void {
    const { objects, bytes } = this.of(entity.organization);
    const before = this.#sizes.get(key);
    const more = JSON.stringify(entity).length - (before ?? 0);
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
  }

  /** Notes a new version of an object. */
  keep(key: string, entity: Entity): void {
    if (uncounted.has(entity.kind)) return;
    const { objects, bytes } = this.of(entity.organization);
    const before = this.#sizes.get(key);
    const size = entity.deletedAt === undefined ? JSON.stringify(entity).length : undefined;
    if (size === undefined) this.#sizes.delete(key);
    else this.#sizes.set(key, size);
    this.#organizations.set(entity.organization, {
      objects: objects + (size === undefined ? 0 : 1) - (before === undefined ? 0 : 1),
      bytes: bytes + (size ?? 0) - (before ?? 0),
    });
  }
}
