import {
  type ConsortiumClient,
  type EnvironmentModel,
  LiveNetwork,
  type NetworkModel,
  type Targets,
  UserError,
} from "pulumi-consortium/internal/console";
import { type EnvironmentView, type NetworkView, type Section, type Verdict } from "../protocol";
import type { Embedded } from "./embedded";
import { Ledgers } from "./ledgers";
import { mapsOf } from "./maps";
import type { Stacks } from "./stacks";
import { Tethers } from "./tethers";

export interface ObserverOptions {
  client: ConsortiumClient;
  embedded: Embedded | undefined;
  mayChange: boolean;
  /** Ids of tethers to show, because the API does not list them. */
  tethers: readonly string[];
  /** RPC addresses of public networks. */
  targets: Targets;
  stacks: Stacks;
  periodMs: number;
}

/** Reads the service for all pages, each object once per period. */
export class Observer {
  #live: LiveNetwork;
  #model: NetworkModel | undefined;
  readonly #ledgers: Ledgers;
  readonly #tethers: Tethers;

  constructor(private readonly options: ObserverOptions) {
    const { client, embedded, targets, stacks, periodMs } = options;
    this.#live = this.#newLook();
    this.#ledgers = new Ledgers(embedded, stacks, periodMs);
    this.#tethers = new Tethers(client, targets, async (id) => ({ ...(await this.#live.tether(id)).row.props, id }));
  }

  look = async (section: Section): Promise<unknown> => {
    const [kind = "", id = "", ...rest] = section.split("/");
    const { embedded } = this.options;
    if (kind === "network") return this.#network();
    if (kind === "maps") return mapsOf((await this.#network()).model);
    if (kind === "environment") return this.#environment(id);
    if (kind === "log") return this.#log(id, ...rest);
    if (kind === "tether") return this.#tethers.view(id);
    if (kind === "pins") return this.#tethers.before(id, Number(rest[0]));
    if (kind === "keys" && embedded) return embedded.keys();
    if (kind === "testing" && embedded) return embedded.testing();
    throw new UserError("not-found", `${section} does not exist on this page.`);
  };

  /** Drops earlier answers after a change. */
  forget(): void {
    this.#live = this.#newLook();
  }

  /** Verifies one report on the public chain. */
  verify(tether: string, index: number): Promise<Verdict> {
    return this.#tethers.verify(tether, index);
  }

  #newLook = () => new LiveNetwork(this.options.client, this.options.periodMs * 0.8);

  async #network(): Promise<NetworkView> {
    const { client, embedded, mayChange, stacks } = this.options;
    stacks.refresh();
    const ordered = embedded ? await embedded.tethers() : [];
    const tethers = [...new Set([...this.options.tethers, ...stacks.tethers, ...ordered])];
    const model = await this.#live.look({ tethers, nodeStatus: true, plan: true, stacks: stacks.all });
    this.#model = model;
    this.#ledgers.note(model);
    return {
      ...(embedded && {
        organization: embedded.about.organization.name,
        tetherHour: embedded.about.tether_hour,
      }),
      baseUrl: client.http.settings.baseUrl,
      embedded: embedded !== undefined,
      mayChange,
      stacks: stacks.names,
      model,
    };
  }

  /** The environment, and the id of its consortium. */
  async #find(id: string): Promise<{ consortium: string; environment: EnvironmentModel }> {
    if (!this.#model) await this.#network();
    for (const consortium of this.#model!.consortia)
      for (const environment of consortium.environments)
        if (environment.id === id) return { consortium: consortium.id, environment };
    throw new UserError("not-found", `Environment ${id} does not exist or was deleted.`);
  }

  async #environment(id: string): Promise<EnvironmentView> {
    const { consortium, environment } = await this.#find(id);
    return this.#ledgers.view(consortium, environment);
  }

  async #log(environmentId: string, node = "", client = ""): Promise<string[]> {
    const { consortium } = await this.#find(environmentId);
    const which = client === "constellation" ? client : "geth";
    return this.options.client.getNodeLogs(consortium, environmentId, node, which, 100);
  }
}
