import { closeSync, existsSync, openSync, readSync } from "node:fs";
import { z } from "zod";
import { kinds, type Entity } from "./entities";
import { explain, Refusal, ServiceError } from "../errors";
import { jsonText } from "./files";
import { damaged, eachLine, Journal } from "./journal";

const format = { format: "consortium-service", version: 2 };
/** The first line of a file of version 0.1.0, which has no checksums. */
const former = JSON.stringify({ ...format, version: 1 });
const slack = 1_000;

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
 * One JSON object a line, the last line about an object wins. A line is on the disk before the call that caused it is answered, so
 * nothing that was acknowledged is lost; rewriting it now and then keeps it short.
 */
export class StateFile {
  /** Whether it is one of version 0.1.0; with the first change it becomes one of this version. */
  readonly former: boolean = false;
  #journal: Journal | undefined;
  #lines = 0;
  #refusal: Error | undefined;

  /** Reads what there is. There is no file before there is something in it; nothing is written before something is added. */
  constructor(
    private readonly file: string,
    private readonly everything: () => readonly Entity[],
    each: (entity: Entity) => void,
  ) {
    if (!existsSync(file)) return;
    const add = (value: unknown, line: number) => {
      const { success, data, error } = object.safeParse(value);
      if (!success) throw damaged(file, `it is no object of the service (${explain(error)})`, line);
      each(data as unknown as Entity);
      this.#lines++;
    };
    this.former = isFormer(file);
    if (this.former) readFormer(file, add);
    else this.#journal = Journal.open(file, format, add);
    if (this.#lines === 0) throw damaged(file, "it ends there, without any object", 2);
  }

  append(entities: readonly Entity[]): void {
    if (this.#refusal) throw new Refusal(503, `Nothing can be written to ${this.file}: ${this.#refusal.message}.`);
    try {
      if (this.#journal) this.#journal.add(entities);
      else this.#journal = Journal.create(this.file, format, [...this.everything(), ...entities]);
    } catch (error) {
      const { message } = error as Error;
      throw new Refusal(
        507,
        `This cannot be written to ${this.file}, so nothing was changed: ${message}. Free up space there.`,
      );
    }
    this.#lines += entities.length;
  }

  /** When it is done, the disk has all that was added before. */
  async synced(): Promise<void> {
    try {
      await this.#journal?.flushed();
    } catch {
      this.#rewrite(); // what a disk did not take once, it need not have another time it is asked
    }
  }

  /** Keeps nothing any more. */
  refuse(error: Error): void {
    this.#refusal = error;
  }

  /** Rewrites the file when most of its lines are outdated. */
  tidy(live: number, most = 2 * live + slack): void {
    if (this.#lines < most) return;
    try {
      this.#rewrite();
    } catch {
      this.#lines = live; // no room for a copy: the long file still holds everything, so try again later
    }
  }

  #rewrite(): void {
    const entities = this.everything();
    const outdated = this.#journal;
    this.#journal = Journal.create(this.file, format, entities);
    this.#lines = entities.length;
    outdated?.close();
  }

  close(): void {
    this.refuse(new Error("the service is stopping"));
    this.#journal?.close();
    this.#journal = undefined;
  }
}

function isFormer(file: string): boolean {
  const begin = Buffer.alloc(former.length);
  const descriptor = openSync(file, "r");
  readSync(descriptor, begin);
  closeSync(descriptor);
  const found = begin.toString();
  const version = '"version":';
  if (found.split(version)[0] !== former.split(version)[0])
    throw new ServiceError(`${file} is not a data file of this version of the service.`);
  return found === former;
}

/** What version 0.1.0 wrote; its last line may be torn by a crash and then was never acknowledged. */
function readFormer(file: string, each: (value: unknown, line: number) => void): void {
  let number = 0;
  eachLine(file, (line) => {
    if (++number > 1) {
      const { success, data } = jsonText.safeParse(line);
      if (!success) throw damaged(file, "it is no object of the service", number);
      each(data, number);
    }
    return true;
  });
}
