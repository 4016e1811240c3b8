import { setTimeout as wait } from "node:timers/promises";
import type { ChainBase } from "./chain-base";
import type { Engine } from "./engine";
import type { Replay } from "./replay";

/** Pause before a renewal that failed is tried again (ms). */
const pause = 60_000;

/**
 * Renews an engine that has grown: each block that it makes takes some 12 kB of its memory for good. Another one goes through the entries since the last
 * snapshot while the first one serves, then takes its place.
 */
export class Renewal {
  readonly #stop = new AbortController();
  #work: Promise<void> | undefined;

  /**
   * @param start starts an engine, and takes it through all entries
   * @param place installs it
   */
  constructor(
    private readonly base: ChainBase,
    private readonly start: () => Promise<{ engine: Engine; replay: Replay }>,
    private readonly place: (engine: Engine, replay: Replay) => Promise<void>,
  ) {}

  /** Begins, unless it is under way. */
  begin(): void {
    this.#work ??= this.#renew().finally(() => (this.#work = undefined));
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#work;
  }

  async #renew(): Promise<void> {
    const { base } = this;
    try {
      const { engine, replay } = await this.start();
      await this.place(engine, replay).catch((error: unknown) => {
        engine.end();
        throw error;
      });
    } catch (error) {
      if (base.closed) return;
      base.log(`The chain's process is not renewed: ${(error as Error).message}. Nothing is lost; it is tried again.`);
      await wait(pause, undefined, { ref: false, signal: this.#stop.signal }).catch(() => undefined);
    }
  }
}
