import { type Input, type Output } from "@pulumi/pulumi";

/* What classes make of the properties of a resource (generated.ts). */

/** Arguments: those that are needed, and those that may be left out. */
export type Args<P, Needed extends keyof P, Optional extends keyof P> = {
  [K in Needed]: Input<P[K]>;
} & { [K in Optional]?: Input<Exclude<P[K], undefined>> };

/** What a resource shows: everything, once it is known. */
export type Outputs<P> = { readonly [K in keyof P]-?: Output<P[K]> };
