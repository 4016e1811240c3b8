import type { Context } from "../context";
import { ServiceError } from "../errors";
import { boundEnvironment } from "../tether/tethering";
import { eraseObject } from "./deletion";
import { type Entity, type Kind, type ManagedKind, type Network, stateAt } from "./entities";

/** One kind of object, read and changed directly, as if somebody else had used the service. */
export class Collection<K extends Kind> {
  constructor(
    protected readonly context: Context,
    protected readonly kind: K,
  ) {}

  /** All that can be reached, of all organizations and parents; or those whose fields are as given. */
  list(where: Partial<Entity<K>["fields"]> & { parent?: string } = {}): Entity<K>[] {
    return this.context.store
      .all(this.kind)
      .map((entity) => this.#now(entity))
      .filter((entity) => {
        const known: Record<string, unknown> = { ...entity.fields, parent: entity.parent };
        return Object.entries(where).every(([field, value]) => known[field] === value);
      });
  }

  /** The object of this id, with the state it is in now. */
  get(id: string): Entity<K> {
    const entity = this.context.store.get(this.kind, id);
    if (!entity) throw new ServiceError(`There is no ${this.kind} ${id}.`);
    return this.#now(entity);
  }

  #now(entity: Entity<K>): Entity<K> {
    return { ...entity, state: stateAt(entity, this.context.clock()) };
  }
}

/** Objects that the API manages. */
export class ManagedCollection<K extends ManagedKind> extends Collection<K> {
  /** Changes fields, under the names of the API; fields the API does not know are shown as they are. */
  patch(id: string, fields: Partial<Entity<K>["fields"]> & Record<string, unknown>): Entity<K> {
    return this.context.store.setFields(this.kind, this.get(id).id, fields);
  }

  /** Puts it in a state, such as `started` or `failed`, which it then does not leave by itself. */
  setState(id: string, state: string): Entity<K> {
    return this.context.store.change(this.get(id), { state, due: undefined });
  }

  /** Takes it away at once, with all that is in it. */
  remove(id: string): void {
    eraseObject(this.context, this.get(id));
  }
}

/** The tether services. */
export class Tethers extends Collection<"tether"> {
  /** The tether service, with the reports that are due by now. */
  override get(id: string): Entity<"tether"> {
    return this.context.backend.tethers.current(super.get(id));
  }

  /** Sets what its account owns on a network, in wei; on a real chain it has no effect once it was used there. */
  setFunds(id: string, network: Network, wei: string | bigint): void {
    const balances = { ...this.get(id).fields.balances, [network]: String(BigInt(wei)) };
    this.context.store.setFields("tether", id, { balances });
  }

  /** The environment it pins, once that exists. */
  environmentOf(id: string): Entity<"environment"> | undefined {
    return boundEnvironment(this.context, this.get(id));
  }
}

/** All data of a service. */
export type Data = ReturnType<typeof dataOf>;
export const dataOf = (context: Context) => ({
  consortia: new ManagedCollection(context, "consortium"),
  memberships: new ManagedCollection(context, "membership"),
  environments: new ManagedCollection(context, "environment"),
  nodes: new ManagedCollection(context, "node"),
  credentials: new ManagedCollection(context, "credential"),
  zones: new ManagedCollection(context, "zone"),
  configurations: new ManagedCollection(context, "configuration"),
  services: new ManagedCollection(context, "service"),
  invitations: new ManagedCollection(context, "invitation"),
  destinations: new Collection(context, "destination"),
  tethers: new Tethers(context, "tether"),
});
