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
 * The file of all objects: one JSON object a line, and the last line of an object counts. A line is on disk before the call that
 * caused it is answered. Outdated lines are removed now and then.
 */
export class StateFile {
  /** Whether the file is of version 0.1.0. The first change converts it. */
  readonly former: boolean = false;
  #journal: Journal | undefined;
  #lines = 0;
  #refusal: Error | undefined;

  /** Reads the file, if there is one. Creates or changes it only when something is added. */
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

  /** Resolves when all that was added before is on disk. */
  async synced(): Promise<void> {
    try {
      await this.#journal?.flushed();
    } catch {
      this.#rewrite(); // after a failed sync, another one may succeed although data is missing
    }
  }

  /** Refuses all further changes. */
  refuse(error: Error): void {
    this.#refusal = error;
  }

  /** Rewrites the file if most of its lines are outdated. */
  tidy(live: number, most = 2 * live + slack): void {
    if (this.#lines < most) return;
    try {
      this.#rewrite();
    } catch {
      this.#lines = live; // there is no room for a copy; the file has everything, so try again later
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

/** Reads a file of version 0.1.0. A crash may have torn its last line, which was then not acknowledged. */
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
