import { existsSync } from "node:fs";
import { z } from "zod";
import { kinds, type Entity } from "./entities";
import { explain, Refusal, unwritten } from "../errors";
import { damaged, Journal } from "./journal";
import type { Used } from "./usage";

const format = { format: "consortium-service", version: 2 };
/** How many outdated lines, and bytes of them, may be left. */
const slack = { lines: 1_000, bytes: 8 * 1_048_576 };

const object = z.looseObject({
  kind: z.enum(kinds),
  id: z.string(),
  parent: z.string(),
  organization: z.string(),
  state: z.string(),
  createdAt: z.number(),
  changedAt: z.number(),
  revision: z.number(),
  fields: z.looseObject({}),
});

/**
 * The file of all objects: one JSON object a line, and the last line of an object counts. A line is on disk before the call that
 * caused it is answered. Outdated lines are removed now and then.
 */
export class StateFile {
  #journal: Journal | undefined;
  #lines = 0;
  #bytes = 0;
  #closed = false;

  /** Reads the file, if there is one. Creates or changes it only when something is added. */
  constructor(
    private readonly file: string,
    private readonly everything: () => readonly Entity[],
    each: (entity: Entity) => void,
  ) {
    if (!existsSync(file)) return;
    this.#journal = Journal.open(file, format, (value, line) => {
      const { success, data, error } = object.safeParse(value);
      if (!success) throw damaged(file, `it is not an object of the service (${explain(error)})`, line);
      each(data as unknown as Entity);
      this.#lines++;
    });
    this.#bytes = this.#journal.bytes;
    if (this.#lines === 0) throw damaged(file, "it ends there, without any object", 2);
  }

  append(entities: readonly Entity[]): void {
    if (this.#closed) throw new Refusal(503, `Nothing can be written to ${this.file}: the service is stopping.`);
    const before = this.#journal?.bytes ?? 0;
    try {
      if (this.#journal) this.#journal.add(entities);
      else this.#journal = Journal.create(this.file, format, [...this.everything(), ...entities]);
    } catch (error) {
      throw unwritten(`This cannot be written to ${this.file}`, error);
    }
    this.#lines += entities.length;
    this.#bytes += this.#journal.bytes - before;
  }

  /** Resolves when all that was added before is on disk. */
  async synced(): Promise<void> {
    try {
      await this.#journal?.flushed();
    } catch (error) {
      if (error instanceof Refusal) throw error;
      this.#rewrite(); // after a failed sync, another one may succeed although data is missing
    }
  }

  /** Rewrites the file if most of its lines are outdated. */
  tidy(live: Used, most = 2 * live.objects + slack.lines): void {
    if (this.#lines < most && this.#bytes < 2 * live.bytes + slack.bytes) return;
    try {
      this.#rewrite();
    } catch {
      [this.#lines, this.#bytes] = [live.objects, live.bytes]; // there is no room for a copy; so try again later
    }
  }

  #rewrite(): void {
    const entities = this.everything();
    const outdated = this.#journal;
    this.#journal = Journal.create(this.file, format, entities);
    this.#lines = entities.length;
    this.#bytes = this.#journal.bytes;
    outdated?.close();
  }

  close(): void {
    this.#closed = true;
    this.#journal?.close();
    this.#journal = undefined;
  }
}
