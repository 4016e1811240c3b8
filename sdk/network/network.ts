import { ComponentResource, type ComponentResourceOptions, Output, RunError } from "@pulumi/pulumi";
import { type NetworkDefinition } from "./generated";
import type * as Loaded from "./load";
import {
  makeConsortium,
  type NetworkConsortiumResources,
  type NetworkEnvironmentResources,
  type NetworkOutputs,
  outputsOf,
} from "./make";
import { type Plan } from "./plan";
import { processEnvironment } from "../../provider/api/environment";
import { networkType } from "../../provider/constants";
import { type PlacedProblem, summaryOf } from "../yaml/problems";

export type { PlacedProblem as NetworkProblem } from "../yaml/problems";

export interface NetworkOptions extends ComponentResourceOptions {
  /**
   * `true`: every entry adopts the object with its name in the service, unless the entry says otherwise; `false`: none does.
   * Default: `adopt` of the definition, else `false`.
   */
  adopt?: boolean;
}

export interface NetworkFileOptions extends NetworkOptions {
  /** Name of the network. Default: `name` in the file, else the name of the file without its extension. */
  name?: string;
}

/** The schema and the parser of YAML are loaded with the first network, not with the package. */
// eslint-disable-next-line @typescript-eslint/no-require-imports -- synchronous, as a constructor is
const loaded = (): typeof Loaded => require("./load") as typeof Loaded;

/** A definition is invalid. Reports all its errors at once; nothing of the network was created. */
export class NetworkDefinitionError extends RunError {
  readonly code = "invalid-file";
  constructor(
    /** How the message calls the definition. */
    what: string,
    /** All errors, in the order of the definition. */
    readonly problems: readonly PlacedProblem[],
  ) {
    super(loaded().coded(summaryOf(what, problems, "created"), "invalid-file"));
  }
}

/** The plan of a definition. @throws NetworkDefinitionError with all errors */
export function planned(name: string, definition: NetworkDefinition, adopt?: boolean): Plan {
  const isOutput = (value: unknown): boolean => Output.isInstance(value);
  const options = { isOutput, environment: processEnvironment() };
  const { plan, what, problems } = loaded().check(name, definition, adopt, options);
  if (!plan) throw new NetworkDefinitionError(what, problems);
  return plan;
}

/**
 * A whole network from one definition: consortium, members, environments with their nodes, credentials and tethers, zones,
 * configurations, services with their destinations, and invitations. See docs/network-files.md.
 *
 * Each part is a resource of its own. Its logical name consists of keys (`trade/prod/acme-1`), never of positions, so other
 * entries can be added, removed and moved without affecting it. The options `protect`, `provider`, `customTimeouts`,
 * `retainOnDelete` and `adopt` apply to every part.
 *
 * @throws NetworkDefinitionError at preview, with all errors of the definition, before anything is created
 */
export class Network extends ComponentResource {
  /** All consortia by key. The key of a single consortium is the name of the network. */
  declare readonly consortia: Readonly<Record<string, NetworkConsortiumResources>>;
  /** Ids, addresses and credentials of everything, by key, for a program to export. Passwords are secret. */
  declare readonly outputs: NetworkOutputs;

  /**
   * @param name logical name of the network, the first part of the names of all its resources
   * @param definition plain data, without Outputs; see docs/network-files.md
   */
  constructor(name: string, definition: NetworkDefinition, opts: NetworkOptions = {}) {
    const { adopt, ...options } = opts;
    const plan = planned(name, definition, adopt);
    const former = plan.formerly.map((name) => ({ name }));
    super(networkType, name, {}, { ...options, aliases: [...(options.aliases ?? []), ...former] });
    this.consortia = Object.fromEntries(
      plan.consortia.map((one) => [one.key, makeConsortium(one, plan, this, options)]),
    );
    this.outputs = outputsOf(this.consortia);
    this.registerOutputs({ consortia: this.outputs });
  }

  /**
   * The network that a YAML file describes (`network.yaml`; JSON is also YAML), at most 256 KiB.
   * @param file relative to the folder that the program runs in, usually the one with Pulumi.yaml
   */
  static fromFile(file: string, opts: NetworkFileOptions = {}): Network {
    const { name, ...options } = opts;
    const read = loaded().readNetwork(file, name);
    return new Network(read.name, read.definition, options);
  }

  /** The one consortium. @throws when the definition has several: they are in `consortia` */
  get consortium(): NetworkConsortiumResources["consortium"] {
    return this.only("consortium").consortium;
  }

  /** Members of the one consortium, by key. @throws when the definition has several consortia */
  get members(): NetworkConsortiumResources["members"] {
    return this.only("members").members;
  }

  /** Environments of the one consortium, by key, with their contents. @throws when the definition has several consortia */
  get environments(): Readonly<Record<string, NetworkEnvironmentResources>> {
    return this.only("environments").environments;
  }

  private only(what: string): NetworkConsortiumResources {
    const [first, ...others] = Object.entries(this.consortia);
    if (first && others.length === 0) return first[1];
    const keys = Object.keys(this.consortia);
    throw new Error(
      keys.length === 0
        ? "The network has no consortium."
        : `The network has several consortia: use consortia.${keys[0]!}.${what} (or one of ${keys.slice(1).join(", ")}).`,
    );
  }
}
