import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { replaceFile } from "../files";

/** The private keys of the tethers' accounts, each in a file that its owner alone can read. */
export class AccountKeys {
  readonly #known = new Map<string, string>();

  /** @param dir without it they are in memory */
  constructor(private readonly dir: string | undefined) {}

  /** The key of a tether, made when it is first asked for. */
  of(tetherId: string): string {
    const known = this.#known.get(tetherId) ?? this.#read(tetherId) ?? this.#make(tetherId);
    this.#known.set(tetherId, known);
    return known;
  }

  #read(tetherId: string): string | undefined {
    const file = this.#file(tetherId);
    return file !== undefined && existsSync(file) ? readFileSync(file, "utf8").trim() : undefined;
  }

  #make(tetherId: string): string {
    const key = `0x${randomBytes(32).toString("hex")}`; // all but a vanishing few of them are valid
    const file = this.#file(tetherId);
    if (file !== undefined) {
      mkdirSync(this.dir!, { recursive: true, mode: 0o700 });
      replaceFile(file, `${key}\n`);
    }
    return key;
  }

  #file(tetherId: string): string | undefined {
    return this.dir === undefined ? undefined : join(this.dir, `${tetherId}.key`);
  }
}
