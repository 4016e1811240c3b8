import {
  type Alias,
  CustomResource,
  type CustomResourceOptions,
  getProject,
  getStack,
  type Input,
  RunError,
  runtime,
} from "@pulumi/pulumi";
import { printable } from "../provider/api/printable";
import { previewKey, programKey } from "../provider/adapter/keys";
import { stub } from "../provider/dynamic/stub";
import { version } from "../provider/version";
import { durationSeconds, dynamicPrefix, insteadOfImport, kindOf, pluginPrefix } from "../provider/facts";
import { facts } from "./generated";
import { onPlugin } from "./plugin";

export type Kind = keyof typeof facts;

/** The type token of a resource class on the dynamic provider. */
export const token = (kind: Kind): string => dynamicPrefix + kind;

/** Whether a resource, or a value with nothing but its type, is of a class, on either provider. */
export const isOf = (kind: Kind, value: unknown): boolean =>
  kindOf(String((value as { __pulumiType?: unknown } | undefined)?.__pulumiType)) === kind;

/** @throws where Pulumi would read the resource without the provider that is in its inputs, and crash. */
function refuseImport(kind: Kind, name: string, { import: id }: CustomResourceOptions = {}): void {
  if (id === undefined) return;
  const known = typeof id === "string" ? printable(id) : "<id>";
  const adopt = `Set the argument adopt: "${known}" instead; for a whole network, use \`consortium export --adopt\`.`;
  const why = "Pulumi's option import does not work for dynamic resources.";
  throw new RunError(`${kind} ${name}: ${why} ${insteadOfImport[kind] ?? adopt}`);
}

/** The resource option in seconds, for the inputs: the host does not hand the option on to the provider. */
function timeoutInputs(name: string, opts?: CustomResourceOptions): Record<string, number> | undefined {
  const given = Object.entries(opts?.customTimeouts ?? {}).filter(([, text]) => text !== undefined);
  if (given.length === 0) return undefined;
  const seconds = given.map(([verb, text]) => {
    const found = durationSeconds(String(text));
    if (found !== undefined) return [verb, found];
    throw new RunError(
      `${name}: customTimeouts.${verb}: "${text}" is not a duration. Write it like 90s, 10m or 1h30m.`,
    );
  });
  return Object.fromEntries(seconds) as Record<string, number>;
}

/** The same resource on the other adapter, under this name and each earlier one: moving between the two replaces nothing. */
function alsoOf(
  type: string,
  name: string,
  { aliases, parent }: CustomResourceOptions,
): CustomResourceOptions["aliases"] {
  const moved = (alias: Input<string | Alias>): Input<string | Alias>[] =>
    typeof alias === "object" && "name" in alias && !("type" in alias) ? [alias, { ...alias, type }] : [alias];
  if (aliases !== undefined && !Array.isArray(aliases)) return aliases;
  // Where nothing is above it, its URN is known, which spares the SDK half a dozen outputs.
  const here = parent === undefined ? `urn:pulumi:${getStack()}::${getProject()}::${type}::${name}` : { type };
  return [...(aliases ?? []).flatMap(moved), here];
}

/** What a resource of the dynamic provider is registered with. */
function dynamic(kind: Kind, name: string, inputs: Props, opts: CustomResourceOptions): Registration {
  refuseImport(kind, name, opts);
  const props = { ...inputs, customTimeouts: timeoutInputs(name, opts), __provider: stub(facts[kind].handler) };
  if (runtime.isDryRun() && inputs.adopt !== undefined) Object.assign(props, { [previewKey]: true });
  return { type: token(kind), props, opts: { ...opts, aliases: alsoOf(pluginPrefix + kind, name, opts) } };
}

/** What a resource of the plugin is registered with: the engine itself knows time-outs and imports. */
const native = (kind: Kind, name: string, inputs: Props, opts: CustomResourceOptions): Registration => ({
  type: pluginPrefix + kind,
  props: { ...inputs, [programKey]: version },
  opts: { version, ...opts, aliases: alsoOf(token(kind), name, opts) },
});

type Props = Record<string, Input<unknown>>;

interface Registration {
  type: string;
  props: Props;
  opts: CustomResourceOptions;
}

/** What all resources of this package share: the inputs go to the provider process under flat names. */
export abstract class Managed extends CustomResource {
  protected constructor(kind: Kind, name: string, inputs: Props, given: CustomResourceOptions = {}) {
    const { outputs, secrets } = facts[kind];
    const { type, props, opts } = onPlugin() ? native(kind, name, inputs, given) : dynamic(kind, name, inputs, given);
    const unset = Object.fromEntries(outputs.map((key) => [key, undefined]));
    const additionalSecretOutputs = [...(opts.additionalSecretOutputs ?? []), ...secrets];
    const { stackTraceLimit } = Error;
    // The SDK takes the stack for each property, to say which promise never settled: half of what a registration costs.
    Error.stackTraceLimit = 0;
    try {
      super(type, name, { ...unset, ...props }, { ...opts, additionalSecretOutputs });
    } catch (error) {
      Error.stackTraceLimit = stackTraceLimit;
      if (error instanceof Error) Error.captureStackTrace(error, Managed);
      throw error;
    } finally {
      Error.stackTraceLimit = stackTraceLimit;
    }
  }
}

/** Options to read what is not managed by this stack, for the `get` of each class. */
export const external = (id: Input<string>, opts?: CustomResourceOptions): CustomResourceOptions => ({ ...opts, id });
