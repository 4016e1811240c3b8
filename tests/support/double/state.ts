import { isSecret, type Props, secret } from "./wire";

/** A resource of a stack, as the state keeps it. */
export interface Resource {
  urn: string;
  type: string;
  name: string;
  /** Whether it is more than a component. */
  custom: boolean;
  id: string;
  /** In wire form: secrets are marked. */
  inputs: Props;
  outputs: Props;
  /** URN and id, with `::` between them; "" where a component has none. */
  provider: string;
  parent: string;
  dependencies: string[];
  propertyDependencies: Record<string, string[]>;
  deletedWith: string;
  retainOnDelete: boolean;
  additionalSecretOutputs: string[];
  ignoreChanges: string[];
  /** The resource option: where it is set, the engine takes it for whatever the diff says. */
  deleteBeforeReplace?: boolean;
  /** Seconds; 0: the provider's default. */
  timeouts: Record<"create" | "update" | "delete", number>;
  /** Why an object that exists is not ready. */
  initErrors: string[];
  /** Replaced, and to be deleted. */
  delete: boolean;
  /** Deleted, and to be created anew. */
  pendingReplacement: boolean;
}

export const isProvider = ({ type }: Pick<Resource, "type">): boolean => type.startsWith("pulumi:providers:");
export const providerUrn = (reference: string): string => reference.slice(0, reference.lastIndexOf("::"));
/** How a line of the log names it: `Node n1`. */
export const label = ({ type, name }: Resource): string => `${type.split(":").at(-1)} ${name}`;

/** URNs of all that a resource needs: they exist before it, and go after it. */
const needsOf = (one: Resource): string[] =>
  [
    ...one.dependencies,
    ...Object.values(one.propertyDependencies).flat(),
    one.parent,
    one.deletedWith,
    one.provider && providerUrn(one.provider),
  ].filter((urn) => urn !== "");

/** All that need one of these, directly or not, in the order of the state. */
export function dependents(state: readonly Resource[], roots: readonly string[], { children = true } = {}): Resource[] {
  const within = new Set(roots);
  return state.filter((one) => {
    const needs = children ? needsOf(one) : needsOf({ ...one, parent: "" });
    const isOne = needs.some((urn) => within.has(urn)); // also an old row that waits for its deletion, which has the URN of the new one
    if (isOne) within.add(one.urn);
    return isOne;
  });
}

/** Groups that can be deleted at the same time, one after another: first those that no other of them needs. */
export function inDeletionOrder(condemned: readonly Resource[]): Resource[][] {
  const left = new Set(condemned);
  const groups: Resource[][] = [];
  while (left.size > 0) {
    // As the engine: each group holds what needs none of the rest, and the groups are turned round.
    const group = [...left].filter(
      (one) => ![...left].some((other) => other !== one && reaches(one, other, condemned)),
    );
    for (const one of group) left.delete(one);
    groups.unshift(group);
  }
  return groups;
}

/** Whether one needs the other, directly or not. A replaced resource has the URN of the new one: it is told by its place. */
function reaches(one: Resource, other: Resource, all: readonly Resource[], seen = new Set<Resource>()): boolean {
  if (seen.has(one)) return false;
  seen.add(one);
  const next = all.filter((candidate) => candidate !== one && needsOf(one).includes(candidate.urn));
  return next.some((candidate) => candidate === other || reaches(candidate, other, all, seen));
}

/** A registration. */
export type Wanted = Omit<Resource, "id" | "outputs" | "initErrors" | "delete" | "pendingReplacement" | "urn"> & {
  urn: string;
  aliases: string[];
};

export const isDefault = (one: Resource): boolean => isProvider(one) && /^default(_|$)/.test(one.name);

type Named = Pick<Wanted, "urn" | "type" | "name"> & Partial<Wanted>;

export const fresh = ({ aliases: _aliases, ...wanted }: Named): Resource => ({
  custom: true,
  inputs: {},
  provider: "",
  parent: "",
  dependencies: [],
  propertyDependencies: {},
  deletedWith: "",
  retainOnDelete: false,
  additionalSecretOutputs: [],
  ignoreChanges: [],
  timeouts: { create: 0, update: 0, delete: 0 },
  ...wanted,
  id: "",
  outputs: {},
  initErrors: [],
  delete: false,
  pendingReplacement: false,
});

/** Outputs that the program calls secret, or that were secret inputs. */
export const marked = ({ additionalSecretOutputs, inputs }: Resource, outs: Props): Props =>
  Object.fromEntries(
    Object.entries(outs).map(([key, value]) => {
      const hide = additionalSecretOutputs.includes(key) || isSecret(inputs[key]);
      return [key, hide && !isSecret(value) ? secret(value) : value];
    }),
  );

/** The state of a stack during a run. */
export class Rows {
  olds: Resource[];
  readonly news: Resource[] = [];
  /** Of the old state, what is not there any more. */
  readonly dropped = new Set<Resource>();
  /** URNs of what the run deletes. */
  readonly deletes = new Set<string>();

  /** @param kept gets the state after each step, as a backend does */
  constructor(
    olds: readonly Resource[],
    private readonly kept: (state: Resource[]) => void,
  ) {
    this.olds = olds.map((one) => ({ ...one }));
  }

  /** Of the old state, what is still there. */
  get left(): Resource[] {
    return this.olds.filter((one) => !this.dropped.has(one));
  }

  add(made: Resource): void {
    this.news.push(made);
    this.keep();
  }

  keep(): void {
    this.kept([...this.news, ...this.left]);
  }

  /** Takes what a refresh has not found out of the old state. */
  forgetDropped(): void {
    const gone = new Set(this.olds.filter((one) => this.dropped.has(one)).map(({ urn }) => urn));
    this.olds = this.left;
    for (const one of this.olds) {
      one.dependencies = one.dependencies.filter((urn) => !gone.has(urn));
      if (gone.has(one.deletedWith)) one.deletedWith = "";
      for (const [key, urns] of Object.entries(one.propertyDependencies))
        one.propertyDependencies[key] = urns.filter((urn) => !gone.has(urn));
    }
    this.keep();
  }
}
