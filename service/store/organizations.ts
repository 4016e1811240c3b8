import { hash } from "node:crypto";
import { ServiceError } from "../errors";
import { type ApiKeys, randomKey } from "./api-keys";
import type { Entity } from "./entities";
import type { Store } from "./store";

/** An organization and the key that scopes calls to it. */
export interface Organization {
  id: string;
  name: string;
  apiKey: string;
}

/** The keys are long and random, so that their plain hash tells nothing of them. */
const digest = (key: string) => hash("sha256", key, "hex");

export class Organizations {
  /** @param first its key is published */
  constructor(
    private readonly store: Store,
    private readonly keys: ApiKeys,
    private readonly first: string,
  ) {}

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
    const further = this.store.all("apiKey").find(({ fields }) => fields.hash === digest(key));
    return further && this.store.get("organization", further.parent);
  }

  /** The keys of an organization beside its first one. */
  furtherKeys(organization: string): Entity<"apiKey">[] {
    return this.store.children("apiKey", organization);
  }

  /** Makes a further key of an organization; it cannot be shown again. */
  makeKey(organization: string, name: string): { made: Entity<"apiKey">; key: string } {
    const key = randomKey();
    const fields = { name, hash: digest(key) };
    return { made: this.store.create({ kind: "apiKey", parent: organization, organization, fields }), key };
  }

  /** Takes a further key back at once; false: the organization has no such key. */
  revokeKey(organization: string, id: string): boolean {
    const key = this.furtherKeys(organization).find((one) => one.id === id);
    if (!key) return false;
    this.store.remove(key);
    return true;
  }

  add(name: string, apiKey?: string): Organization {
    if (this.find(name)) throw new ServiceError(`The organization ${name} already exists.`);
    return this.ensure(name, apiKey);
  }

  /** Adds it, unless it is there, and gives it the key, if it is to have another one than it has. */
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
