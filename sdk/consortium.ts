import { type CustomResourceOptions, type Input } from "@pulumi/pulumi";
import { type ConsortiumFields, type ConsortiumProperties } from "./generated";
import { external, Managed, token } from "./managed";
import { type Outputs } from "./properties";

export type ConsortiumArgs = ConsortiumFields;

export interface Consortium extends Outputs<ConsortiumProperties> {}

/** A business network that several organizations run together. */
export class Consortium extends Managed {
  /** @internal lets policies match this class */
  static readonly __pulumiType = token("Consortium");

  constructor(name: string, args: ConsortiumArgs = {}, opts?: CustomResourceOptions) {
    super("Consortium", name, { ...args, name: args.name ?? name }, opts);
  }

  /** Reads a consortium that is not managed by this stack. */
  static get(name: string, id: Input<string>, opts?: CustomResourceOptions): Consortium {
    return new Consortium(name, {}, external(id, opts));
  }
}
