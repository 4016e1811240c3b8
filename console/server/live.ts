import { setTimeout as sleep } from "node:timers/promises";
import { codedMessage, isApiError } from "pulumi-consortium/internal/console";
import type { Looked, Section, Shown, Trouble } from "../protocol";

export interface Page {
  watching: ReadonlySet<Section>;
  send(message: Shown | Looked): void;
}

/** Polls a failing service at growing intervals, up to this one. */
const longestMs = 30_000;
/** How often to tell pages that a poll has no answer yet. A page without messages assumes that the console has stopped. */
const lateMs = 10_000;

/**
 * Observes the service for all pages. Each watched section is read once per period, however many pages watch it, and sent if it changed.
 * Without watching pages, it
 * requests nothing.
 */
export class Live {
  readonly #pages = new Set<Page>();
  /** For each section: the last value sent, and the times of the last poll and of the last success. */
  readonly #last = new Map<Section, { text: string; shown: Shown; at: number; read?: number }>();
  readonly #closing = new AbortController();
  #running: Promise<void> | undefined;
  #now = new AbortController();

  constructor(
    private readonly look: (section: Section) => Promise<unknown>,
    private readonly periodMs: number,
    private readonly saysLateMs = lateMs,
  ) {}

  join(page: Page): void {
    this.#pages.add(page);
  }

  leave(page: Page): void {
    this.#pages.delete(page);
  }

  /** Sets the sections that a page watches, and sends known contents of new ones. */
  watch(page: Page, sections: readonly Section[]): void {
    const added = sections.filter((section) => !page.watching.has(section));
    page.watching = new Set(sections);
    const known = added.map((section) => this.#last.get(section));
    for (const last of known) if (last) page.send(last.shown);
    const oldest = Math.min(...known.map((last) => last?.at ?? 0));
    if (oldest < Date.now() - this.periodMs) this.refresh();
    // with nothing to do, it would end at once, and still count as running for a message that came with this one
    if (this.#watched().size > 0) this.#running ??= this.#run().finally(() => (this.#running = undefined));
  }

  /** Polls now. */
  refresh(): void {
    this.#now.abort();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }

  #watched(): Set<Section> {
    return new Set([...this.#pages].flatMap(({ watching }) => [...watching]));
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    let failures = 0;
    for (let watched = this.#watched(); watched.size > 0 && !signal.aborted; watched = this.#watched()) {
      this.#now = new AbortController();
      const at = Date.now();
      const either = AbortSignal.any([signal, this.#now.signal]);
      const shown = await Promise.all([...watched].map((section) => this.#show(section)));
      failures = shown.some(({ problem }) => problem !== undefined) ? failures + 1 : 0;
      const pause = Math.min(this.periodMs * 2 ** failures, Math.max(longestMs, this.periodMs));
      for (const page of this.#pages) if (page.watching.size > 0) page.send({ at, next: pause });
      await sleep(pause, undefined, { signal: either }).catch(() => undefined);
    }
    this.#forget(new Set());
  }

  async #show(section: Section): Promise<Shown> {
    const at = Date.now();
    const before = this.#last.get(section);
    let [read, isLate]: [number | undefined, boolean] = [at, false];
    const saying = setInterval(() => {
      isLate = true;
      this.#tell({ section, late: true, since: before?.read });
    }, this.saysLateMs);
    const shown: Shown = await this.look(section)
      .then(
        (value) => ({ section, value }),
        (error: Error) => {
          read = before?.read;
          const trouble = troubleOf(error);
          return { section, problem: codedMessage(error), ...(trouble && { trouble }), since: read };
        },
      )
      .finally(() => clearInterval(saying));
    const text = JSON.stringify(shown);
    this.#last.set(section, { text, shown, at, read });
    if (before?.text === text && !isLate) return shown;
    this.#tell(shown);
    this.#forget(this.#watched());
    return shown;
  }

  #tell(shown: Shown): void {
    for (const page of this.#pages) if (page.watching.has(shown.section)) page.send(shown);
  }

  #forget(but: ReadonlySet<Section>): void {
    for (const section of this.#last.keys()) if (!but.has(section)) this.#last.delete(section);
  }
}

/** Undefined for failures that the service did not cause. */
function troubleOf(error: unknown): Trouble | undefined {
  if (!isApiError(error)) return undefined;
  if (error.status === 401) return "refused";
  if (error.late) return "slow";
  return ["unsent", "lost"].includes(error.kind) && error.status === undefined ? "unreachable" : "failing";
}
