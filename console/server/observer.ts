import {
  type ConsortiumClient,
  credentialsFor,
  type EnvironmentModel,
  environmentsOf,
  LiveNetwork,
  mayAnswer,
  type NetworkModel,
  overHttp,
  type PlacedCredential,
  type Targets,
} from "pulumi-consortium/internal/console";
import { type NetworkView, type Section, type Verdict } from "../protocol";
import type { Embedded } from "./embedded";
import { type Ask, LedgerHistory } from "./ledger-history";
import { mapsOf } from "./maps";
import type { Stacks } from "./stacks";
import { Tethers } from "./tethers";

export interface ObserverOptions {
  client: ConsortiumClient;
  embedded: Embedded | undefined;
  mayChange: boolean;
  /** Ids of tethers to look at, because the API does not list them. */
  tethers: readonly string[];
  /** RPC addresses of public networks. */
  targets: Targets;
  stacks: Stacks;
  periodMs: number;
}

/** How long a node may take to answer. */
const patienceMs = 10_000;

/** Looks at the service for all pages. Each thing is requested once a period. */
export class Observer {
  #live: LiveNetwork;
  #model: NetworkModel | undefined;
  readonly #ledgers = new Map<string, LedgerHistory>();
  readonly #tethers: Tethers;

  constructor(private readonly options: ObserverOptions) {
    const { client, targets } = options;
    this.#live = this.#newLook();
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
    throw new Error(`There is nothing to look at under ${section}.`);
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
    this.#note(model);
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

  #note(model: NetworkModel): void {
    const at = Math.round(Date.now() / 1000);
    const environments = environmentsOf(model);
    for (const environment of environments) {
      const history = this.#ledgers.get(environment.id) ?? new LedgerHistory(this.options.periodMs);
      this.#ledgers.set(environment.id, history);
      history.note(environment, at);
    }
    const there = new Set(environments.map(({ id }) => id));
    for (const id of this.#ledgers.keys()) if (!there.has(id)) this.#ledgers.delete(id);
  }

  /** The environment, and the id of its consortium. */
  async #find(id: string): Promise<{ consortium: string; environment: EnvironmentModel }> {
    if (!this.#model) await this.#network();
    for (const consortium of this.#model!.consortia)
      for (const environment of consortium.environments)
        if (environment.id === id) return { consortium: consortium.id, environment };
    throw new Error(`Environment ${id} does not exist or was deleted.`);
  }

  async #environment(id: string): Promise<unknown> {
    const { consortium, environment } = await this.#find(id);
    const history = this.#ledgers.get(id)!;
    const { embedded } = this.options;
    const node = embedded ? undefined : openedBy(environment, this.options.stacks.credentials);
    if (!environment.nodes.some(({ state }) => mayAnswer(state)))
      return history.view("Blocks are shown once a node is started.");
    if (embedded && embedded.about.ledger !== "on")
      return history.view("The nodes of this service are simulated: they have no blocks.");
    if (!embedded && !node) {
      return history.view(
        "Blocks are read from a node, which needs a credential: start the console with a stack that holds one: --stack dev.",
      );
    }
    const provider = node && (await overHttp(node.url, node.credential, undefined, patienceMs));
    const ask: Ask = (method, params) =>
      provider?.send(method, params) ?? embedded!.rpc(consortium, id, method, params);
    try {
      await history.read(ask);
      return history.view();
    } catch (error) {
      return history.view(`The blocks cannot be read: ${(error as Error).message}`);
    } finally {
      provider?.destroy();
    }
  }

  async #log(environmentId: string, node = "", client = ""): Promise<string[]> {
    const { consortium } = await this.#find(environmentId);
    const which = client === "constellation" ? client : "geth";
    return this.options.client.getNodeLogs(consortium, environmentId, node, which, 100);
  }
}

/** The address of a node that may answer, and a credential of its member. */
function openedBy(
  environment: EnvironmentModel,
  credentials: readonly PlacedCredential[],
): { url: string; credential: PlacedCredential } | undefined {
  for (const node of environment.nodes) {
    const [credential] = credentialsFor(environment, node, credentials);
    if (credential && mayAnswer(node.state) && node.urls?.rpc) return { url: node.urls.rpc, credential };
  }
  return undefined;
}
