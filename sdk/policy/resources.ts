import { type PolicyProviderResource, type PolicyResource, type ResourceValidationArgs } from "@pulumi/policy";
import { kindOf } from "../../provider/constants";
import { kinds } from "../generated";
import { type Kind } from "../managed";

const isKind = (text: string | undefined): text is Kind => text !== undefined && Object.hasOwn(kinds, text);

/** A value that is not known before the run has made it. */
export const unknown = Symbol("unknown");

/** A property, or `unknown`: the host lets nobody read an unknown one. */
export function read(props: Record<string, unknown>, key: string): unknown {
  try {
    return props[key];
  } catch {
    return unknown;
  }
}

/** What a policy may know of a resource of this package. */
export interface Resource {
  kind: Kind;
  urn: string;
  /** Its name in the program. */
  name: string;
  /** Name of the stack it belongs to. */
  stack: string;
  protect: boolean;
  provider?: PolicyProviderResource;
  get: (key: string) => unknown;
  /** Text that is known, or undefined. */
  text: (key: string) => string | undefined;
  /** A number that is known, or undefined. */
  number: (key: string) => number | undefined;
}

const stackOfUrn = (urn: string): string => urn.split("::")[0]!.replace(/^urn:pulumi:/, "");

/** The resource as policies see it; undefined for those of other packages. */
export function resourceOf(
  source: Pick<ResourceValidationArgs | PolicyResource, "type" | "urn" | "name" | "opts" | "provider" | "props">,
): Resource | undefined {
  const kind = kindOf(source.type);
  if (!isKind(kind)) return undefined;
  const { urn, name, provider, props } = source;
  const get = (key: string): unknown => read(props, key);
  const text = (key: string): string | undefined => {
    const value = get(key);
    return typeof value === "string" && value !== "" ? value : undefined;
  };
  const number = (key: string): number | undefined => {
    const value = get(key);
    return typeof value === "number" ? value : undefined;
  };
  const { protect } = source.opts;
  return { kind, urn, name, stack: stackOfUrn(urn), protect, provider, get, text, number };
}

/** A resource of the plan, with those around it. */
export interface Member extends Resource {
  source: PolicyResource;
}

const byName = (a: Resource, b: Resource): number => (a.name < b.name || (a.name === b.name && a.urn < b.urn) ? -1 : 1);

/** The plan, or what has become of it. What programs only read with `get` is not in it: the engine leaves that out. */
export class Stack {
  /** In the order in which messages name them. */
  readonly members: readonly Member[];

  constructor(resources: readonly PolicyResource[]) {
    const members = resources.flatMap((source) => {
      const resource = resourceOf(source);
      return resource ? [{ ...resource, source }] : [];
    });
    this.members = members.sort(byName);
  }

  of(kind: Kind): Member[] {
    return this.members.filter((member) => member.kind === kind);
  }
}

/** The resources that another one was made from: what its properties use, and `dependsOn`. */
export const dependenciesOf = ({ dependencies, propertyDependencies }: PolicyResource): PolicyResource[] => [
  ...new Set([...dependencies, ...Object.values(propertyDependencies).flat()]),
];

/** Its parent, the parent of that, and so on up to the stack. */
export function ancestorsOf({ parent }: PolicyResource): PolicyResource[] {
  return parent ? [parent, ...ancestorsOf(parent)] : [];
}
