import { type PolicyProviderResource, type PolicyResource, type ResourceValidationArgs } from "@pulumi/policy";
import { type ClassName, classOf, partsOfUrn } from "../../provider/constants";
import { groupBy } from "../../provider/plain";
import { classes } from "../generated";

const isClassName = (text: string | undefined): text is ClassName => text !== undefined && Object.hasOwn(classes, text);

/** A value that is not known yet. */
export const unknown = Symbol("unknown");

/** A property, or `unknown`: the host throws when an unknown one is read. */
export function read(props: Record<string, unknown>, key: string): unknown {
  try {
    return props[key];
  } catch {
    return unknown;
  }
}

/** A resource of this package, for policies. */
export interface Resource {
  className: ClassName;
  urn: string;
  /** Its logical name. */
  name: string;
  /** Name of the stack it belongs to. */
  stack: string;
  protect: boolean;
  provider?: PolicyProviderResource;
  get: (key: string) => unknown;
  /** The property if it is known, not empty text. */
  text: (key: string) => string | undefined;
  /** The property if it is a known number. */
  number: (key: string) => number | undefined;
}

/** Undefined for resources of other packages. */
export function resourceOf(
  source: Pick<ResourceValidationArgs | PolicyResource, "type" | "urn" | "name" | "opts" | "provider" | "props">,
): Resource | undefined {
  const className = classOf(source.type);
  if (!isClassName(className)) return undefined;
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
  return { className, urn, name, stack: partsOfUrn(urn).stack, protect, provider, get, text, number };
}

/** A resource with its parents and dependencies. */
export interface Member extends Resource {
  source: PolicyResource;
}

const byName = (a: Resource, b: Resource): number => (a.name < b.name || (a.name === b.name && a.urn < b.urn) ? -1 : 1);

/** All dependencies of a resource: of its properties, and `dependsOn`. */
export const dependenciesOf = ({ dependencies, propertyDependencies }: PolicyResource): PolicyResource[] => [
  ...new Set([...dependencies, ...Object.values(propertyDependencies).flat()]),
];

/** Its parent, that one's parent, and so on up to the stack. */
export function ancestorsOf({ parent }: PolicyResource): PolicyResource[] {
  return parent ? [parent, ...ancestorsOf(parent)] : [];
}

export type ParentClass = "Consortium" | "Environment" | "Membership";

/** The property with the id of each parent. */
export const propertyOf = {
  Consortium: "consortiumId",
  Environment: "environmentId",
  Membership: "membershipId",
} as const;

/** The known parent of a resource: its id, the resource of this stack, or both. */
interface Link {
  id?: string;
  urn?: string;
  /** The id certainly belongs to the resource, because the property depends on it. */
  sure?: true;
}

const only = (found: readonly (Resource | undefined)[]): Resource | undefined => {
  const distinct = new Map(found.flatMap((resource) => (resource ? [[resource.urn, resource]] : [])));
  return distinct.size === 1 ? [...distinct.values()][0] : undefined;
};

const ofClass = (className: ParentClass, resources: readonly PolicyResource[]): (Resource | undefined)[] =>
  resources.map((source) => resourceOf(source)).filter((resource) => resource?.className === className);

/**
 * In a first preview no id is known. Then the property's dependencies show the parent, or else the resource's own parent, or the
 * only candidate in `dependsOn`. Several candidates count as none.
 */
function linkOf(source: PolicyResource, className: ParentClass): Link {
  const id = resourceOf(source)?.text(propertyOf[className]);
  const made = source.propertyDependencies[propertyOf[className]] ?? [];
  const direct = only(ofClass(className, made));
  if (direct) return { id, urn: direct.urn, sure: true };
  // `environment.consortiumId` depends on the environment, which depends on the consortium.
  const environment = className === "Consortium" ? only(ofClass("Environment", made)) : undefined;
  const between = environment && made.find(({ urn }) => urn === environment.urn);
  if (between) return { ...linkOf(between, className), ...(id && { id }) };
  if (id) return { id };
  const near =
    only(ofClass(className, ancestorsOf(source)).slice(0, 1)) ?? only(ofClass(className, dependenciesOf(source)));
  return { urn: near?.urn };
}

/**
 * All resources of a stack and which of them belong together, whether their parents are known by id or only as resources of the
 * same stack. The engine omits what programs read with `get`.
 */
export class Stack {
  /** In the order of messages. */
  readonly members: readonly Member[];
  readonly #ids = new Map<string, string>();

  constructor(resources: readonly PolicyResource[]) {
    const members = resources.flatMap((source) => {
      const resource = resourceOf(source);
      return resource ? [{ ...resource, source }] : [];
    });
    this.members = members.sort(byName);
    for (const { source } of members) {
      for (const className of Object.keys(propertyOf) as ParentClass[]) {
        const { id, urn, sure } = linkOf(source, className);
        if (id && urn && sure) this.#ids.set(urn, id);
      }
    }
  }

  of(className: ClassName): Member[] {
    return this.members.filter((member) => member.className === className);
  }

  /** The id of a resource, if its children have it: the policy host passes no ids. */
  idOf(urn: string): string | undefined {
    return this.#ids.get(urn);
  }

  /** The key of a parent: its id, or its URN while the id is not known. */
  keyOf({ urn }: Member): string {
    return this.#ids.get(urn) ?? urn;
  }

  /** The key of a resource's parent; undefined if it cannot be known yet. */
  key(member: Member, className: ParentClass): string | undefined {
    const { id, urn } = linkOf(member.source, className);
    return id ?? (urn && (this.#ids.get(urn) ?? urn));
  }

  /** The resource with a key, if this stack manages it. */
  find(className: ParentClass, key: string): Member | undefined {
    return this.of(className).find((member) => this.keyOf(member) === key);
  }

  /** Resources of a kind by their parent's key, which is `undefined` if it cannot be known yet. */
  group(className: ClassName, by: ParentClass): Map<string | undefined, Member[]> {
    return groupBy(this.of(className), (member) => this.key(member, by));
  }

  /** The same, without those whose parent cannot be known yet. */
  siblings(className: ClassName, by: ParentClass): Siblings[] {
    return [...this.group(className, by)].flatMap(([key, mine]) => {
      if (key === undefined) return [];
      const parent = this.find(by, key);
      const { provider } = parent ?? mine[0]!;
      return [{ key, owner: `${by} "${parent?.name ?? key}"`, urn: parent?.urn, provider, mine }];
    });
  }
}

/** Resources of this stack with the same parent. */
export interface Siblings {
  key: string;
  /** The parent in messages: `Environment "ledger"`. */
  owner: string;
  /** URN of the parent, if this stack manages it. */
  urn?: string;
  provider?: PolicyProviderResource;
  mine: Member[];
}

/** `"a", "b" and "c"` */
export const listed = (names: readonly string[]): string =>
  new Intl.ListFormat("en-GB").format(names.map((name) => `"${name}"`));
