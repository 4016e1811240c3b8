import { randomBytes } from "node:crypto";
import { chmodSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { ServiceError } from "../errors";
import type { Limits } from "../settings/settings";
import type { Entity } from "./entities";
import { jsonText, replaceFile, sha256 } from "./files";
import type { Store } from "./store";

/** An organization and the key that scopes calls to it. */
export interface Organization {
  id: string;
  name: string;
  apiKey: string;
}

export class Organizations {
  /** The ids of the additional keys, by their hash. */
  readonly #further: Map<string, string>;

  /** @param first the organization whose key is published */
  constructor(
    private readonly store: Store,
    private readonly keys: ApiKeys,
    private readonly first: string,
  ) {
    this.#further = new Map(store.all("apiKey").map(({ id, fields }) => [fields.hash, id]));
  }

  get firstKey(): string {
    return this.keys.get(this.first)!;
  }

  list(): Organization[] {
    return this.#all().map(({ id, fields: { name } }) => ({ id, name, apiKey: this.keys.get(name) ?? "" }));
  }

  find(name: string): Entity<"organization"> | undefined {
    return this.#all().find(({ fields }) => fields.name === name);
  }

  ofKey(key: string): Entity<"organization"> | undefined {
    const name = this.keys.owner(key);
    if (name !== undefined) return this.find(name);
    const further = this.store.get("apiKey", this.#further.get(sha256(key)) ?? "");
    return further && this.store.get("organization", further.parent);
  }

  /** The additional keys of an organization. */
  furtherKeys(organization: string): Entity<"apiKey">[] {
    return this.store.children("apiKey", organization);
  }

  /** Creates an additional key of an organization. It cannot be shown again. */
  makeKey(organization: string, name: string, limits: Limits): { made: Entity<"apiKey">; key: string } {
    const key = randomKey();
    const fields = { name, hash: sha256(key) }; // the key is long and random, so a plain hash is safe
    const draft = { kind: "apiKey", id: idOfKey(key), parent: organization, organization, fields } as const;
    const made = this.store.create(draft, limits);
    this.#further.set(fields.hash, made.id);
    return { made, key };
  }

  /** Revokes an additional key at once. Returns whether the organization had it. */
  revokeKey(organization: string, id: string): boolean {
    const key = this.furtherKeys(organization).find((one) => one.id === id);
    if (!key) return false;
    this.store.remove(key);
    this.#further.delete(key.fields.hash);
    return true;
  }

  add(name: string, apiKey?: string): Organization {
    if (this.find(name)) throw new ServiceError(`The organization ${name} already exists.`);
    return this.ensure(name, apiKey);
  }

  /** Adds an organization if it does not exist. Gives it this key, if it has another one or none. */
  ensure(name: string, apiKey = this.keys.get(name)): Organization {
    const kept = apiKey !== undefined && apiKey === this.keys.get(name) ? apiKey : this.keys.set(name, apiKey);
    const draft = { kind: "organization", parent: "", organization: "", fields: { name } } as const;
    const { id } = this.find(name) ?? this.store.create(draft);
    return { id, name, apiKey: kept };
  }

  rotateKey(name: string): string {
    if (this.keys.get(name) === undefined) throw new ServiceError(`There is no organization ${name}.`);
    const key = this.keys.set(name);
    if (name === this.first) this.keys.publish(name);
    return key;
  }

  #all = () => this.store.children("organization", "");
}

/** A new key, as the hosted service has them: `<id>-<secret>`, and an id begins with the two characters of its region. */
export const randomKey = () => `u0${randomBytes(4).toString("hex")}-${randomBytes(32).toString("base64url")}`;
/** The id that a key begins with, unless somebody chose it otherwise. */
export const idOfKey = (key: string) => /^([a-z0-9]{10})-./.exec(key)?.[1];
const keys = jsonText.pipe(z.record(z.string(), z.string()));

/** The organizations' API keys, by name. With a folder, they are kept there, in files that only their owner can read. */
export class ApiKeys {
  readonly #keys = new Map<string, string>();
  /** The names of the organizations, by the hash of their key: how long a look takes says nothing about any key. */
  readonly #owners = new Map<string, string>();

  constructor(private readonly dir?: string) {
    const file = dir === undefined ? "" : join(dir, "api-keys.json");
    if (!existsSync(file)) return;
    chmodSync(file, 0o600);
    const kept = keys.safeParse(readFileSync(file, "utf8"));
    if (!kept.success) throw new ServiceError(`${file} is damaged: it must map names of organizations to API keys.`);
    for (const [name, key] of Object.entries(kept.data)) this.#put(name, key);
  }

  get(name: string): string | undefined {
    return this.#keys.get(name);
  }

  /** Sets an organization's key, by default to a random one. Replaces the key that it had. */
  set(name: string, key = randomKey()): string {
    const other = this.owner(key);
    if (other !== undefined && other !== name) throw new ServiceError(`${name} cannot have the API key of ${other}.`);
    this.#put(name, key);
    this.#write("api-keys.json", JSON.stringify(Object.fromEntries(this.#keys), null, 2));
    return key;
  }

  /** Writes one organization's key into the file `api-key`, for scripts. */
  publish(name: string): void {
    this.#write("api-key", this.#keys.get(name) ?? "");
  }

  /** The organization that has this key. */
  owner(key: string): string | undefined {
    return this.#owners.get(sha256(key));
  }

  #put(name: string, key: string): void {
    this.#owners.delete(sha256(this.#keys.get(name) ?? ""));
    this.#keys.set(name, key);
    this.#owners.set(sha256(key), name);
  }

  #write(name: string, text: string): void {
    if (this.dir !== undefined) replaceFile(join(this.dir, name), `${text}\n`);
  }
}
