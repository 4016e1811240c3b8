import * as pulumi from "@pulumi/pulumi";

/** Does nothing and returns at once. */
const provider: pulumi.dynamic.ResourceProvider = {
  create: (inputs: Record<string, unknown>) => Promise.resolve({ id: String(inputs.name), outs: inputs }),
};

type Args = Record<string, pulumi.Input<unknown>>;

/** Ids of parents are inputs, so that resources depend on each other as in the quickstart. */
class Empty extends pulumi.dynamic.Resource {
  declare readonly name: pulumi.Output<string>;
  declare readonly urls: pulumi.Output<{ rpc: string; wss: string }>;
  declare readonly username: pulumi.Output<string>;
  declare readonly password: pulumi.Output<string>;
  declare readonly account: pulumi.Output<string>;
  constructor(name: string, args: Args, outputs: string[], opts?: pulumi.CustomResourceOptions) {
    const inputs = Object.entries(args).map(([key, value]) =>
      value instanceof Empty ? [`${key}Id`, value.id] : [key, value],
    );
    const unset = outputs.map((key) => [key, undefined] as const);
    super(provider, name, { ...Object.fromEntries(unset), name, ...(Object.fromEntries(inputs) as Args) }, opts);
  }
}

/** A class with these outputs. Resources in an environment are deleted with it. */
const classWith = (...outputs: string[]) =>
  class extends Empty {
    constructor(name: string, args: Args, opts: pulumi.CustomResourceOptions = {}) {
      const { environment } = args;
      const inside = environment instanceof Empty ? { deletedWith: environment } : {};
      const additionalSecretOutputs = outputs.filter((key) => key === "password");
      super(name, args, outputs, { ...inside, additionalSecretOutputs, ...opts });
    }
  };

export const Consortium = classWith("owner", "state");
export const Membership = classWith("orgId", "state");
export const Environment = classWith("state", "chainId");
export const Node = classWith("state", "urls");
export const AppCred = classWith("username", "password");
export const TetherService = classWith("account");
