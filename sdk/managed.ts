import { CustomResource, type CustomResourceOptions, type Input } from "@pulumi/pulumi";
import { stub } from "../provider/dynamic/stub";
import { timeoutInputs } from "./durations";
import { facts } from "./generated";

export type Kind = keyof typeof facts;

/** The type token of a resource class, for policies and states. */
export const token = (kind: Kind): string => `pulumi-nodejs:dynamic/consortium:${kind}`;

/** What all resources of this package share: the inputs go to the provider process under flat names. */
export abstract class Managed extends CustomResource {
  protected constructor(
    kind: Kind,
    name: string,
    inputs: Record<string, Input<unknown>>,
    opts?: CustomResourceOptions,
  ) {
    const { handler, outputs, secrets } = facts[kind];
    const unset = Object.fromEntries(outputs.map((key) => [key, undefined]));
    const props = { ...unset, ...inputs, customTimeouts: timeoutInputs(name, opts), __provider: stub(handler) };
    super(token(kind), name, props, {
      ...opts,
      additionalSecretOutputs: [...(opts?.additionalSecretOutputs ?? []), ...secrets],
    });
  }
}

/** Options to read what is not managed by this stack, for the `get` of each class. */
export const external = (id: Input<string>, opts?: CustomResourceOptions): CustomResourceOptions => ({ ...opts, id });
