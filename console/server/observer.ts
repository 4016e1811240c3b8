import type { ConsortiumClient } from "../../provider/api";
import { SharedAnswers } from "../../observe/answers";
import { observeLive } from "../../observe/live";
import type { EnvironmentModel, NetworkModel } from "../../observe/model";
import type { NetworkView, Section } from "../protocol";
import type { Embedded } from "./embedded";
import { conditionOf } from "../../provider/api/states";
import { LedgerHistory } from "./ledger";
import { Logins } from "./logins";
import { Maps } from "./maps";
import { TetherHistory } from "./tether";
import type { Stacks } from "./stacks";

export interface ObserverOptions {
  client: ConsortiumClient;
  embedded: Embedded | undefined;
  mayChange: boolean;
  /** Ids of tethers to look at: the API has no list of them. */
  tethers: readonly string[];
  /** RPC addresses of public networks. */
  targets: Readonly<Record<string, string | undefined>>;
  stacks: Stacks;
  periodMs: number;
}

/** Looks at the service for all pages: each thing is asked for once a period. */
export class Observer {
  #answers: SharedAnswers;
  #model: NetworkModel | undefined;
  readonly #ledgers = new Map<string, LedgerHistory>();
  readonly #tethers = new Map<string, TetherHistory>();
  readonly #logins: Logins;
  readonly #maps = new Maps();

  constructor(private readonly options: ObserverOptions) {
    this.#answers = this.#newAnswers();
    this.#logins = new Logins(options.stacks);
  }

  look = async (section: Section): Promise<unknown> => {
    const [kind = "", id = "", ...rest] = section.split("/");
    const { embedded } = this.options;
    if (kind === "network") return this.#network();
    if (kind === "maps") return this.#maps.of((await this.#network()).model);
    if (kind === "environment") return this.#environment(id);
    if (kind === "log") return this.#log(id, ...rest);
    if (kind === "tether") return this.tether(id).view();
    if (kind === "keys" && embedded) return embedded.keys();
    if (kind === "testing" && embedded) return embedded.testing();
    throw new Error(`There is nothing to look at under ${section}.`);
  };

  /** Something was changed: nothing that was answered before counts. */
  forget(): void {
    this.#answers = this.#newAnswers();
  }

  tether(id: string): TetherHistory {
    const { client, targets } = this.options;
    const history = this.#tethers.get(id) ?? new TetherHistory(client, id, targets);
    this.#tethers.set(id, history);
    return history;
  }

  #newAnswers = () => new SharedAnswers(this.options.client, this.options.periodMs * 0.8);

  async #network(): Promise<NetworkView> {
    const { client, embedded, mayChange, stacks } = this.options;
    stacks.refresh();
    const ordered = embedded ? await embedded.tethers() : [];
    const tethers = [...new Set([...this.options.tethers, ...stacks.tethers, ...ordered])];
    const options = { tethers, nodeStatus: true, answers: this.#answers };
    const seen = await observeLive(client, options);
    const model = stacks.marked(embedded ? limited(seen, embedded) : seen);
    this.#model = model;
    this.#note(model);
    return {
      ...(embedded && {
        ...{ organization: embedded.about.organization.name, ledger: embedded.about.ledger },
        tetherHour: embedded.about.tether_hour,
      }),
      ...{ baseUrl: client.http.settings.baseUrl, embedded: embedded !== undefined, mayChange },
      ...{ stacks: stacks.names, model },
    };
  }

  #note(model: NetworkModel): void {
    const at = Math.round(Date.now() / 1000);
    const environments = model.consortia.flatMap((one) => one.environments);
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
    throw new Error(`There is no environment ${id} (any more).`);
  }

  async #environment(id: string): Promise<unknown> {
    const { consortium, environment } = await this.#find(id);
    const history = this.#ledgers.get(id)!;
    const { embedded } = this.options;
    const ask = embedded
      ? (method: string, params: unknown[]) => embedded.rpc(consortium, id, method, params)
      : this.#logins.ask(environment);
    if (environment.nodes.every(({ state }) => conditionOf(state) !== "ready"))
      return history.view("Blocks are shown once a node is started.");
    if (embedded && embedded.about.ledger !== "on")
      return history.view("The nodes of this service are simulated: they have no blocks.");
    if (!ask) {
      return history.view(
        "Blocks are read from a node, which needs a credential: start the console with a stack that holds one: --stack dev.",
      );
    }
    try {
      await history.read(ask);
      return history.view();
    } catch (error) {
      return history.view(`The blocks cannot be read: ${(error as Error).message}`);
    }
  }

  async #log(environmentId: string, node = "", client = ""): Promise<string[]> {
    const { consortium } = await this.#find(environmentId);
    const which = client === "constellation" ? client : "geth";
    return this.options.client.getNodeLogs(consortium, environmentId, node, which, 100);
  }
}

/** The limits of the embedded service may be others than those of the hosted one. */
function limited(model: NetworkModel, { about }: Embedded): NetworkModel {
  return { ...model, limits: model.limits.map((one) => ({ ...one, most: about.limits[one.kind] })) };
}
