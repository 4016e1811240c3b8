import { createHash } from "node:crypto";
import { type Entity, firstStart, isGoing, stateAt, type Wire } from "./entities";
import type { Store } from "./store";
import type { Chain, Chains, Register } from "../ledger/chains";
import type { Base, Ledger } from "../context";
import { Refusal } from "../errors";
import { profileOf } from "../settings/settings";

/** How many accounts a chain has. Nodes come and go, but an account never passes to another member. */
export const accountsOfChain = 32;

type Environment = Entity<"environment">;
type Node = Entity<"node">;

const logLength = 1_000;

/** A node's address, for a caller with this Host header. */
export const runtimeOf = ({ origin }: Base, node: Node, host?: string) =>
  `${origin(host)}/runtime/${node.parent}/${node.id}`;

/** The ledgers that must exist, according to the store. */
export const registerOf = (store: Store): Register => ({
  all: () => store.all("ledger").map(({ id }) => id),
  has: (id) => store.get("ledger", id) !== undefined,
  add(id, profile) {
    const fields = profile ? { profile } : {};
    store.create({ kind: "ledger", id, parent: "", organization: "", due: undefined, fields });
  },
  profileOf: (id) => store.get("ledger", id)?.fields.profile,
  remove: (id) => store.remove(store.get("ledger", id)!),
  clock: store.clock,
});

/** Simulated chains: everything is derived from ids and the time. */
export class SimulatedLedger implements Ledger {
  constructor(protected readonly base: Base) {}

  status(environment: Environment, node: Node, host: string | undefined): Promise<Wire> {
    const now = this.base.clock();
    const nodes = this.base.store.children("node", environment.id);
    const validators = nodes.filter((one) => stateAt(one, now) === "started");
    const rpc = runtimeOf(this.base, node, host);
    const public_address = address("node", node.id);
    const private_address = Buffer.from(hex(32, "private", node.id), "hex").toString("base64");
    const isQuorum = this.base.settings.quirks.quorumStatus && environment.fields.provider === "quorum";
    return Promise.resolve({
      id: hex(64, "enode", node.id),
      ...(isQuorum
        ? { quorum: { public_address, private_address } }
        : { geth: { public_address, validators: validators.map(({ id }) => address("node", id)) } }),
      user_accounts: [simulatedAccount(node)],
      block_height: this.#height(environment, now),
      urls: { rpc, wss: rpc.replace(/^http/, "ws") },
    });
  }

  accountOf(node: Node): string | undefined {
    return simulatedAccount(node);
  }

  log(environment: Environment, node: Node, client: string): Promise<readonly string[]> {
    const now = this.base.clock();
    const start = this.startOfLog(node, client);
    if (stateAt(node, now) !== "started") return Promise.resolve(start);
    const height = this.#height(environment, now);
    const shown = Math.min(height, logLength);
    const period = environment.fields.block_period * 1_000;
    const blocks = Array.from({ length: shown }, (_, index) => {
      const block = height - shown + index + 1;
      const text = `Imported block number=${block} hash=${blockHash(environment, block)}`;
      return line(client, now - (height - block) * period, text);
    });
    return Promise.resolve([...start, ...blocks]);
  }

  states(environment: Environment, at: number): Wire[] {
    const height = this.#height(environment, at);
    return this.base.store.present("node", environment.id, at).map((node) => ({
      node_id: node.id,
      node_name: node.fields.name,
      state: stateAt(node, at),
      block_height: height,
      block_hash: blockHash(environment, height),
      state_root: hash("state", node.id, height),
      reported_at: new Date(at).toISOString(),
    }));
  }

  protected startOfLog(node: Node, client: string): string[] {
    const created = [`Starting node ${node.id}`, "Waiting for peers"].map((text) => line(client, node.createdAt, text));
    const at = firstStart(node, this.base.clock());
    return at === undefined ? created : [...created, line(client, at, "Node is started")];
  }

  /** One block per period since the first node started, except during pauses. */
  #height(environment: Environment, at: number): number {
    const started = this.base.store
      .present("node", environment.id, at)
      .map((node) => firstStart(node, at))
      .filter((time) => time !== undefined);
    if (started.length === 0) return 0;
    const { since = Infinity, before = 0 } = environment.fields.pause ?? {};
    const passed = Math.min(at, since) - before - Math.min(...started);
    return Math.max(0, Math.floor(passed / (environment.fields.block_period * 1_000)));
  }
}

const simulatedAccount = ({ id }: Node) => address("account", id);
const blockHash = ({ id }: Environment, height: number) => hash("block", id, height);
const line = (client: string, at: number, text: string) => `${new Date(at).toISOString()} INFO [${client}] ${text}`;

/** One chain for each environment. Data that a chain does not have is simulated. */
export class RealLedger extends SimulatedLedger {
  constructor(
    base: Base,
    private readonly chains: Chains,
  ) {
    super(base);
  }

  chain({ id }: Pick<Environment, "id">): Promise<Chain> {
    const now = this.base.store.get("environment", id);
    if (!now || isGoing(now)) return Promise.reject(new Refusal(409, `The environment ${id} is being deleted.`));
    if (now.state === "paused")
      return Promise.reject(
        new Refusal(503, `The environment ${id} is paused: its ledger answers once it is resumed.`),
      );
    const { chain_id: chainId, block_period, provider, consensus_type, prefunded_accounts: prefunded } = now.fields;
    const profile = profileOf(provider, consensus_type, this.base.settings.quirks);
    const spec = { key: id, chainId, accounts: accountsOfChain, prefunded, profile };
    // raft makes a block when there is a transaction, the others every period
    return this.chains.get(consensus_type === "raft" ? spec : { ...spec, period: block_period });
  }

  /** Starts the chain in the background. If that fails, later calls get the error. */
  prepare(environment: Environment): void {
    this.#begin(environment).catch(() => undefined);
  }

  pause({ id }: Environment): void {
    this.chains.stop(id).catch(this.base.report);
  }

  override accountOf(node: Node): string | undefined {
    return node.fields.first_user_account;
  }

  /** Starts a chain, and stores the accounts of its nodes, so that reads of nodes do not wait for it. */
  async #begin(environment: Environment): Promise<void> {
    const chain = await this.chain(environment);
    const { store } = this.base;
    for (const { id, fields } of store.children("node", environment.id)) {
      if (fields.first_user_account !== undefined) continue;
      const node = store.get("node", id)!;
      const first_user_account = this.account(chain.accounts, node);
      store.put([{ ...node, fields: { ...node.fields, first_user_account } }]);
    }
  }

  account = (accounts: readonly string[], node: Node): string => accounts[node.fields.account ?? 0]!;

  resume(): void {
    const { store } = this.base;
    const environments = store.all("environment").filter(({ id }) => store.children("node", id).length > 0);
    for (const environment of environments) this.prepare(environment);
  }

  override async status(environment: Environment, node: Node, host: string | undefined): Promise<Wire> {
    const simulated = await super.status(environment, node, host);
    const chain = await this.chain(environment);
    const own = this.account(chain.accounts, node);
    const sealers = "geth" in simulated && { geth: { public_address: own, validators: [chain.sealer] } };
    return { ...simulated, ...sealers, block_height: chain.height, user_accounts: [own] };
  }

  /** The chain's latest lines. Constellation does not run, so its log shows only the start. */
  override async log(environment: Environment, node: Node, client: string): Promise<readonly string[]> {
    const start = this.startOfLog(node, client);
    if (client !== "geth" || stateAt(node, this.base.clock()) !== "started") return start;
    return [...start, ...(await this.chain(environment)).lines];
  }

  async statesNow(environment: Environment): Promise<Wire[]> {
    const now = this.base.clock();
    const chain = await this.chain(environment);
    type Block = { number: string; hash: string; stateRoot: string };
    const block = await chain.call<Block>("eth_getBlockByNumber", ["latest", false]);
    const ledger = { block_height: Number(block.number), block_hash: block.hash, state_root: block.stateRoot };
    return this.base.store.children("node", environment.id).map((node) => ({
      node_id: node.id,
      ...(node.fields.name === undefined ? {} : { node_name: node.fields.name }),
      environment_id: environment.id,
      state: stateAt(node, now),
      ...(stateAt(node, now) === "started" ? ledger : {}),
      reported_at: new Date(now).toISOString(),
    }));
  }
}

/** Hexadecimal digits of this many bytes, always the same for the same words. */
function hex(bytes: number, ...words: (string | number)[]): string {
  let digits = "";
  for (let round = 0; digits.length < bytes * 2; round++) {
    digits += createHash("sha256")
      .update([round, ...words].join("/"))
      .digest("hex");
  }
  return digits.slice(0, bytes * 2);
}

export const address = (...words: (string | number)[]) => `0x${hex(20, ...words)}`;
export const hash = (...words: (string | number)[]) => `0x${hex(32, ...words)}`;
