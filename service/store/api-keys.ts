import { hash, randomBytes, timingSafeEqual } from "node:crypto";
import { chmodSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { ServiceError } from "../errors";
import { jsonText, replaceFile } from "./files";

const digest = (text: string) => hash("sha256", text, "buffer");
export const randomKey = () => `key-${randomBytes(32).toString("base64url")}`;
const keys = jsonText.pipe(z.record(z.string(), z.string()));

/** The organizations' API keys, by name; kept in a folder in files that only their owner reads. */
export class ApiKeys {
  readonly #keys = new Map<string, string>();

  constructor(private readonly dir?: string) {
    const file = dir === undefined ? "" : join(dir, "api-keys.json");
    if (!existsSync(file)) return;
    chmodSync(file, 0o600);
    const kept = keys.safeParse(readFileSync(file, "utf8"));
    if (!kept.success) throw new ServiceError(`${file} is damaged: it must map names of organizations to API keys.`);
    this.#keys = new Map(Object.entries(kept.data));
  }

  get(name: string): string | undefined {
    return this.#keys.get(name);
  }

  /** Gives an organization a key, a random one if none is given, in place of the one it had. */
  set(name: string, key = randomKey()): string {
    const other = this.owner(key);
    if (other !== undefined && other !== name) throw new ServiceError(`${name} cannot have the API key of ${other}.`);
    this.#keys.set(name, key);
    this.#write("api-keys.json", JSON.stringify(Object.fromEntries(this.#keys), null, 2));
    return key;
  }

  /** Writes one organization's key alone into the file `api-key`, for scripts. */
  publish(name: string): void {
    this.#write("api-key", this.#keys.get(name) ?? "");
  }

  /** The organization whose key this is; every key is compared, in constant time. */
  owner(key: string): string | undefined {
    const wanted = digest(key);
    return [...this.#keys].filter(([, known]) => timingSafeEqual(digest(known), wanted)).at(-1)?.[0];
  }

  #write(name: string, text: string): void {
    if (this.dir !== undefined) replaceFile(join(this.dir, name), `${text}\n`);
  }
}
