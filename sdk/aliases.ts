import {
  type Alias,
  getProject,
  getStack,
  type Input,
  output,
  Output,
  Resource,
  type ResourceOptions,
} from "@pulumi/pulumi";
import {
  dynamicPrefix,
  dynamicProvider,
  kindOf,
  partsOfUrn,
  pluginPrefix,
  pluginProvider,
} from "../provider/constants";
import { kinds } from "./generated";

type Aliases = NonNullable<ResourceOptions["aliases"]>;

/** The same resource's type on the other provider. Types of other packages stay. */
export function counterpartOf(type: string): string {
  if (type === dynamicProvider || type === pluginProvider)
    return type === pluginProvider ? dynamicProvider : pluginProvider;
  const kind = kindOf(type);
  if (kind === undefined || !(kind in kinds)) return type;
  return (type.startsWith(pluginPrefix) ? dynamicPrefix : pluginPrefix) + kind;
}

/** The URN of the same resource in a stack that is on the other provider: its parents are there, too. */
function counterpartUrn(urn: string): string {
  const { stack, project, types, name } = partsOfUrn(urn);
  return `urn:pulumi:${stack}::${project}::${types.split("$").map(counterpartOf).join("$")}::${name}`;
}

const isLater = (value: unknown): boolean => Output.isInstance(value) || value instanceof Promise;

const mapped = (value: Input<string>, map: (text: string) => string): Input<string> =>
  typeof value === "string" ? map(value) : output(value).apply(map);

/** What an alias stands for in a stack that is on the other provider. A part that it leaves out is that of the resource, but for the type. */
function counterpartAlias(alias: string | Alias, type: string): string | Alias {
  if (typeof alias === "string") return counterpartUrn(alias);
  const { parent, ...rest } = alias;
  const former = alias.type === undefined ? counterpartOf(type) : mapped(alias.type, counterpartOf);
  if (!("parent" in alias)) return { ...rest, type: former };
  // `parent: undefined` means that it had no parent.
  const above =
    parent === undefined ? undefined : mapped(Resource.isInstance(parent) ? parent.urn : parent, counterpartUrn);
  return { ...rest, type: former, parent: above };
}

/**
 * The aliases of a resource for both providers: moving between the two replaces nothing, also where it gets another name or
 * parent, or comes from another stack, in the same run.
 */
export function onBothProviders(type: string, name: string, { aliases = [], parent }: ResourceOptions): Aliases {
  const both = aliases.flatMap((alias): Aliases => [
    alias,
    isLater(alias)
      ? output(alias).apply((known) => counterpartAlias(known as string | Alias, type))
      : counterpartAlias(alias as string | Alias, type),
  ]);
  const former = counterpartOf(type);
  // Without a parent its URN is known, which saves the SDK half a dozen outputs.
  const here =
    parent === undefined ? `urn:pulumi:${getStack()}::${getProject()}::${former}::${name}` : { type: former };
  return [...both, here];
}
