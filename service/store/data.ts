import type { Context } from "../context";
import { erase } from "./deletion";
import type { Entity, Kind, ManagedKind, Network } from "./entities";
import { ServiceError } from "../http/errors";
import { boundEnvironment, caughtUp } from "../tether/simulated-tethers";
import { stateAt } from "./states-over-time";

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
    const entity = this.get(id);
    return this.context.store.change(entity, { fields: { ...entity.fields, ...fields } });
  }

  /** Puts it in a state, such as `started` or `failed`, which it then does not leave by itself. */
  setState(id: string, state: string): Entity<K> {
    return this.context.store.change(this.get(id), { state, due: undefined });
  }

  /** Takes it away at once, with all that is in it. */
  remove(id: string): void {
    erase(this.context, this.get(id));
  }
}

/** The tether services. */
export class Tethers extends Collection<"tether"> {
  /** The tether service, with the reports that are due by now. */
  override get(id: string): Entity<"tether"> {
    const tether = super.get(id);
    return this.context.anchors ? tether : caughtUp(this.context, tether);
  }

  /** Sets what its account owns on a network, in wei; on a real chain it has no effect once it was used there. */
  setFunds(id: string, network: Network, wei: string | bigint): void {
    const tether = this.get(id);
    const balances = { ...tether.fields.balances, [network]: String(BigInt(wei)) };
    this.context.store.change(tether, { fields: { ...tether.fields, balances } });
  }

  /** The environment it pins, once that exists. */
  environmentOf(id: string): Entity<"environment"> | undefined {
    return boundEnvironment(this.context, this.get(id));
  }
}

/** All data of a service. */
export class Data {
  readonly consortia: ManagedCollection<"consortium">;
  readonly memberships: ManagedCollection<"membership">;
  readonly environments: ManagedCollection<"environment">;
  readonly nodes: ManagedCollection<"node">;
  readonly credentials: ManagedCollection<"credential">;
  readonly tethers: Tethers;

  constructor(context: Context) {
    this.consortia = new ManagedCollection(context, "consortium");
    this.memberships = new ManagedCollection(context, "membership");
    this.environments = new ManagedCollection(context, "environment");
    this.nodes = new ManagedCollection(context, "node");
    this.credentials = new ManagedCollection(context, "credential");
    this.tethers = new Tethers(context, "tether");
  }
}
