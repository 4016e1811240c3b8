import type { Context } from "../context";
import { ServiceError } from "../errors";
import { boundEnvironment } from "../tether/tethering";
import { eraseObject } from "./deletion";
import { acceptInvitation } from "./sharing";
import { begun, type Entity, type Kind, type ManagedKind, type Network, stateAt } from "./entities";

/** One kind of object, to read and change directly, like another user of the service. */
export class Collection<K extends Kind> {
  constructor(
    protected readonly context: Context,
    protected readonly kind: K,
  ) {}

  /** The existing objects of all organizations and parents; with arguments, only matching ones. */
  list(where: Partial<Entity<K>["fields"]> & { parent?: string } = {}): Entity<K>[] {
    return this.context.store
      .all(this.kind)
      .map((entity) => this.#now(entity))
      .filter((entity) => {
        const known: Record<string, unknown> = { ...entity.fields, parent: entity.parent };
        return Object.entries(where).every(([field, value]) => known[field] === value);
      });
  }

  /** The object with this id, in its current state. */
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
  /** Changes fields, under the API's names. Fields that the API does not know are shown as they are. */
  patch(id: string, fields: Partial<Entity<K>["fields"]> & Record<string, unknown>): Entity<K> {
    return this.context.store.setFields(this.kind, this.get(id).id, fields);
  }

  /** Sets its state, such as `started` or `failed`, which then does not change by itself. */
  setState(id: string, state: string): Entity<K> {
    return this.context.store.change(this.get(id), { state, due: undefined });
  }

  /** Removes it at once, with its contents. */
  remove(id: string): void {
    eraseObject(this.context, this.get(id));
  }
}

/** The environments. */
class Environments extends ManagedCollection<"environment"> {
  /** Moves it to another release, as the hosted service does by itself: it is in `upgrade` for a while. */
  upgrade(id: string, release_id: string): Entity<"environment"> {
    const { clock, settings, store } = this.context;
    const environment = this.get(id);
    const fields = { ...environment.fields, release_id };
    return store.change(environment, { ...begun("environment", "upgrade", clock(), settings.timing), fields });
  }
}

class Invitations extends ManagedCollection<"invitation"> {
  /** Makes the invited organization a member, so that it sees the consortium and its contents. Returns its membership. */
  accept(id: string, organization = this.get(id).fields.org_name): Entity<"membership"> {
    const invited = this.context.organizations.find(organization);
    if (!invited) throw new ServiceError(`There is no organization ${organization}. Add it, or name another one.`);
    return acceptInvitation(this.context, this.get(id), invited);
  }
}

export class Tethers extends Collection<"tether"> {
  /** The tether service with this id, with all due reports. */
  override get(id: string): Entity<"tether"> {
    return this.context.backend.tethers.current(super.get(id));
  }

  /** Sets its account's balance on a network, in wei. On a real chain, this works only before the account is used. */
  setFunds(id: string, network: Network, wei: string | bigint): void {
    const balances = { ...this.get(id).fields.balances, [network]: String(BigInt(wei)) };
    this.context.store.setFields("tether", id, { balances });
  }

  environmentOf(id: string): Entity<"environment"> | undefined {
    return boundEnvironment(this.context, this.get(id));
  }
}

export type Data = ReturnType<typeof dataOf>;
export const dataOf = (context: Context) => ({
  consortia: new ManagedCollection(context, "consortium"),
  memberships: new ManagedCollection(context, "membership"),
  environments: new Environments(context, "environment"),
  nodes: new ManagedCollection(context, "node"),
  credentials: new ManagedCollection(context, "credential"),
  zones: new ManagedCollection(context, "zone"),
  configurations: new ManagedCollection(context, "configuration"),
  services: new ManagedCollection(context, "service"),
  invitations: new Invitations(context, "invitation"),
  destinations: new Collection(context, "destination"),
  tethers: new Tethers(context, "tether"),
});
