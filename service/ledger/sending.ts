import type { Background } from "./background";
import type { ChainBase } from "./chain-base";
import type { Engine } from "./engine";
import type { Entry } from "./ledger-folder";
import { type Waiting, waitingIn } from "./pool";
import { type Answer, type Bounds, Excess } from "./rpc";
import type { Sealing } from "./sealing";

/** A change of a chain. */
export interface Job {
  /** Performs it and returns what to record before it is acknowledged. */
  act: (engine: Engine) => Promise<Entry | undefined>;
  /** Undoes it, since it could not be recorded. */
  undo?: (engine: Engine) => Promise<unknown>;
  /** Whether everything before it must be recorded first. */
  alone?: boolean;
}

/** How long a transaction waits for room in a full ledger (ms). */
const patience = 10_000;
const tooMuch =
  "The ledger has more blocks since its last snapshot than a start may take, or than fit in memory. Send the transaction again in a moment.";

/** Accepts transactions while there is room. */
export class Sending {
  /**
   * @param told has the chain do a job in its turn, and record it
   * @param receipt asks for a transaction's receipt
   */
  constructor(
    private readonly base: ChainBase,
    private readonly sealing: Sealing,
    private readonly background: Background,
    private readonly told: (job: Job) => Promise<void>,
    private readonly receipt: (hash: string) => Promise<Answer>,
  ) {}

  /** Accepts a transaction: records it, then answers. */
  async send(method: string, params: unknown[], { ms }: Bounds): Promise<Answer> {
    const { pool } = this.base;
    const end = performance.now() + ms;
    if (!(await this.#room(Math.min(end, performance.now() + patience)))) return refused(tooMuch);
    let answer: Answer = { result: null };
    await this.told({
      act: async (engine) => {
        const unsigned = method.startsWith("eth_sendTransaction");
        const signed = unsigned ? await engine.answer("eth_signTransaction", params) : { result: params[0] };
        answer = "error" in signed ? signed : await engine.send(signed.result as string);
        if ("error" in answer || "error" in signed) return undefined;
        const [hash, tx] = [answer.result as string, signed.result as string];
        const full = pool.add(hash, await known(engine, hash, tx));
        if (full === undefined) return { tx };
        await engine.answer("anvil_dropTransaction", [hash]);
        answer = refused(full);
        return undefined;
      },
      undo: async (engine) => {
        const { result } = answer as { result: string };
        pool.remove(result);
        await engine.answer("anvil_dropTransaction", [result]);
      },
    });
    return method.endsWith("Sync") && "result" in answer ? this.#mined(answer.result as string, end) : answer;
  }

  /** Waits until the ledger is not full. Returns whether it was in time. */
  async #room(end: number): Promise<boolean> {
    const { pool, tail } = this.base;
    while (tail.isFull(pool.weight)) {
      if (this.base.closed || performance.now() >= end) return false;
      await this.told({ alone: true, act: (engine) => this.sealing.room(engine).then(() => undefined) });
      await this.background.turn();
    }
    return true;
  }

  /** Waits for a transaction's receipt. */
  async #mined(hash: string, end: number): Promise<Answer> {
    while (!this.base.closed && performance.now() < end) {
      const answer = await this.receipt(hash);
      if ("error" in answer || answer.result !== null) return answer;
      await this.sealing.next();
    }
    throw new Excess("late");
  }
}

/** Asks an engine for a transaction that it took. Ends it if that fails: what is not recorded must not get into a block. */
async function known(engine: Engine, hash: string, tx: string): Promise<Waiting> {
  try {
    return await waitingIn(engine, hash, tx);
  } catch (error) {
    engine.end();
    throw error;
  }
}

const refused = (message: string): Answer => ({ error: { code: -32_000, message } });
