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
  classOf,
  partsOfUrn,
  pluginPrefix,
  pluginProvider,
} from "../provider/constants";
import { classes } from "./generated";

type Aliases = NonNullable<ResourceOptions["aliases"]>;

/** The same resource's type on the other provider. Types of other packages stay. */
function counterpartOf(type: string): string {
  if (type === dynamicProvider || type === pluginProvider)
    return type === pluginProvider ? dynamicProvider : pluginProvider;
  const className = classOf(type);
  if (className === undefined || !(className in classes)) return type;
  return (type.startsWith(pluginPrefix) ? dynamicPrefix : pluginPrefix) + className;
}

/** The URN of the same resource in a stack on the other provider, which its parents also use. */
function counterpartUrn(urn: string): string {
  const { stack, project, types, name } = partsOfUrn(urn);
  return `urn:pulumi:${stack}::${project}::${types.split("$").map(counterpartOf).join("$")}::${name}`;
}

/** Whether a value is only known later. */
export const isLater = (value: unknown): value is Output<unknown> | Promise<unknown> =>
  Output.isInstance(value) || value instanceof Promise;

const mapped = (value: Input<string>, map: (text: string) => string): Input<string> => output(value).apply(map);

/** The same alias in a stack on the other provider. Parts that an alias omits come from the resource, except for the type. */
function counterpartAlias(alias: string | Alias, type: string): string | Alias {
  if (typeof alias === "string") return counterpartUrn(alias);
  const { parent, ...rest } = alias;
  const former = alias.type === undefined ? counterpartOf(type) : mapped(alias.type, counterpartOf);
  if (!("parent" in alias)) return { ...rest, type: former };
  // `parent: undefined` means that the resource had no parent.
  const above =
    parent === undefined ? undefined : mapped(Resource.isInstance(parent) ? parent.urn : parent, counterpartUrn);
  return { ...rest, type: former, parent: above };
}

/**
 * The aliases of a resource for both providers: moving between the two replaces nothing, even if the resource gets another name
 * or parent, or comes from another stack, in the same run.
 */
export function onBothProviders(type: string, name: string, { aliases = [], parent }: ResourceOptions): Aliases {
  const both = aliases.flatMap((alias): Aliases => [
    alias,
    isLater(alias)
      ? output(alias).apply((known) => counterpartAlias(known as string | Alias, type))
      : counterpartAlias(alias, type),
  ]);
  const former = counterpartOf(type);
  // Without a parent the URN is known at once, which saves the SDK half a dozen outputs.
  const here =
    parent === undefined ? `urn:pulumi:${getStack()}::${getProject()}::${former}::${name}` : { type: former };
  return [...both, here];
}
