import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { ServiceError } from "../errors";
import { replaceFile } from "../store/files";

const suffix = ".key";

/** The private keys of the tethers' accounts, each in a file that its owner alone can read. */
export class AccountKeys {
  readonly #keys = new Map<string, string>();

  /** @param dir without it they are in memory */
  constructor(private readonly dir: string | undefined) {
    if (dir === undefined || !existsSync(dir)) return;
    if (!statSync(dir).isDirectory()) {
      const why = "which is a file and must be a folder. Move it away";
      throw new ServiceError(`The accounts' keys are kept in ${dir}, ${why}.`);
    }
    const names = readdirSync(dir).filter((name) => name.endsWith(suffix));
    for (const name of names) this.#keys.set(name.slice(0, -suffix.length), read(join(dir, name)));
  }

  /** The key of a tether, made when it is first asked for. */
  of(tetherId: string): string {
    const known = this.#keys.get(tetherId);
    if (known !== undefined) return known;
    const key = `0x${randomBytes(32).toString("hex")}`; // all but a vanishing few of them are valid
    if (this.dir !== undefined) {
      mkdirSync(this.dir, { recursive: true, mode: 0o700 });
      replaceFile(join(this.dir, tetherId + suffix), `${key}\n`);
    }
    this.#keys.set(tetherId, key);
    return key;
  }
}

function read(file: string): string {
  const key = readFileSync(file, "utf8").trim();
  if (/^0x[0-9a-f]{64}$/i.test(key)) return key;
  throw new ServiceError(
    `${file} is damaged: it must hold a private key, 0x and 64 hex digits. Restore it: it owns the money of a tether.`,
  );
}
