import type { Engine } from "./engine";
import type { LedgerFolder, Past } from "./ledger-folder";
import { type Call, hashIn, logsIn, wantedOf } from "./past-calls";
import { type Answer, Excess } from "./rpc";

/** What reads need of their chain. */
interface Read {
  folder: LedgerFolder;
  /** The engine, once it has all blocks. */
  ready: () => Promise<Engine>;
  /** Does something while no block is made, if this engine is still the chain's. @returns whether it is */
  still: (engine: Engine, act: () => Promise<void>) => Promise<boolean>;
  height: () => number;
  /** Whether a transaction waits for its block. */
  waits: (hash: string) => boolean;
}

/** Files of the past that one call may need. Logs are asked for file by file, so that they may be in any number. */
const mostFiles = 8;

/** Calls that change nothing. Blocks of the past are given to the engine when somebody wants them. */
export class Reads {
  readonly #loaded = new WeakMap<Engine, Set<string>>();

  constructor(private readonly chain: Read) {}

  /**
   * @param ask asks an engine
   * @param result what it answered; null and lists may lack what is in blocks of the past
   * @param end when nobody waits for it any more
   */
  async answer<T>(
    call: Call,
    ask: (engine: Engine) => Promise<T>,
    result: (said: T) => unknown,
    end: number,
  ): Promise<T> {
    const { folder, ready, height, waits } = this.chain;
    const wanted = wantedOf(call, folder.past, height());
    if (wanted.length > mostFiles) throw new Excess("wide");
    for (;;) {
      const engine = await ready();
      if (!(await this.#load(engine, wanted, end))) continue;
      const said = await ask(engine);
      const hash = folder.past.length === 0 ? undefined : hashIn(call);
      if (isSomething(result(said)) || (hash !== undefined && waits(hash))) return said;
      const missing = hash === undefined ? undefined : folder.pastOf(hash);
      if (!missing || this.#has(engine, missing)) return said;
      wanted.push(missing);
    }
  }

  /**
   * Logs, of one file of the past after the other, and then of what every engine has.
   *
   * @param ask asks an engine for those of some blocks
   */
  async logs(call: Call, ask: (engine: Engine, part: Call) => Promise<Answer>, end: number): Promise<Answer> {
    const { folder, ready, height } = this.chain;
    const found: unknown[] = [];
    for (const { past, part } of logsIn(call, folder.past, height())) {
      let engine = await ready();
      while (past && !(await this.#load(engine, [past], end))) engine = await ready();
      const answer = await ask(engine, part);
      if (!("result" in answer) || !Array.isArray(answer.result)) return answer;
      for (const one of answer.result) found.push(one);
    }
    return { result: found };
  }

  #has = (engine: Engine, { name }: Past) => this.#loaded.get(engine)?.has(name) === true;

  /** @returns whether the engine has them; else another one took its place */
  async #load(engine: Engine, wanted: readonly Past[], end: number): Promise<boolean> {
    const loaded = this.#loaded.get(engine) ?? new Set();
    this.#loaded.set(engine, loaded);
    for (const past of wanted) {
      if (loaded.has(past.name)) continue;
      if (performance.now() > end) throw new Excess("late"); // nobody waits for the rest
      const still = await this.chain.still(engine, async () => {
        if (loaded.has(past.name)) return;
        await engine.loadPast(this.chain.folder.fileOf(past), past.last - past.first + 1);
        loaded.add(past.name);
      });
      if (!still) return false;
    }
    return true;
  }
}

const isSomething = (result: unknown) => result !== null && !Array.isArray(result);
