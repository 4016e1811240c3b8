import type { Base } from "../context";
import type { RealLedger } from "../ledger/ledger";
import type { FieldsOf, Network } from "../store/entities";
import type { Accounts } from "./accounts";
import { keccak, type Mined, pinCount, pinData, pinnedAt, Rejected, settled, signed } from "./transactions";
import type { Deployments } from "./deployments";
import type { Target } from "./targets";
import { boundEnvironment, reportOf } from "./tethering";

/** How soon a report that could not be pinned is tried again, ms: not as late as the next one is due. */
const retryMs = 2_000;

type Pinning = NonNullable<FieldsOf["tether"]["pinning"]>;

/** The reports of tethers, each pinned by a transaction. */
export class Pins {
  constructor(
    private readonly base: Base,
    private readonly ledger: RealLedger,
    private readonly accounts: Accounts,
    private readonly deployments: Deployments,
    private readonly signal: AbortSignal,
  ) {}

  /** Makes the report that is due, if one is; answers when the next one is. */
  async pinIfDue(id: string): Promise<number | undefined> {
    const { clock, settings, store } = this.base;
    const { active, nextPin, interval } = this.#get(id).fields;
    if (!active || nextPin === undefined || interval === undefined || nextPin > clock()) return nextPin;
    const step = interval * settings.timing.tetherHour;
    const problem = await this.#pin(id).catch((error: Error) => error.message);
    if (this.signal.aborted) return undefined;
    if (this.#get(id).fields.problem !== problem) store.setFields("tether", id, { problem });
    const still = this.#get(id).fields;
    if (!still.active) return undefined;
    if (still.nextPin !== nextPin) return still.nextPin; // activated again meanwhile
    const inStep = nextPin + (Math.floor(Math.max(0, clock() - nextPin) / step) + 1) * step; // what was missed stays out
    const next = problem === undefined ? inStep : Math.min(inStep, clock() + retryMs);
    store.setFields("tether", id, { nextPin: next });
    return next;
  }

  /** @returns why there is none, if there is no report */
  async #pin(id: string): Promise<string | undefined> {
    const { network, contracts = {}, pinning: begun } = this.#get(id).fields;
    const net = begun?.network ?? network!;
    const contract = contracts[net];
    if (!contract) return `There is no contract on ${net}. Deploy it.`;
    const target = await this.accounts.target(id, net);
    if (!(await this.deployments.isDeployed(id, net))) return this.#get(id).fields.problem;
    const pinning = begun ?? (await this.#begin(id, net, await pinCount(target, contract.address)));
    let mined = await this.#send(id, target, contract.address, pinning);
    if (!mined && (await pinCount(target, contract.address)) <= pinning.index) {
      if (await this.deployments.isDeployed(id, net)) this.base.store.setFields("tether", id, { pinning: undefined });
      return this.#get(id).fields.problem ?? "The transaction was lost, and is made again.";
    }
    mined ??= await pinnedAt(target, contract.address, pinning.index);
    const fresh = this.#get(id);
    const place = { network: net, chain_id: contract.chainId, contract_address: contract.address };
    const pin = { ...place, ...mined, contract_index: pinning.index, hash: pinning.hash };
    const report = reportOf(fresh, pinning.at, { states: pinning.states, pin });
    const fields = { ...fresh.fields, reports: fresh.fields.reports + 1, pinning: undefined };
    this.base.store.put([report, { ...fresh, changedAt: this.base.clock(), fields }]);
    return undefined;
  }

  async #begin(id: string, network: Network, index: number): Promise<Pinning> {
    const environment = boundEnvironment(this.base, this.#get(id));
    if (!environment) throw new Error("The environment to pin does not exist.");
    const states = await this.ledger.statesNow(environment);
    return { network, index, hash: reportHash(states), states, at: this.base.clock() };
  }

  /** Sends the transaction, the noted one if there is one; undefined if it is not, or will not be, in a block. */
  async #send(id: string, target: Target, contract: string, pinning: Pinning): Promise<Mined | undefined> {
    const { index, hash } = pinning;
    const note = (made: Pinning["transaction"]) =>
      this.base.store.setFields("tether", id, { pinning: { ...pinning, transaction: made } });
    let { transaction } = pinning;
    if (!transaction && (await pinCount(target, contract)) <= index) {
      transaction = await signed(target, this.accounts.key(id), { to: contract, data: pinData(index, hash) });
      note(transaction); // on disk before it is sent: after a crash it is sent again, and not another one
      await this.base.store.synced();
    }
    if (!transaction) return undefined;
    return settled(target, this.accounts.address(id), transaction, this.signal).catch((error: unknown) => {
      if (error instanceof Rejected) note(undefined);
      throw error;
    });
  }

  #get = (id: string) => this.base.store.get("tether", id)!;
}

/** The hash of a report, which is what a tether pins: Keccak-256 of its canonical JSON. A simulated tether pins nothing. */
export const reportHash = (states: readonly unknown[]): string => keccak(canonicalJson(states));

/** JSON without white space, with the keys of each object sorted (RFC 8785): the same text for the same content. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, inner]) => `${JSON.stringify(key)}:${canonicalJson(inner)}`).join(",")}}`;
}
