import { ServiceError } from "../errors";
import type { ApiKeys } from "./api-keys";
import type { Entity } from "./entities";
import type { Store } from "./store";

/** An organization and the key that scopes calls to it. */
export interface Organization {
  id: string;
  name: string;
  apiKey: string;
}

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
    return name === undefined ? undefined : this.find(name);
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
