import { type CustomResourceOptions, type Input } from "@pulumi/pulumi";
import { type MembershipFields, type MembershipProperties } from "./generated";
import { external, isOf, Managed } from "./managed";
import { flatten, type InConsortium } from "./parents";
import { type Outputs } from "./properties";

export type MembershipArgs = MembershipFields & InConsortium;

export interface Membership extends Outputs<MembershipProperties> {}

/** The part of one business in a consortium. */
export class Membership extends Managed {
  /** Whether it is one, on either provider. Policies ask this, of a value that has only its type. */
  static override isInstance(value: unknown): value is Membership {
    return isOf("Membership", value);
  }

  constructor(name: string, args: MembershipArgs, opts?: CustomResourceOptions) {
    super("Membership", name, { ...flatten(`Membership ${name}`, args), orgName: args.orgName ?? name }, opts);
  }

  /** Reads a membership that is not managed by this stack. */
  static get(name: string, id: Input<string>, where: InConsortium, opts?: CustomResourceOptions): Membership {
    return new Membership(name, where, external(id, opts));
  }
}
