import { appendFileSync, closeSync, existsSync, fstatSync, ftruncateSync, openSync, readFileSync } from "node:fs";
import { ServiceError } from "./errors";
import type { Entity } from "./entities";
import { replaceFile } from "./files";

const header = JSON.stringify({ format: "consortium-service", version: 1 });
const slack = 1_000;

/**
 * One JSON object a line, the last line about an object wins. A line is in the file before the call that caused it is
 * answered, so a killed process loses nothing it acknowledged; rewriting it now and then keeps it short.
 */
export class Journal {
  #descriptor: number;
  #lines = 0;

  constructor(
    private readonly file: string,
    private readonly everything: () => readonly Entity[],
  ) {
    this.#descriptor = this.#rewrite();
  }

  /** All lines of a journal; the last one may be torn by a crash and then was never acknowledged. */
  static read(file: string): Entity[] {
    if (!existsSync(file)) return [];
    const [first, ...lines] = readFileSync(file, "utf8").split("\n");
    if (first !== header) throw new ServiceError(`${file} is not a data file of this version of the service.`);
    lines.pop(); // empty, or torn
    try {
      return lines.map((line) => JSON.parse(line) as Entity);
    } catch (error) {
      throw new ServiceError(`${file} is damaged: ${(error as Error).message}`, { cause: error });
    }
  }

  append(entities: readonly Entity[]): void {
    const size = fstatSync(this.#descriptor).size;
    try {
      appendFileSync(this.#descriptor, entities.map((entity) => `${JSON.stringify(entity)}\n`).join(""));
    } catch (error) {
      ftruncateSync(this.#descriptor, size); // a full disk must not leave half a line
      throw error;
    }
    this.#lines += entities.length;
  }

  /** Rewrites the file when most of its lines are outdated. */
  tidy(live: number): void {
    if (this.#lines < 2 * live + slack) return;
    const outdated = this.#descriptor;
    try {
      this.#descriptor = this.#rewrite();
      closeSync(outdated);
    } catch {
      this.#lines = live; // no room for a copy: the long file still holds everything, so try again later
    }
  }

  close(): void {
    closeSync(this.#descriptor);
  }

  #rewrite(): number {
    const entities = this.everything();
    replaceFile(this.file, [header, ...entities.map((entity) => JSON.stringify(entity)), ""].join("\n"));
    this.#lines = entities.length;
    return openSync(this.file, "a");
  }
}
