import type { Engine } from "./engine";
import type { LedgerFolder } from "./ledger-folder";
import { Replay } from "./replay";

/**
 * What is made in the background, by engines of its own, one thing at a time: snapshots, which only shorten the start, and the engine
 * that takes the place of one that has grown.
 */
export class Background {
  #engine: Engine | undefined;
  #work: Promise<void> | undefined;

  constructor(
    private readonly start: () => Promise<Engine>,
    private readonly folder: LedgerFolder,
    /** How many blocks have to come out as they were, for an engine that begins with a snapshot. */
    private readonly lookback: number,
    private readonly stopped: () => boolean,
    private readonly say: (text: string) => void,
  ) {}

  /**
   * Another engine goes through the first journals; if one that begins with its state has the same blocks, that takes their place.
   *
   * @param made hears that it did
   */
  compact(made: () => void): void {
    const count = this.folder.due(this.lookback);
    if (count === 0) return;
    this.#begin("No snapshot is made", async () => {
      const { journals, snapshot } = this.folder;
      const dump = await this.#through(journals, count, snapshot, 0, (engine) => engine.dump());
      await this.folder.keep(dump, count, this.lookback, (file) =>
        this.#through(journals, journals.length - 1, file, count, () => Promise.resolve()),
      );
      setImmediate(made); // when this is over
    });
  }

  /** An engine that begins anew goes through all; `place` puts it where the former one was. */
  renew(place: (engine: Engine, replay: Replay) => Promise<void>): void {
    this.#begin("The chain's process is not renewed", async () => {
      const engine = (this.#engine = await this.start());
      try {
        const replay = new Replay(engine, this.folder, this.stopped);
        await replay.to(this.folder.journals, this.folder.snapshot);
        await place(engine, replay);
      } catch (error) {
        engine.end();
        throw error;
      }
    });
  }

  async close(): Promise<void> {
    this.#engine?.end();
    await this.#work;
  }

  /** Takes an engine of its own through the journals between two of them. */
  async #through<T>(
    journals: LedgerFolder["journals"],
    to: number,
    begin: string | undefined,
    from: number,
    then: (engine: Engine) => Promise<T>,
  ): Promise<T> {
    const engine = (this.#engine = await this.start());
    try {
      const { hash, number } = await new Replay(engine, this.folder, this.stopped).to(journals.slice(from, to), begin);
      if (hash !== journals[to]!.after!.hash) throw new Error(`block ${number} does not come out as it was`);
      return await then(engine);
    } finally {
      engine.end();
    }
  }

  #begin(failure: string, work: () => Promise<void>): void {
    this.#work ??= work()
      .catch((error: Error) => {
        if (!this.stopped()) this.say(`${failure}: ${error.message}. All is in the journal; it is tried again.`);
      })
      .finally(() => {
        this.#engine = this.#work = undefined;
      });
  }
}
