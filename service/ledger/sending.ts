import type { Background } from "./background";
import type { Engine } from "./engine";
import type { Entry } from "./ledger-folder";
import { type Pool, type Waiting, waitingIn } from "./pool";
import { type Answer, type Bounds, Excess } from "./rpc";
import type { Sealing } from "./sealing";
import type { Tail } from "./tail";

/** A request to a chain. */
export interface Job {
  /** Performs it and returns what to record before it is acknowledged. */
  act: (engine: Engine) => Promise<Entry | undefined>;
  /** Undoes it, since it could not be recorded. */
  undo?: (engine: Engine) => Promise<unknown>;
  /** Whether everything before it must be recorded first. */
  alone?: boolean;
}

/** What is needed of a chain to take transactions. */
interface Taking {
  pool: Pool;
  tail: Tail;
  sealing: Sealing;
  background: Background;
  told: (job: Job) => Promise<void>;
  ask: (method: string, params: unknown[]) => Promise<Answer>;
  closed: () => boolean;
}

/** How long a transaction waits for room in a full ledger (ms). */
const patience = 10_000;
const tooMuch =
  "The ledger has more blocks since its last snapshot than a start may take, or than fit in memory. Send the transaction again in a moment.";

/** Accepts transactions while there is room. */
export class Sending {
  constructor(private readonly chain: Taking) {}

  /** Accepts a transaction: records it, then answers. */
  async send(method: string, params: unknown[], { ms }: Bounds): Promise<Answer> {
    const { pool, told } = this.chain;
    const end = performance.now() + ms;
    if (!(await this.#room(Math.min(end, performance.now() + patience)))) return refused(tooMuch);
    let answer: Answer = { result: null };
    await told({
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
    return method.endsWith("Sync") && "result" in answer ? this.#receipt(answer.result as string, end) : answer;
  }

  /** Waits until the ledger is not full. @returns whether it became so in time */
  async #room(end: number): Promise<boolean> {
    const { background, closed, pool, sealing, tail, told } = this.chain;
    while (tail.isFull(pool.weight)) {
      if (closed() || performance.now() >= end) return false;
      await told({ alone: true, act: (engine) => sealing.room(engine).then(() => undefined) });
      await background.turn();
    }
    return true;
  }

  async #receipt(hash: string, end: number): Promise<Answer> {
    const { ask, closed, sealing } = this.chain;
    while (!closed() && performance.now() < end) {
      const answer = await ask("eth_getTransactionReceipt", [hash]);
      if ("error" in answer || answer.result !== null) return answer;
      await sealing.next();
    }
    throw new Excess("late");
  }
}

/** A transaction that is in an engine but not recorded must not get into a block. */
async function known(engine: Engine, hash: string, tx: string): Promise<Waiting> {
  try {
    return await waitingIn(engine, hash, tx);
  } catch (error) {
    engine.end();
    throw error;
  }
}

const refused = (message: string): Answer => ({ error: { code: -32_000, message } });
