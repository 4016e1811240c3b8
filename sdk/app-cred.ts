import { type CustomResourceOptions } from "@pulumi/pulumi";
import { type AppCredFields, type AppCredProperties } from "./generated";
import { isOf, Managed } from "./managed";
import { flatten, type InEnvironment, type OfMembership } from "./parents";
import { type Outputs } from "./properties";

export type AppCredArgs = AppCredFields & InEnvironment & OfMembership;

export interface AppCred extends Outputs<AppCredProperties> {}

/** User name and password for the runtime endpoints of one member's nodes. */
export class AppCred extends Managed {
  /** Whether it is one, on either provider. Policies ask this, of a value that has only its type. */
  static override isInstance(value: unknown): value is AppCred {
    return isOf("AppCred", value);
  }

  constructor(name: string, args: AppCredArgs, opts?: CustomResourceOptions) {
    super("AppCred", name, { ...flatten(`AppCred ${name}`, args), name: args.name ?? name }, opts);
  }
}
