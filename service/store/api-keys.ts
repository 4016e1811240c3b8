import { hash, randomBytes, timingSafeEqual } from "node:crypto";
import { chmodSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { ServiceError } from "../http/errors";
import { replaceFile } from "./files";

const digest = (text: string) => hash("sha256", text, "buffer");

/** A hash to keep instead of a random secret. */
export const hashed = (secret: string) => digest(secret).toString("hex");

/** Whether two hashes are the same, in a time that tells nothing of either. */
export const sameHash = (one: string, other: string) =>
  timingSafeEqual(Buffer.from(one, "hex"), Buffer.from(other, "hex"));

const keyFile = z
  .string()
  .transform((text, context) => {
    try {
      return JSON.parse(text) as unknown;
    } catch {
      context.addIssue("not JSON");
      return z.NEVER;
    }
  })
  .pipe(z.record(z.string(), z.string()));

/** The organizations' API keys, by name; kept in a folder in files that only their owner reads. */
export class Keyring {
  readonly #keys = new Map<string, string>();

  constructor(private readonly dir?: string) {
    const file = this.#file("api-keys.json");
    if (!file || !existsSync(file)) return;
    chmodSync(file, 0o600);
    const kept = keyFile.safeParse(readFileSync(file, "utf8"));
    if (!kept.success) throw new ServiceError(`${file} is damaged: it must map names of organizations to API keys.`);
    for (const [name, key] of Object.entries(kept.data)) this.#keys.set(name, key);
  }

  get(name: string): string | undefined {
    return this.#keys.get(name);
  }

  /** Gives an organization a key, a random one if none is given, in place of the one it had. */
  set(name: string, key = `key-${randomBytes(32).toString("base64url")}`): string {
    const other = this.owner(key);
    if (other !== undefined && other !== name) throw new ServiceError(`${name} cannot have the API key of ${other}.`);
    this.#keys.set(name, key);
    const file = this.#file("api-keys.json");
    if (file) replaceFile(file, `${JSON.stringify(Object.fromEntries(this.#keys), null, 2)}\n`);
    return key;
  }

  /** Writes one organization's key alone into the file `api-key`, for scripts. */
  publish(name: string): void {
    const file = this.#file("api-key");
    if (file) replaceFile(file, `${this.#keys.get(name) ?? ""}\n`);
  }

  /** The organization whose key this is; every key is compared, in constant time. */
  owner(key: string): string | undefined {
    const wanted = digest(key);
    let found: string | undefined;
    for (const [name, known] of this.#keys) if (timingSafeEqual(digest(known), wanted)) found = name;
    return found;
  }

  #file(name: string): string | undefined {
    return this.dir === undefined ? undefined : join(this.dir, name);
  }
}
