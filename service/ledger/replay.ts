import { Refusal } from "../errors";
import { type Engine, type Head, weightOf } from "./engine";
import type { ChainBase } from "./chain-base";
import type { Entry, Segment } from "./ledger-folder";
import { type Waiting, waitingOf } from "./pool";
import type { Load } from "./tail";

/** A replayed block differs from the recorded one. */
export class Differs extends Refusal {
  constructor(number: number) {
    super(503, `The ledger does not start: block ${number} cannot be reproduced.`);
  }
}

/** Takes an engine from its genesis through a chain's input. It can go on later with what was recorded meanwhile. */
export class Replay {
  /** The load of each segment. */
  readonly loads = new Map<string, Load>();
  /** Names of the payments that must not be made again. */
  readonly given = new Set<string>();
  readonly #sent = new Map<string, string>();
  #last: { number: number; parent: string | null } | undefined;
  #begun = false;
  /** Where it is: a segment, and how many of its entries are done. */
  #at: { name: string; entries: number } | undefined;

  constructor(
    private readonly engine: Engine,
    private readonly base: ChainBase,
  ) {}

  /**
   * Goes on to the end of some segments.
   *
   * @param begin the file of the state to begin with; without it, the genesis
   * @returns the block where it is then
   */
  async to(segments: readonly Segment[], begin?: string): Promise<Head> {
    if (!this.#begun && begin !== undefined) await this.engine.load(begin);
    this.#begun = true;
    const from = segments.findIndex(({ name }) => name === this.#at?.name);
    for (const { name, after } of segments.slice(Math.max(0, from))) {
      const isBegun = after === undefined || this.#at?.name === name;
      if (!isBegun && (await this.engine.head()).hash !== after.hash) throw new Differs(after.number);
      await this.#through(name);
    }
    const head = await this.engine.head();
    const wanted = this.#last;
    if (wanted && (head.number !== wanted.number || (wanted.parent !== null && head.parent !== wanted.parent)))
      throw new Differs(wanted.number);
    return head;
  }

  /** Transactions that wait for a block, by hash, in the order in which they came. */
  waiting(): Promise<Map<string, Waiting>> {
    return waitingOf(this.engine, this.#sent);
  }

  async #through(name: string): Promise<void> {
    if (this.#at?.name !== name) this.#at = { name, entries: 0 };
    const load = this.loads.get(name) ?? { blocks: 0, weight: 0, bytes: 0 };
    this.loads.set(name, load);
    const { folder } = this.base;
    load.bytes = folder.bytesOf(name);
    for (const step of steps(folder.entriesOf(name).slice(this.#at.entries))) {
      if (this.base.closed) throw stopping();
      const [entry] = step;
      if (step.length > 1) {
        const [first, second] = step.filter(isSeal).map(({ seal }) => seal[1]) as [number, number];
        await this.engine.sealMany(first, step.length, second - first);
      } else {
        const hash = await tell(this.engine, entry, this.given);
        if (hash !== undefined && "tx" in entry) this.#sent.set(hash, entry.tx);
      }
      for (const { seal } of step.filter(isSeal)) {
        this.#last = { number: seal[0], parent: seal[2] };
        load.blocks++;
      }
      const weight = step.reduce((sum, one) => sum + weightIn(one), 0);
      load.weight += weight;
      this.engine.weight += weight;
      this.#at.entries += step.length;
    }
  }
}

type Seal = Extract<Entry, { seal: unknown }>;
const isSeal = (entry: Entry): entry is Seal => "seal" in entry;
/** Blocks that are made with one call. A stop waits for that. */
const mostAtOnce = 256;

/** Groups blocks that come at equal intervals without anything between. All other entries come one by one. */
function steps(entries: readonly Entry[]): [Entry, ...Entry[]][] {
  const found: [Entry, ...Entry[]][] = [];
  for (const entry of entries) {
    const last = found.at(-1);
    if (last && goesOn(last, entry)) last.push(entry);
    else found.push([entry]);
  }
  return found;
}

function goesOn(step: readonly Entry[], entry: Entry): boolean {
  const [first, second] = step;
  const before = step.at(-1)!;
  if (!isSeal(entry) || !first || !isSeal(first) || !isSeal(before) || step.length === mostAtOnce) return false;
  if (!second || !isSeal(second)) return true;
  return entry.seal[1] - before.seal[1] === second.seal[1] - first.seal[1];
}

export const stopping = () => new Refusal(503, "The service is stopping.");

const weightIn = (entry: Entry) =>
  "seal" in entry ? weightOf(1, 0, entry.seal[3] ?? 0) : "tx" in entry ? weightOf(0, 1, 0) : 0;

/** Tells an engine one entry. Returns the hash of a transaction that it took. */
export async function tell(engine: Engine, entry: Entry, given: Set<string>): Promise<string | undefined> {
  if ("seal" in entry) await engine.seal(entry.seal[1]);
  else if ("give" in entry) {
    const [account, wei] = entry.give;
    await engine.call("anvil_addBalance", [account, `0x${BigInt(wei).toString(16)}`]);
    if (entry.once !== undefined) given.add(entry.once);
  } else if ("given" in entry) entry.given.forEach((one) => given.add(one));
  else {
    const answer = await engine.send(entry.tx);
    if ("result" in answer) return answer.result as string; // else it waits already: a segment begins with what waits
  }
  return undefined;
}
