import { Refusal } from "../errors";
import { type Engine, type Head, weightOf } from "./engine";
import type { Entry, LedgerFolder } from "./ledger-folder";

/** Takes an engine at its genesis through what a chain was told. It can go on later with what was noted meanwhile. */
export class Replay {
  /** About how many bytes an engine takes for what is in each journal. */
  readonly weights = new Map<string, number>();
  /** What was given once only. */
  readonly given = new Set<string>();
  /** Blocks of the journal that it is in. */
  blocks = 0;
  readonly #sent = new Map<string, string>();
  #last: { number: number; parent: string } | undefined;
  #begun = false;
  /** Where it is: a journal, and how many of its entries are done. */
  #at: { name: string; entries: number } | undefined;

  constructor(
    private readonly engine: Engine,
    private readonly folder: LedgerFolder,
    private readonly stopped: () => boolean,
  ) {}

  /**
   * Goes on to the end of some journals.
   *
   * @param begin the file of the state to begin with; without it, the genesis
   * @returns the block where it is then
   */
  async to(journals: LedgerFolder["journals"], begin?: string): Promise<Head> {
    if (!this.#begun && begin !== undefined) await this.engine.load(begin);
    this.#begun = true;
    const from = journals.findIndex(({ name }) => name === this.#at?.name);
    for (const { name } of journals.slice(Math.max(0, from))) await this.#through(name);
    const head = await this.engine.head();
    const wanted = this.#last;
    if (wanted && (head.number !== wanted.number || head.parent !== wanted.parent))
      throw new Refusal(503, `The ledger does not start: block ${wanted.number} does not come out as it was.`);
    return head;
  }

  /** Transactions that no block has yet, by their hash, in the order in which they came. */
  async waiting(): Promise<Map<string, string>> {
    const all = [...this.#sent];
    const still = await Promise.all(all.map(([hash]) => isWaiting(this.engine, hash)));
    return new Map(all.filter((_, index) => still[index]));
  }

  async #through(name: string): Promise<void> {
    if (this.#at?.name !== name) {
      this.#at = { name, entries: 0 };
      this.blocks = 0;
    }
    for (const entry of this.folder.entriesOf(name).slice(this.#at.entries)) {
      if (this.stopped()) throw stopping();
      const hash = await tell(this.engine, entry, this.given);
      if (hash !== undefined && "tx" in entry) this.#sent.set(hash, entry.tx);
      const weight = weightIn(entry);
      this.weights.set(name, (this.weights.get(name) ?? 0) + weight);
      this.engine.gained(weight);
      if ("seal" in entry) {
        this.#last = { number: entry.seal[0], parent: entry.seal[2] };
        this.blocks++;
      }
      this.#at.entries++;
    }
  }
}

export const stopping = () => new Refusal(503, "The service is stopping.");

const weightIn = (entry: Entry) =>
  "seal" in entry ? weightOf(1, 0, entry.seal[3] ?? 0) : "tx" in entry ? weightOf(0, 1, 0) : 0;

async function isWaiting(engine: Engine, hash: string): Promise<boolean> {
  const found = await engine.call<{ blockHash: string | null } | null>("eth_getTransactionByHash", [hash]);
  return found !== null && found.blockHash === null;
}

/** Tells an engine something that a chain was told. @returns the hash of a transaction that it took */
export async function tell(engine: Engine, entry: Entry, given: Set<string>): Promise<string | undefined> {
  if ("seal" in entry) await engine.seal(entry.seal[1]);
  else if ("give" in entry) {
    const [account, wei] = entry.give;
    await engine.call("anvil_addBalance", [account, `0x${BigInt(wei).toString(16)}`]);
    if (entry.once !== undefined) given.add(entry.once);
  } else if ("given" in entry) entry.given.forEach((one) => given.add(one));
  else {
    const answer = await engine.send(entry.tx);
    if ("result" in answer) return answer.result as string; // else it waits already: a journal begins with what does
  }
  return undefined;
}
