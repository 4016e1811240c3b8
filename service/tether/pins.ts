import type { Base } from "../context";
import { Refusal } from "../errors";
import type { RealLedger } from "../store/ledgers";
import type { Entity, FieldsOf, Network, Signed } from "../store/entities";
import type { Accounts } from "./accounts";
import type { Deployments } from "./deployments";
import type { Target } from "./targets";
import { environmentToPin, reportOf } from "./tethering";
import {
  blockOf,
  contradicted,
  deep,
  depthOf,
  finalBlock,
  isThere,
  keccak,
  Lasting,
  type Mined,
  minedAs,
  type Outcome,
  pinCount,
  pinData,
  pinnedAt,
  raised,
  Rejected,
  send,
  settled,
  signed,
  usedBy,
} from "./transactions";

/** Pause before retrying a failed pin, and between looks at reports whose blocks may still be replaced (ms). */
const retryMs = 2_000;

/** What a tether says while reports are not on the network. */
export const replacedText = (indexes: readonly number[]) =>
  `The public network replaced the block of report ${indexes.join(", ")}, which is sent again and does not hold until then.`;

type Report = Entity<"report">;
type Pinning = NonNullable<FieldsOf["tether"]["pinning"]>;

/** The reports of tethers. Each is pinned by a transaction. */
export class Pins {
  /** The last block that was seen of each network, while all open reports were below it. */
  readonly #heads = new Map<string, Partial<Record<Network, { number: number; hash: string }>>>();
  /** Reports whose nonce another transaction seems to have used. */
  readonly #used = new Map<string, Lasting>();

  constructor(
    private readonly base: Base,
    private readonly ledger: RealLedger,
    private readonly accounts: Accounts,
    private readonly deployments: Deployments,
    private readonly signal: AbortSignal,
    /** Is told of a report whose block may still be replaced. */
    private readonly opened: (id: string) => void,
  ) {}

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
    const inStep = nextPin + (Math.floor(Math.max(0, clock() - nextPin) / step) + 1) * step; // missed reports are not repeated
    const next = problem === undefined ? inStep : Math.min(inStep, clock() + retryMs);
    store.setFields("tether", id, { nextPin: next });
    return next;
  }

  /** Makes a report. Returns the reason if that fails. */
  async #pin(id: string): Promise<string | undefined> {
    const { network, pinning: begun } = this.#get(id).fields;
    const net = begun?.network ?? network!;
    const target = await this.accounts.target(id, net);
    const none = `There is no contract on ${net}. Deploy it.`;
    if (!(await this.deployments.isDeployed(id, net, false))) return this.#get(id).fields.problem ?? none;
    const contract = this.#get(id).fields.contracts![net]!;
    const pinning = begun ?? (await this.#begin(id, net, await this.#next(id, target, contract.address)));
    const outcome = await this.#send(id, target, contract.address, pinning);
    if (outcome === "void") {
      if (await this.deployments.isDeployed(id, net, false))
        this.base.store.setFields("tether", id, { pinning: undefined });
      return this.#get(id).fields.problem ?? "The transaction was lost. Another one is sent.";
    }
    const mined = outcome === "done" ? await pinnedAt(target, contract.address, pinning.index) : outcome;
    const fresh = this.#get(id);
    const place = { network: net, chain_id: contract.chainId, contract_address: contract.address };
    const pin = { ...place, ...mined, contract_index: pinning.index, hash: pinning.hash };
    // The chains of this service replace no block.
    const sent = target.local ? undefined : fresh.fields.pinning?.transaction;
    const { reports, firstOpen = sent && reports } = fresh.fields;
    const report = reportOf(fresh, pinning.at, { states: pinning.states, pin, ...(sent && { sent }) });
    const fields = { ...fresh.fields, reports: reports + 1, pinning: undefined, firstOpen };
    this.base.store.put([report, { ...fresh, changedAt: this.base.clock(), fields }]);
    if (sent) {
      this.#heads.delete(id);
      this.opened(id);
    }
    return undefined;
  }

  /** The index of the next pin in the contract. @throws while the network lacks the one before it, whose place it would take */
  async #next(id: string, target: Target, contract: string): Promise<number> {
    const [count, last] = [await pinCount(target, contract), this.#get(id).fields.reports - 1];
    const { pin, sent } = this.base.store.get("report", `${id}:${last}`)?.fields ?? {};
    if (sent && pin?.contract_address === contract && count <= pin.contract_index) {
      this.#heads.delete(id);
      throw new Error(replacedText([last]));
    }
    return count;
  }

  async #begin(id: string, network: Network, index: number): Promise<Pinning> {
    const environment = environmentToPin(this.base, this.#get(id), false);
    const states = await this.ledger.statesNow(environment);
    return { network, index, hash: keccak(canonicalJson(states)), states, at: this.base.clock() };
  }

  /** Sends the transaction, or the recorded one if it exists. */
  async #send(id: string, target: Target, contract: string, pinning: Pinning): Promise<Outcome> {
    const { index, hash } = pinning;
    const note = (made: Pinning["transaction"]) =>
      this.base.store.setFields("tether", id, { pinning: { ...pinning, transaction: made } });
    const isDone = async () => (await pinCount(target, contract)) > index;
    const fresh = pinning.transaction === undefined;
    if (fresh && (await isDone())) return "done";
    const transaction =
      pinning.transaction ??
      (await signed(target, this.accounts.key(id), { to: contract, data: pinData(index, hash) }));
    if (fresh) note(transaction); // on disk before it is sent, so that a restart sends the same one again
    await this.base.store.synced();
    const raise = (made: Signed) => this.#raised(id, target, made, note);
    const { interval = 1 } = this.#get(id).fields;
    const onDemandMs = Math.min(deep.ms, interval * this.base.settings.timing.tetherHour);
    const watched = {
      fresh,
      isDone,
      raise,
      signal: this.signal,
      ...(!target.local && { isDeep: depthOf(target, onDemandMs) }),
    };
    return settled(target, this.accounts.address(id), transaction, watched).catch((error: unknown) => {
      if (error instanceof Rejected) note(undefined);
      throw error;
    });
  }

  /** The transaction with a higher fee, if it needs one. It is on disk before it is sent; meanwhile, the tether says so. */
  async #raised(
    id: string,
    target: Target,
    made: Signed,
    note: (made: Signed) => unknown,
  ): Promise<Signed | undefined> {
    const say = (problem: string) => this.base.store.setFields("tether", id, { problem });
    try {
      const higher = await raised(target, this.accounts.key(id), made);
      if (!higher) return undefined;
      note(higher);
      say(
        `The base fee on ${target.network} has risen. The pin was sent again with a fee of up to ${higher.fee} wei per gas.`,
      );
      await this.base.store.synced();
      return higher;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      say(error.message);
      return undefined;
    }
  }

  /** Looks whether the reports of a tether whose blocks are not final are still there, and sends others again. Returns when to look next. */
  async mend(id: string): Promise<number | undefined> {
    await this.#mend(id).catch(() => this.#heads.delete(id)); // such as a network that does not answer
    const isOpen = this.#get(id).fields.firstOpen !== undefined && !this.signal.aborted;
    return isOpen ? Date.now() + retryMs : undefined;
  }

  async #mend(id: string): Promise<void> {
    const { store } = this.base;
    const views = new Map<Network, Awaited<ReturnType<Pins["view"]>>>();
    const lost: number[] = [];
    let open: number | undefined;
    const { firstOpen = 0 } = this.#get(id).fields;
    for (let index = firstOpen; index < this.#get(id).fields.reports; index++) {
      const report = store.get("report", `${id}:${index}`);
      const { pin, sent } = report?.fields ?? {};
      if (!report || !pin || !sent) continue;
      const { network } = pin;
      const seen = views.get(network) ?? (await this.view(id, network));
      views.set(network, seen);
      const mined = seen.isSame ? (pin as unknown as Mined) : await this.#minedAgain(id, seen.target, report);
      const isFinal = mined !== undefined && mined.block_number <= seen.final;
      if (isFinal || (mined && !seen.isSame))
        this.#put(report, { ...pin, ...placeOf(mined) }, isFinal ? undefined : sent);
      if (!mined) lost.push(index);
      if (!isFinal) open ??= index;
    }
    if (lost.length > 0) this.#heads.delete(id);
    store.setFields("tether", id, { firstOpen: open, replaced: lost.length > 0 ? lost : undefined });
  }

  /** A network as it is now: whether it has only added blocks since the last look, and the last block that stays for ever. */
  private async view(id: string, network: Network) {
    const target = await this.accounts.target(id, network);
    const heads = this.#heads.get(id) ?? {}; // once they are deleted, this look notes nothing
    this.#heads.set(id, heads);
    const [head, before] = [await blockOf(target, "latest"), heads[network]];
    const isSame = before !== undefined && (await blockOf(target, before.number)).hash === before.hash;
    heads[network] = head;
    return { target, isSame, final: await finalBlock(target, head.number) };
  }

  /** The place of a report that the network may have lost. It is sent again. undefined: no block has it at present. */
  async #minedAgain(id: string, target: Target, report: Report): Promise<Mined | undefined> {
    const { pin, sent } = report.fields;
    const { contract_address: to, contract_index: index, hash } = pin!;
    const mined = await minedAs(target, sent!).catch((error: unknown) => {
      if (!(error instanceof Rejected)) throw error;
    });
    if (mined) return mined;
    const contract = this.#get(id).fields.contracts?.[target.network];
    if (!(await isThere(target, to))) {
      if (contract?.address === to) await send(target, contract.transaction, false);
    } else if ((await pinCount(target, to)) > index) return pinnedAt(target, to, index);
    const nonce = await usedBy(target, this.accounts.address(id));
    const used = this.#used.get(report.id) ?? new Lasting(contradicted);
    this.#used.set(report.id, used);
    const key = this.accounts.key(id);
    const made = used.holds(nonce > sent!.nonce)
      ? await signed(target, key, { to, data: pinData(index, hash) })
      : await raised(target, key, sent!);
    if (made) this.#put(report, pin, made);
    await this.base.store.synced();
    await send(target, made ?? sent!, false);
    return undefined;
  }

  #put(report: Report, pin: Report["fields"]["pin"], sent: Signed | undefined): void {
    const fields = { ...report.fields, pin: pin!, sent };
    this.base.store.put([{ ...report, changedAt: this.base.clock(), fields }]);
    if (!sent) this.#used.delete(report.id);
  }

  #get = (id: string) => this.base.store.get("tether", id)!;
}

const placeOf = ({ transaction_hash, block_number }: Mined): Mined => ({ transaction_hash, block_number });

/** JSON without white space, with the keys of each object sorted (RFC 8785): the same text for the same content. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, inner]) => `${JSON.stringify(key)}:${canonicalJson(inner)}`).join(",")}}`;
}
