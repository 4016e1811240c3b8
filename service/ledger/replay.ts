import { Refusal } from "../errors";
import type { ChainBase } from "./chain-base";
import type { Engine } from "./engine";
import type { Entry, Snapshot } from "./ledger-data";
import { type Waiting, waitingOf } from "./pool";
import type { Answer } from "./rpc";

/** A replayed block differs from the original one. */
export class Differs extends Refusal {
  constructor(number: number) {
    super(503, `The ledger does not start: block ${number} cannot be reproduced.`);
  }
}

/** Replays a chain's input in an engine, from its genesis or a snapshot. */
export class Replay {
  readonly #sent = new Map<string, string>();

  private constructor(
    readonly engine: Engine,
    private readonly base: ChainBase,
    public next: number,
  ) {}

  static async begin(engine: Engine, base: ChainBase, snapshot?: Snapshot): Promise<Replay> {
    const replay = new Replay(engine, base, snapshot?.next ?? 0);
    if (snapshot) await engine.load(await base.data.stateOf(snapshot));
    for (const tx of snapshot?.waiting ?? []) await replay.#tell({ tx });
    return replay;
  }

  /** Goes on to the last entry. Keeps blocks that were recorded but not kept. */
  async on(): Promise<void> {
    const { data } = this.base;
    if (data.height < 0) await this.#keep(0);
    for await (const [at, entry] of data.entries(this.next)) {
      if (this.base.closed) throw stopping();
      await this.#tell(entry);
      this.next = at + 1;
      if (!("seal" in entry) || entry.seal[0] < data.height) continue;
      if (entry.seal[0] === data.height) await this.#compare();
      else await this.#keep(entry.seal[0]);
    }
    await this.#compare();
  }

  /** Transactions that wait for a block, by hash, in order of arrival. */
  waiting(): Promise<Map<string, Waiting>> {
    return waitingOf(this.engine, this.#sent);
  }

  async #keep(number: number): Promise<void> {
    const made = await this.engine.made(number, (hash) => this.#sent.get(hash));
    this.base.keep(await this.base.seal(made));
  }

  /** A block's hash also covers all blocks before it. */
  async #compare(): Promise<void> {
    const { number, hash } = await this.engine.head();
    if ((await this.base.data.sealed(Number(number)))?.made !== hash) throw new Differs(Number(number));
  }

  async #tell(entry: Entry): Promise<void> {
    const answer = await tell(this.engine, entry);
    // otherwise, another one has replaced it
    if (answer && "result" in answer && "tx" in entry) this.#sent.set(answer.result as string, entry.tx);
  }
}

export const stopping = () => new Refusal(503, "The service is stopping.");

/** Gives an engine one entry. Returns its answer to a transaction. */
export async function tell(engine: Engine, entry: Entry): Promise<Answer | undefined> {
  if ("seal" in entry) await engine.seal(entry.seal[1]);
  else if ("give" in entry) {
    const [account, wei] = entry.give;
    await engine.call("anvil_addBalance", [account, `0x${BigInt(wei).toString(16)}`]);
  } else return engine.send(entry.tx);
  return undefined;
}
