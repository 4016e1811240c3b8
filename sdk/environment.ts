import { type CustomResourceOptions, type Input } from "@pulumi/pulumi";
import { type ConsensusOf, type EnvironmentFields, type EnvironmentProperties } from "./generated";
import { external, isOf, Managed } from "./managed";
import { flatten, type InConsortium } from "./parents";
import { type Outputs } from "./properties";

type Client = keyof ConsensusOf;

/** Arguments of `Environment`. A client goes with a consensus protocol that it runs. */
export type EnvironmentArgs = { [C in Client]: EnvironmentFields<C> }[Client] & InConsortium;

export interface Environment extends Outputs<EnvironmentProperties> {}

/** A blockchain network: one ledger, with a client and a consensus protocol. */
export class Environment<C extends Client = Client> extends Managed {
  /** Whether it is one, on either provider. Policies ask this, of a value that has only its type. */
  static override isInstance(value: unknown): value is Environment {
    return isOf("Environment", value);
  }

  constructor(name: string, args: EnvironmentFields<C> & InConsortium, opts?: CustomResourceOptions) {
    super("Environment", name, { ...flatten(`Environment ${name}`, args), name: args.name ?? name }, opts);
  }

  /** Reads an environment that is not managed by this stack. */
  static get(name: string, id: Input<string>, where: InConsortium, opts?: CustomResourceOptions): Environment {
    return new Environment(name, where as EnvironmentArgs, external(id, opts));
  }
}
