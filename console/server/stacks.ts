import { readFileSync, statSync } from "node:fs";
import { type PlacedCredential, readStack, type StackRead } from "pulumi-consortium/internal/console";

/** The network according to stacks, from files written by `pulumi stack export`, which are read again after a change. */
export class Stacks {
  readonly #read = new Map<string, StackRead & { changedAt: number }>();

  /** @param exported states that are already exported, by the name of the stack */
  constructor(
    private readonly files: readonly string[],
    exported: Readonly<Record<string, unknown>> = {},
  ) {
    for (const [name, document] of Object.entries(exported))
      this.#read.set(`stack ${name}`, { changedAt: Date.now(), ...readStack(document, `The stack ${name}`) });
  }

  /** Reads changed files. Files that do not exist (yet) are ignored. @throws Error that names a file that is not an export */
  refresh(): void {
    for (const file of this.files) {
      const changedAt = statSync(file, { throwIfNoEntry: false })?.mtimeMs;
      if (changedAt === undefined) this.#read.delete(file);
      else if (this.#read.get(file)?.changedAt !== changedAt) this.#read.set(file, { changedAt, ...readExport(file) });
    }
  }

  /** `project/stack` of each, and when it was read or exported, in ms since 1970. */
  get names(): { name: string; at: number }[] {
    return [...this.#read].map(([name, { model, changedAt }]) => ({ name: model.title ?? name, at: changedAt }));
  }

  /** Tether services that they configure. */
  get tethers(): string[] {
    return this.all.flatMap(({ model }) => model.tethers.map(({ id }) => id));
  }

  /** Credentials that they contain in plain text, which never leave this process. */
  get credentials(): PlacedCredential[] {
    return [...this.#read.values()].flatMap(({ credentials }) => credentials);
  }

  get all(): StackRead[] {
    return [...this.#read.values()];
  }
}

/** @throws Error that names a file that is not an export */
export function readExport(file: string): StackRead {
  const text = readFileSync(file, "utf8");
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    document = undefined; // treated like any other file that is not an export
  }
  return readStack(document, file);
}
