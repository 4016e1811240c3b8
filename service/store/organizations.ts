import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { ServiceError } from "../errors";
import type { Entity } from "./entities";
import { replaceFile, sha256 } from "../storage/files";
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

  /** @param first the organization with the published key @param dir the folder for that */
  constructor(
    private readonly store: Store,
    private readonly first: string,
    private readonly dir?: string,
  ) {
    this.#further = new Map(store.all("apiKey").map(({ id, fields }) => [fields.hash, id]));
  }

  get firstKey(): string {
    return this.find(this.first)!.fields.apiKey;
  }

  list(): Organization[] {
    return this.#all().map(({ id, fields }) => ({ id, ...fields }));
  }

  find(name: string): Entity<"organization"> | undefined {
    return this.#all().find(({ fields }) => fields.name === name);
  }

  ofKey(key: string): Entity<"organization"> | undefined {
    const owner = this.#all().find(({ fields }) => fields.apiKey === key);
    if (owner) return owner;
    const further = this.store.get("apiKey", this.#further.get(sha256(key)) ?? "");
    return further && this.store.get("organization", further.parent);
  }

  furtherKeys(organization: string): Entity<"apiKey">[] {
    return this.store.children("apiKey", organization);
  }

  /** Creates an additional key of an organization. It cannot be shown again. */
  makeKey(organization: string, name: string): { made: Entity<"apiKey">; key: string } {
    const key = randomKey();
    const fields = { name, hash: sha256(key) }; // the key is long and random, so a plain hash is safe
    const draft = { kind: "apiKey", id: idOfKey(key), parent: organization, organization, fields } as const;
    const made = this.store.create(draft);
    this.#further.set(fields.hash, made.id);
    return { made, key };
  }

  /** Revokes an additional key at once. Returns whether the organization had it. */
  revokeKey(organization: string, id: string): boolean {
    const key = this.furtherKeys(organization).find((one) => one.id === id);
    if (!key) return false;
    this.store.remove(key); // and nothing else: a removal that cannot be written is undone
    return true;
  }

  add(name: string, apiKey?: string): Organization {
    if (this.find(name)) throw new ServiceError(`The organization ${name} already exists.`);
    const added = this.ensure(name, apiKey);
    this.publish();
    return added;
  }

  /** Adds an organization if it does not exist, and sets its key. A new one without a key gets a random one. */
  ensure(name: string, apiKey?: string): Organization {
    const known = this.find(name);
    if (known && (apiKey === undefined || apiKey === known.fields.apiKey)) return { id: known.id, ...known.fields };
    const fields = { name, apiKey: apiKey ?? randomKey() };
    const other = this.ofKey(fields.apiKey)?.fields.name;
    if (other !== undefined && other !== name) throw new ServiceError(`${name} cannot use the API key of ${other}.`);
    const draft = { kind: "organization", parent: "", organization: "", due: undefined, fields } as const;
    const { id } = known ? this.store.setFields("organization", known.id, fields) : this.store.create(draft);
    return { id, ...fields };
  }

  rotateKey(name: string): string {
    if (!this.find(name)) throw new ServiceError(`There is no organization ${name}.`);
    const { apiKey } = this.ensure(name, randomKey());
    this.publish();
    return apiKey;
  }

  /**
   * Writes the first organization's key into the file `api-key`, for scripts, and the keys of several organizations, by name, into
   * `api-keys.json`.
   */
  publish(): void {
    if (this.dir === undefined) return;
    replaceFile(join(this.dir, "api-key"), `${this.firstKey}\n`);
    const keys = this.#all().map(({ fields: { name, apiKey } }) => [name, apiKey] as const);
    if (keys.length > 1)
      replaceFile(join(this.dir, "api-keys.json"), `${JSON.stringify(Object.fromEntries(keys), undefined, 2)}\n`);
  }

  #all = () => this.store.children("organization", "");
}

/** A new key in the hosted service's form: `<id>-<secret>`. The id begins with the two characters of its region. */
const randomKey = () => `u0${randomBytes(4).toString("hex")}-${randomBytes(32).toString("base64url")}`;
/** The id at the beginning of a key, if the key has this form. */
export const idOfKey = (key: string) => /^([a-z0-9]{10})-./.exec(key)?.[1];
