import {
  CustomResource,
  type CustomResourceOptions,
  type Input,
  isSecret,
  Output,
  output,
  type Resource,
  RunError,
  runtime,
  secret,
} from "@pulumi/pulumi";
import { brokenReason, brokenTexts, printable } from "../provider/api/printable";
import {
  durationSeconds,
  dynamicPrefix,
  insteadOfImport,
  logicalNameKey,
  partsOfUrn,
  pluginPrefix,
  previewKey,
  programKey,
  providerNameKey,
  secretsKey,
  stub,
} from "../provider/constants";
import { type Path } from "../provider/core/values";
import { version } from "../provider/version";
import { onBothProviders } from "./aliases";
import { kinds } from "./generated";
import { onPlugin, type Provider } from "./provider";

export type Kind = keyof typeof kinds;

/** The type token of a resource class on the dynamic provider. */
export const token = (kind: Kind): string => dynamicPrefix + kind;

/** @throws for an import, where Pulumi would crash: it reads without the inputs, which contain the provider. */
function refuseImport(kind: Kind, name: string, { import: id }: CustomResourceOptions = {}): void {
  if (id === undefined) return;
  // `adopt` takes an id, or the name that the resource has: a path with names is for imports alone.
  const known = typeof id === "string" && !id.includes("/") ? printable(id) : "<id>";
  const adopt = `Set the argument adopt: "${known}"${known === "<id>" ? ", the object's own id," : ""} instead; for a whole network, use \`consortium export --adopt\`.`;
  const why = "Pulumi's option import does not work for dynamic resources.";
  const onPlugin =
    kind === "TetherService"
      ? ""
      : " On the provider plugin (`pulumi config set consortium:plugin true`) the option works.";
  throw new RunError(`${kind} ${name}: ${why} ${insteadOfImport[kind] ?? adopt}${onPlugin}`);
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

const isLater = (value: unknown): value is Output<unknown> | Promise<unknown> =>
  Output.isInstance(value) || value instanceof Promise;

/** Values within inputs that may be secret, each with its path. */
function laterIn(value: unknown, path: Path = []): { path: Path; value: Input<unknown> }[] {
  if (isLater(value)) return [{ path, value }];
  if (Array.isArray(value)) return value.flatMap((part, index) => laterIn(part, [...path, index]));
  if (typeof value !== "object" || value?.constructor !== Object) return [];
  return Object.entries(value).flatMap(([key, part]) => laterIn(part, [...path, key]));
}

/** Paths of the secret inputs, which the host of dynamic providers does not pass on. A rejected input reports its own error. */
function secretInputs(inputs: Props): Props {
  const later = laterIn(inputs);
  if (later.length === 0) return {};
  const secret = ({ path, value }: (typeof later)[number]): Promise<Path[]> =>
    isSecret(output(value)).then(
      (is) => (is ? [path] : []),
      () => [],
    );
  const all = Promise.all(later.map(secret)).then((paths) => paths.flat());
  return { [secretsKey]: all.then((paths) => (paths.length > 0 ? paths : undefined)) };
}

/** The types in the URN of a parent. A promise: an output of a component would wait for all of its children, this one included. */
const typesOf = ({ urn }: Resource): Promise<string> =>
  new Promise((resolve) => void urn.apply((text) => resolve(partsOfUrn(text).types)));

/** Nothing else tells a provider of a preview before it is to show a change. */
const previewMark = (): Props => (runtime.isDryRun() ? { [previewKey]: true } : {});

/** What a resource of the dynamic provider is registered with. */
function dynamic(kind: Kind, name: string, inputs: Props, opts: CustomResourceOptions): Registration {
  refuseImport(kind, name, opts);
  const own = { customTimeouts: timeoutInputs(name, opts), __provider: stub(kinds[kind].handler) };
  const props: Props = { ...inputs, ...own, ...secretInputs(inputs) };
  // The host tells the provider neither its name nor the URN.
  props[logicalNameKey] = opts.parent ? typesOf(opts.parent).then((types) => [name, types]) : name;
  const { given } = (opts.provider ?? opts.parent?.getProvider(token(kind)) ?? {}) as Partial<Provider>;
  if (given) props[providerNameKey] = given.provider;
  Object.assign(props, previewMark());
  return { type: token(kind), props, opts: { ...opts, aliases: onBothProviders(token(kind), name, opts) } };
}

/** What a resource of the plugin is registered with: the engine itself knows time-outs and imports. */
const native = (kind: Kind, name: string, inputs: Props, opts: CustomResourceOptions): Registration => ({
  type: pluginPrefix + kind,
  props: { ...inputs, [programKey]: version, ...previewMark() },
  opts: { version, ...opts, aliases: onBothProviders(pluginPrefix + kind, name, opts) },
});

type Props = Record<string, Input<unknown>>;

interface Registration {
  type: string;
  props: Props;
  opts: CustomResourceOptions;
}

/** @throws where Pulumi could not hand a text on, and would not say which. What is not known yet, the provider checks. */
function refuseBroken(kind: Kind, name: string, inputs: Props): void {
  const [first] = brokenTexts({ "its logical name": name, ...inputs });
  if (first)
    throw new RunError(
      printable(`${kind} ${name.replace(/\p{Surrogate}/gu, "?")}: ${first.join(".")}: ${brokenReason}.`),
    );
}

/** What all resources of this package share: the inputs go to the provider process under flat names. */
export abstract class Managed extends CustomResource {
  protected constructor(kind: Kind, name: string, plain: Props, given: CustomResourceOptions = {}) {
    const { outputs, secrets } = kinds[kind];
    refuseBroken(kind, name, plain);
    const hidden = secrets.filter((key) => plain[key] !== undefined);
    const inputs = { ...plain, ...Object.fromEntries(hidden.map((key) => [key, secret(plain[key])])) };
    const { type, props, opts } = onPlugin() ? native(kind, name, inputs, given) : dynamic(kind, name, inputs, given);
    const unset = Object.fromEntries(outputs.map((key) => [key, undefined]));
    const additionalSecretOutputs = [...(opts.additionalSecretOutputs ?? []), ...secrets];
    const { stackTraceLimit } = Error;
    // The SDK captures a stack for each property, which is half the cost of a registration.
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
