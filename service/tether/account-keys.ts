import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { ServiceError } from "../http/errors";
import { replaceFile } from "../store/files";

/** The private keys of the tethers' accounts, each in a file that its owner alone can read. */
export class AccountKeys {
  readonly #known = new Map<string, string>();

  /** @param dir without it they are in memory */
  constructor(private readonly dir: string | undefined) {
    if (dir === undefined || !existsSync(dir)) return;
    if (!statSync(dir).isDirectory()) {
      throw new ServiceError(
        `The accounts' keys are kept in ${dir}, which is a file and must be a folder. Move it away.`,
      );
    }
    for (const name of readdirSync(dir).filter((name) => name.endsWith(".key"))) this.#read(name.slice(0, -4));
  }

  /** The key of a tether, made when it is first asked for. */
  of(tetherId: string): string {
    const known = this.#known.get(tetherId) ?? this.#read(tetherId) ?? this.#make(tetherId);
    this.#known.set(tetherId, known);
    return known;
  }

  #read(tetherId: string): string | undefined {
    const file = this.#file(tetherId);
    if (file === undefined || !existsSync(file)) return undefined;
    const key = readFileSync(file, "utf8").trim();
    if (/^0x[0-9a-f]{64}$/i.test(key)) return key;
    throw new ServiceError(
      `${file} is damaged: it must hold a private key, 0x and 64 hex digits. Restore it: it owns the money of tether ${tetherId}.`,
    );
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
