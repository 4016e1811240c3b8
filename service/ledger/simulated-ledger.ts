import type { Base } from "../base";
import type { Wire } from "../store/entities";
import { stateAt } from "../store/states-over-time";
import type { Environment, Ledger, Node } from "./ledger";
import { address, hash, hex } from "./simulated-hashes";

const logLength = 1_000;

/** Chains that exist as numbers only: all follows from the ids and the time. */
export class SimulatedLedger implements Ledger {
  constructor(protected readonly base: Base) {}

  prepare(_environment: Environment): void {
    return undefined;
  }

  status(environment: Environment, node: Node, host: string | undefined): Promise<Wire> {
    const now = this.base.clock();
    const nodes = this.base.store.children("node", environment.id);
    const validators = nodes.filter((one) => stateAt(one, now) === "started");
    const rpc = `${this.base.origin(host)}/runtime/${environment.id}/${node.id}`;
    return Promise.resolve({
      id: hex(64, "enode", node.id),
      geth: {
        public_address: address("node", node.id),
        validators: validators.map(({ id }) => address("node", id)),
      },
      user_accounts: [address("account", node.id)],
      block_height: this.#height(environment, now),
      urls: { rpc, wss: rpc.replace(/^http/, "ws") },
    });
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

  /** The state of every node at a time, for a report. */
  states(environment: Environment, at: number): Wire[] {
    const height = this.#height(environment, at);
    return this.base.store.listed("node", environment.id, at).map((node) => ({
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
    const started = line(client, node.due ?? node.changedAt, "Node is started");
    return stateAt(node, this.base.clock()) === "started" ? [...created, started] : created;
  }

  /** A block each period since its first node was there. */
  #height(environment: Environment, at: number): number {
    const started = this.base.store
      .listed("node", environment.id, at)
      .filter((node) => stateAt(node, at) === "started")
      .map((node) => node.due ?? node.changedAt);
    if (started.length === 0) return 0;
    return Math.floor((at - Math.min(...started)) / (environment.fields.block_period * 1_000));
  }
}

const blockHash = ({ id }: Environment, height: number) => hash("block", id, height);
const line = (client: string, at: number, text: string) => `${new Date(at).toISOString()} INFO [${client}] ${text}`;
