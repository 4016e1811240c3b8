import { type CustomResourceOptions, type Input } from "@pulumi/pulumi";
import { type NodeFields, type NodeProperties } from "./generated";
import { external, isOf, Managed } from "./managed";
import { flatten, type InEnvironment, type OfMembership } from "./parents";
import { type Outputs } from "./properties";

export type NodeArgs = NodeFields & InEnvironment & OfMembership;

export interface Node extends Outputs<NodeProperties> {}

/** A blockchain node that one member runs in an environment. */
export class Node extends Managed {
  /** Whether it is one, on either provider. Policies ask this, of a value that has only its type. */
  static override isInstance(value: unknown): value is Node {
    return isOf("Node", value);
  }

  constructor(name: string, args: NodeArgs, opts?: CustomResourceOptions) {
    const inputs = { ...flatten(`Node ${name}`, args), name: args.name ?? name };
    // An environment has room for few nodes, and a node keeps nothing of its own: `up --replace` can do with its name.
    super("Node", name, inputs, { deleteBeforeReplace: true, ...opts });
  }

  /** Reads a node that is not managed by this stack. */
  static get(name: string, id: Input<string>, where: InEnvironment, opts?: CustomResourceOptions): Node {
    return new Node(name, where as NodeArgs, external(id, opts));
  }
}
