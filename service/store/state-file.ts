import { appendFileSync, closeSync, existsSync, fstatSync, ftruncateSync, openSync, readFileSync } from "node:fs";
import { z } from "zod";
import { kinds, type Entity } from "./entities";
import { explain, Refusal, ServiceError } from "../errors";
import { jsonText, replaceFile } from "./files";

const header = JSON.stringify({ format: "consortium-service", version: 1 });
const slack = 1_000;

const line = jsonText.pipe(
  z.looseObject({
    kind: z.enum(kinds),
    ...{ id: z.string(), parent: z.string(), organization: z.string(), state: z.string() },
    ...{ createdAt: z.number(), changedAt: z.number(), revision: z.number() },
    fields: z.looseObject({}),
  }),
);

/**
 * One JSON object a line, the last line about an object wins. A line is in the file before the call that caused it is
 * answered, so a killed process loses nothing it acknowledged; rewriting it now and then keeps it short.
 */
export class StateFile {
  /** There is no file before there is something in it, so that an empty one is known to be damaged. */
  #descriptor: number | undefined;
  #lines = 0;
  #refusal: Error | undefined;

  constructor(
    private readonly file: string,
    private readonly everything: () => readonly Entity[],
  ) {
    if (everything().length > 0) this.#descriptor = this.#rewrite();
  }

  /** All lines of a journal; the last one may be torn by a crash and then was never acknowledged. */
  static read(file: string): Entity[] {
    if (!existsSync(file)) return [];
    const [first, ...lines] = readFileSync(file, "utf8").split("\n");
    if (first !== header) throw new ServiceError(`${file} is not a data file of this version of the service.`);
    lines.pop(); // empty, or torn
    if (lines.length === 0) throw damaged(file, 2, "it ends there, without any object");
    return lines.map((text, index) => {
      const { success, data, error } = line.safeParse(text);
      if (!success) throw damaged(file, index + 2, `it is no object of the service (${explain(error)})`);
      return data as unknown as Entity;
    });
  }

  append(entities: readonly Entity[]): void {
    if (this.#refusal) throw new Refusal(503, `Nothing can be kept in ${this.file}: ${this.#refusal.message}.`);
    const text = entities.map((entity) => `${JSON.stringify(entity)}\n`).join("");
    try {
      if (this.#descriptor === undefined) this.#descriptor = this.#begin(`${header}\n${text}`);
      else this.#add(this.#descriptor, text);
    } catch (error) {
      const { message } = error as Error;
      throw new Refusal(507, `This cannot be kept in ${this.file}, so it was not done: ${message}. Make room there.`);
    }
    this.#lines += entities.length;
  }

  /** Keeps nothing any more. */
  refuse(error: Error): void {
    this.#refusal = error;
  }

  /** Rewrites the file when most of its lines are outdated. */
  tidy(live: number): void {
    if (this.#lines < 2 * live + slack) return;
    const outdated = this.#descriptor;
    try {
      this.#descriptor = this.#rewrite();
      if (outdated !== undefined) closeSync(outdated);
    } catch {
      this.#lines = live; // no room for a copy: the long file still holds everything, so try again later
    }
  }

  close(): void {
    this.refuse(new Error("the service is stopping"));
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }

  #add(descriptor: number, text: string): void {
    const { size } = fstatSync(descriptor);
    try {
      appendFileSync(descriptor, text);
    } catch (error) {
      ftruncateSync(descriptor, size); // a full disk must not leave half a line
      throw error;
    }
  }

  #rewrite(): number {
    const entities = this.everything();
    this.#lines = entities.length;
    return this.#begin([header, ...entities.map((one) => JSON.stringify(one)), ""].join("\n"));
  }

  #begin(text: string): number {
    replaceFile(this.file, text);
    return openSync(this.file, "a");
  }
}

const damaged = (file: string, line: number, why: string) =>
  new ServiceError(
    `${file} is damaged in line ${line}: ${why}. Nothing was changed. Restore the file, or begin anew with another data folder.`,
  );
