import {
  type ClassName,
  dynamicPrefix,
  dynamicProvider,
  pluginPrefix,
  pluginProvider,
} from "../../../provider/constants";

/** How Pulumi writes a value that is not known yet. */
export const unknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

export type Props = Record<string, unknown>;

/** A resource as the engine shows it to policies. */
export interface Planned {
  type: string;
  name: string;
  urn: string;
  props: Props;
  protect: boolean;
  parent?: Planned;
  provider?: Planned;
  dependencies: Planned[];
  propertyDependencies: Record<string, Planned[]>;
}

interface Options {
  parent?: Planned;
  provider?: Planned;
  protect?: boolean;
  dependsOn?: Planned[];
  /** The resources that the property comes from, unless it is a parent given as a resource. */
  madeFrom?: Record<string, Planned[]>;
}

/** Parents as in programs; ids of resources are unknown, as at a first preview, or those that `idOf` says. */
interface Args extends Props {
  consortium?: Planned;
  environment?: Planned;
  membership?: Planned;
}

export const idOf = (resource: Planned): string => `id-of-${resource.name}`;

/** A stack as it is planned, built like a program. */
export class Plan {
  readonly resources: Planned[] = [];
  readonly #root: Planned;
  readonly #default: Planned;

  constructor(
    private readonly stack = "test",
    /** Whether all resources exist already, so that their ids are known. */
    readonly deployed = false,
    private readonly plugin = false,
  ) {
    this.#root = this.#put("pulumi:pulumi:Stack", `e2e-${stack}`, {}, {});
    this.#default = this.#put(this.#providerType(), plugin ? "default_0_1_0" : "default", {}, {});
  }

  add(
    className: ClassName,
    name: string,
    { consortium, environment, membership, ...args }: Args = {},
    options: Options = {},
  ) {
    const props: Props = { ...(className === "Membership" ? { orgName: name } : { name }), ...args };
    const madeFrom: Record<string, Planned[]> = {};
    const link = (key: string, parent: Planned | undefined, id: unknown): void => {
      if (!parent) return;
      props[key] = this.deployed ? id : unknown;
      madeFrom[key] = [parent];
    };
    link("consortiumId", consortium, consortium && idOf(consortium));
    link("environmentId", environment, environment && idOf(environment));
    link("consortiumId", environment, environment?.props.consortiumId);
    link("membershipId", membership, membership && idOf(membership));
    const all = { provider: this.#default, ...options, madeFrom: { ...madeFrom, ...options.madeFrom } };
    return this.#put((this.plugin ? pluginPrefix : dynamicPrefix) + className, name, props, all);
  }

  component(name: string, parent?: Planned): Planned {
    return this.#put("test:index:Component", name, {}, { parent });
  }

  provider(name: string, given: Record<string, string>): Planned {
    // As programs in YAML and Python do, which have no class that says what is its own.
    if (this.plugin) return this.#put(this.#providerType(), name, { ...given, version: "0.3.0" }, {});
    const props = Object.fromEntries(Object.entries(given).map(([key, value]) => [`consortium:${key}`, value]));
    const own = { "consortium:own": Object.keys(given).join(",") };
    return this.#put(this.#providerType(), name, { ...props, ...own }, {});
  }

  #providerType(): string {
    return this.plugin ? pluginProvider : dynamicProvider;
  }

  /** The stack's configuration, for the default provider. */
  configure(settings: Record<string, string>): void {
    for (const [key, value] of Object.entries(settings))
      this.#default.props[this.plugin ? key : `consortium:${key}`] = value;
  }

  #put(type: string, name: string, props: Props, options: Options): Planned {
    const { parent = this.#root, provider, protect = false, dependsOn = [], madeFrom = {} } = options;
    const planned: Planned = {
      type,
      name,
      props,
      protect,
      parent,
      provider,
      urn: `urn:pulumi:${this.stack}::e2e::${type}::${name}`,
      dependencies: [...new Set([...dependsOn, ...Object.values(madeFrom).flat()])],
      propertyDependencies: madeFrom,
    };
    this.resources.push(planned);
    return planned;
  }
}

/** A consortium with an environment of raft, and members; the start of most plans. */
export function network(plan: Plan, members = ["acme", "bolt"]) {
  const consortium = plan.add("Consortium", "trade");
  const environment = plan.add("Environment", "ledger", { consortium, provider: "quorum", consensusType: "raft" });
  const memberships = members.map((name) => plan.add("Membership", name, { consortium }));
  const node = (name: string, owner = 0, options: Options = {}): Planned =>
    plan.add("Node", name, { environment, membership: memberships[owner]! }, options);
  return { consortium, environment, memberships, node };
}
