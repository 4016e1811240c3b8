import {
  type PlacedCredential,
  credentialsFor,
  LiveNetwork,
  mayAnswer,
  type EnvironmentModel,
  environmentsOf,
  type NetworkModel,
  type TetherModel,
  tethersOf,
  chainFor,
  Pins,
  type Targets,
  mapOf,
  overHttp,
  type MapItem,
  svgOf,
  type ConsortiumClient,
} from "pulumi-consortium/internal/console";
import {
  type BlockView,
  type EnvironmentView,
  type MapsView,
  type NetworkView,
  type Section,
  type TetherView,
  type TransactionView,
  type Verdict,
} from "../protocol";
import type { Embedded } from "./embedded";
import type { Stacks } from "./stacks";

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

const mostPins = 50;
/** Number of last pins whose average is the cost of one. */
const costsKept = 5;
/** How long a node may take to answer. */
const patienceMs = 10_000;

/** Looks at the service for all pages. Each thing is requested once a period. */
export class Observer {
  #live: LiveNetwork;
  #model: NetworkModel | undefined;
  readonly #ledgers = new Map<string, LedgerHistory>();
  readonly #pins = new Map<string, Pins>();

  constructor(private readonly options: ObserverOptions) {
    this.#live = this.#newLook();
  }

  look = async (section: Section): Promise<unknown> => {
    const [kind = "", id = "", ...rest] = section.split("/");
    const { embedded } = this.options;
    if (kind === "network") return this.#network();
    if (kind === "maps") return mapsOf((await this.#network()).model);
    if (kind === "environment") return this.#environment(id);
    if (kind === "log") return this.#log(id, ...rest);
    if (kind === "tether") return this.#tether(id);
    if (kind === "pins") return this.#pinsBefore(id, Number(rest[0]));
    if (kind === "keys" && embedded) return embedded.keys();
    if (kind === "testing" && embedded) return embedded.testing();
    throw new Error(`There is nothing to look at under ${section}.`);
  };

  /** Drops earlier answers after a change. */
  forget(): void {
    this.#live = this.#newLook();
  }

  /** Verifies one report on the public chain. */
  async verify(tether: string, index: number): Promise<Verdict> {
    const facts = await this.#factsOf(tether);
    const pin = await this.#pinsOf(tether).pin(index);
    const network = pin.network ?? facts.network ?? "";
    const url = chainFor(facts, this.options.targets, pin.network);
    if (url === undefined) {
      const how = network ? `--target ${network}=https://…` : "--target mainnet=https://…";
      return { verified: false, text: `Not checked: start the console with ${how}, the chain to ask.` };
    }
    const verdict = await this.#pinsOf(tether).verify(index, url, facts.account);
    if (!verdict.verified) return { verified: false, text: verdict.reason };
    const { blockNumber, transactionHash, pinnedAt } = verdict;
    const when = pinnedAt.toISOString().slice(0, 19).replace("T", " ");
    return { verified: true, text: `Block ${blockNumber} of ${network}, ${when} UTC, transaction ${transactionHash}` };
  }

  async #tether(id: string): Promise<TetherView> {
    const facts = await this.#factsOf(id);
    const pins = await this.#pinsOf(id).newest(facts.reports ?? 0, mostPins);
    const targetUrl = chainFor(facts, this.options.targets);
    const last = pins.slice(0, costsKept);
    const cost = targetUrl === undefined ? undefined : await this.#pinsOf(id).cost(last, targetUrl);
    return { pins, ...(cost !== undefined && { pinCostWei: cost.toString() }) };
  }

  /** A page of earlier pins. */
  async #pinsBefore(id: string, end: number): Promise<TetherView["pins"]> {
    const { reports = 0 } = await this.#factsOf(id);
    return Number.isInteger(end) ? this.#pinsOf(id).newest(Math.min(end, reports), mostPins) : [];
  }

  #factsOf = async (id: string): Promise<TetherModel> => {
    const { row } = await this.#live.tether(id);
    return { ...row.props, id };
  };

  #pinsOf(id: string): Pins {
    const pins = this.#pins.get(id) ?? new Pins(this.options.client, id);
    this.#pins.set(id, pins);
    return pins;
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

/** The drawings of the consortia. */
export const mapsOf = (model: NetworkModel): MapsView =>
  Object.fromEntries(
    model.consortia.map((consortium) => {
      const tethers = consortium.environments.flatMap((one) => tethersOf(model, one));
      const map = mapOf({ ...model, title: consortium.name, consortia: [consortium], tethers });
      return [consortium.id, svgOf(map, { style: false, link: (item) => linkTo(item.kind, item.ids) })];
    }),
  );

/** Links to the console's pages. Nodes and credentials have no page of their own. */
function linkTo(kind: MapItem["kind"], [id, ...others]: readonly string[]): string | undefined {
  const pages: Partial<Record<MapItem["kind"], string>> = { environment: "environments", tetherService: "tethers" };
  const page = pages[kind];
  if (page === undefined || id === undefined || others.length > 0) return undefined;
  return `#/${page}/${encodeURIComponent(id)}`;
}

/** Asks a chain. */
export type Ask = (method: string, params: unknown[]) => Promise<unknown>;

const mostSamples = 600;
const mostBlocks = 12;
const mostTransactions = 50;
/** Number of missing looks that make a gap in a chart. */
const gap = 4;

interface RpcBlock {
  number: string;
  hash: string;
  timestamp: string;
  transactions: { hash: string; from: string; to: string | null; value: string }[];
}

/** What was seen of one environment while a page watched: heights of its nodes over time, and its last blocks. */
export class LedgerHistory {
  /** When the nodes were looked at, and what heights they had then, by their ids. */
  #looks: { at: number; heights: Record<string, number | undefined> }[] = [];
  #blocks: BlockView[] = [];

  /** @param periodMs time between looks */
  constructor(private readonly periodMs: number) {}

  /** Records the heights of the nodes. A time without looks stays empty, because nothing is known of it. */
  note({ nodes }: EnvironmentModel, at: number): void {
    const last = this.#looks.at(-1)?.at ?? at;
    if ((at - last) * 1000 > gap * this.periodMs) this.#looks.push({ at: last + 1, heights: {} });
    this.#looks.push({ at, heights: Object.fromEntries(nodes.map(({ id, blockHeight }) => [id, blockHeight])) });
    this.#looks.splice(0, this.#looks.length - mostSamples);
  }

  /** Reads new blocks, but only a few. */
  async read(ask: Ask): Promise<void> {
    const newest = Number(await ask("eth_blockNumber", []));
    const known = this.#blocks[0]?.number ?? -1;
    if (newest < known) this.#blocks = []; // the chain went back
    const from = Math.max(newest < known ? 0 : known + 1, newest - mostBlocks + 1, 0);
    const numbers = Array.from({ length: newest - from + 1 }, (_, index) => newest - index);
    const blockAt = (number: number) => ask("eth_getBlockByNumber", [`0x${number.toString(16)}`, true]);
    const read = await Promise.all(numbers.map(blockAt));
    const fresh = read.flatMap((block) => (block ? [blockOf(block as RpcBlock)] : []));
    this.#blocks = [...fresh, ...this.#blocks].slice(0, mostBlocks);
  }

  view(noBlocks?: string): EnvironmentView {
    const nodes = Object.keys(this.#looks.at(-1)?.heights ?? {});
    const heights = nodes.map((id) => [id, this.#looks.map((look) => look.heights[id] ?? null)] as const);
    const times = this.#looks.map(({ at }) => at);
    const shown = noBlocks !== undefined && { noBlocks };
    return { times, heights: Object.fromEntries(heights), blocks: this.#blocks, ...shown };
  }
}

function blockOf({ number, hash, timestamp, transactions }: RpcBlock): BlockView {
  const shown = transactions.slice(0, mostTransactions).map((one): TransactionView => ({
    hash: one.hash,
    from: one.from,
    valueWei: BigInt(one.value).toString(),
    ...(one.to !== null && { to: one.to }),
  }));
  return { number: Number(number), hash, time: Number(timestamp), transactions: shown };
}
