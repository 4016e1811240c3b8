import { type CustomResourceOptions, type Input } from "@pulumi/pulumi";
import { type ConsortiumFields, type ConsortiumProperties } from "./generated";
import { external, isOf, Managed } from "./managed";
import { type Outputs } from "./properties";

export type ConsortiumArgs = ConsortiumFields;

export interface Consortium extends Outputs<ConsortiumProperties> {}

/** A business network that several organizations run together. */
export class Consortium extends Managed {
  /** Whether it is one, on either provider. Policies ask this, of a value that has only its type. */
  static override isInstance(value: unknown): value is Consortium {
    return isOf("Consortium", value);
  }

  constructor(name: string, args: ConsortiumArgs = {}, opts?: CustomResourceOptions) {
    super("Consortium", name, { ...args, name: args.name ?? name }, opts);
  }

  /** Reads a consortium that is not managed by this stack. */
  static get(name: string, id: Input<string>, opts?: CustomResourceOptions): Consortium {
    return new Consortium(name, {}, external(id, opts));
  }
}
