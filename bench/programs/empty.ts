import * as pulumi from "@pulumi/pulumi";

/** Does nothing, as soon as it is asked. */
const provider: pulumi.dynamic.ResourceProvider = {
  create: (inputs: Record<string, unknown>) => Promise.resolve({ id: String(inputs.name), outs: inputs }),
};

type Args = Record<string, pulumi.Input<unknown>>;

/** Parents become inputs by their ids, so that resources depend on each other as in the quickstart. */
class Empty extends pulumi.dynamic.Resource {
  declare readonly name: pulumi.Output<string>;
  constructor(name: string, args: Args, outputs: string[], opts?: pulumi.CustomResourceOptions) {
    const inputs = Object.entries(args).map(([key, value]) =>
      value instanceof Empty ? [`${key}Id`, value.id] : [key, value],
    );
    const unset = outputs.map((key) => [key, undefined] as const);
    super(provider, name, { ...Object.fromEntries(unset), name, ...(Object.fromEntries(inputs) as Args) }, opts);
  }
}

export class Consortium extends Empty {
  constructor(name: string, args: { description: string }) {
    super(name, args, ["owner", "state"]);
  }
}

export class Membership extends Empty {
  constructor(name: string, args: { consortium: Consortium }) {
    super(name, args, ["orgId", "state"]);
  }
}

export class Environment extends Empty {
  constructor(name: string, args: { consortium: Consortium; provider: string; consensusType: string }) {
    super(name, args, ["state", "chainId"]);
  }
}

interface InEnvironment {
  environment: Environment;
  membership: Membership;
}

export class Node extends Empty {
  declare readonly urls: pulumi.Output<{ rpc: string; wss: string }>;
  constructor(name: string, args: InEnvironment) {
    super(name, { ...args }, ["state", "urls"], { deletedWith: args.environment });
  }
}

export class AppCred extends Empty {
  declare readonly username: pulumi.Output<string>;
  declare readonly password: pulumi.Output<string>;
  constructor(name: string, args: InEnvironment) {
    const additionalSecretOutputs = ["password"];
    super(name, { ...args }, ["username", "password"], { deletedWith: args.environment, additionalSecretOutputs });
  }
}

export class TetherService extends Empty {
  declare readonly account: pulumi.Output<string>;
  constructor(
    name: string,
    args: { tetherId: string; network: string; intervalHours: number },
    opts: pulumi.CustomResourceOptions,
  ) {
    super(name, args, ["account"], opts);
  }
}
