import {
  CustomResource,
  type CustomResourceOptions,
  type Input,
  isSecret,
  output,
  type Resource,
  runtime,
  secret,
} from "@pulumi/pulumi";
import { brokenReason, brokenTexts, printable } from "../provider/api/printable";
import {
  durationSeconds,
  contentsKey,
  type ClassName,
  dynamicPrefix,
  hiddenKey,
  insteadOfImport,
  logicalNameKey,
  partsOfUrn,
  pluginPrefix,
  previewKey,
  programKey,
  secretSignature,
  secretsKey,
  stackKey,
  signatureKey,
  stub,
  unnamedKey,
} from "../provider/constants";
import { type Path } from "../provider/plain";
import { version } from "../provider/version";
import { isLater, onBothProviders } from "./aliases";
import { classes } from "./generated";
import { onPlugin, programError } from "./provider";

/** The type token of a resource class on the dynamic provider. */
const token = (className: ClassName): string => dynamicPrefix + className;

/** @throws for an import, which would crash Pulumi: it reads without the inputs, which contain the provider. */
function refuseImport(className: ClassName, name: string, { import: id }: CustomResourceOptions = {}): void {
  if (id === undefined) return;
  // Unlike an import, `adopt` does not take a path with names.
  const known = typeof id === "string" && !id.includes("/") ? printable(id) : "<id>";
  const adopt = `Set the argument adopt: "${known}"${known === "<id>" ? ", the object's own id," : ""} instead; for a whole network, use \`consortium export --adopt\`.`;
  const why = "Pulumi's option import does not work for dynamic resources.";
  const onPlugin =
    className === "TetherService"
      ? ""
      : " On the provider plugin (`pulumi config set consortium:plugin true`) the option works.";
  throw programError("cannot-adopt", `${className} ${name}: ${why} ${insteadOfImport[className] ?? adopt}${onPlugin}`);
}

/** The resource option in seconds. It becomes an input, because the host does not pass the option to the provider. */
function timeoutInputs(name: string, opts?: CustomResourceOptions): Record<string, number> | undefined {
  const given = Object.entries(opts?.customTimeouts ?? {}).filter(([, text]) => text !== undefined);
  const all = given.map(([verb, text]): [string, number] => {
    const found = durationSeconds(String(text));
    if (found !== undefined) return [verb, found];
    throw programError(
      "invalid-argument",
      `${name}: customTimeouts.${verb}: "${text}" is not a duration. Write it like 90s, 10m or 1h30m.`,
    );
  });
  const set = all.filter(([, seconds]) => seconds > 0); // for Pulumi, 0 is the default
  return set.length === 0 ? undefined : Object.fromEntries(set);
}

/** Inputs that are not secret, although they come from other resources or are known a little later. */
const parents: readonly string[] = ["consortiumId", "environmentId", "membershipId", "serviceId", contentsKey];

/** The values in the inputs that may be secret, with their paths. */
function laterIn(value: unknown, path: Path = []): { path: Path; value: Input<unknown> }[] {
  if (isLater(value)) return [{ path, value }];
  if (Array.isArray(value)) return value.flatMap((part, index) => laterIn(part, [...path, index]));
  if (typeof value !== "object" || value?.constructor !== Object) return [];
  if ((value as Props)[signatureKey] === secretSignature) return [{ path, value: secret(value) }]; // as transforms get it
  return Object.entries(value).flatMap(([key, part]) => laterIn(part, [...path, key]));
}

/** Paths of the secret inputs: the host of dynamic providers does not mark them. A rejected input reports its own error. */
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

/** The types in the URN of a parent. A promise, because an output of a component would wait for all its children, including this one. */
const typesOf = ({ urn }: Resource): Promise<string> =>
  new Promise((resolve) => void urn.apply((text) => resolve(partsOfUrn(text).types)));

/** Otherwise a provider learns that it is in a preview only when it has a change to show. */
const previewMark = (): Props => (runtime.isDryRun() ? { [previewKey]: true } : {});

/** Names the stack for the log of creates. A preview creates nothing, and a unit test may have no organization. */
function stackMark(): Props {
  if (runtime.isDryRun()) return {};
  try {
    return { [stackKey]: [runtime.getOrganization(), runtime.getProject(), runtime.getStack()] };
  } catch {
    return {};
  }
}

type Completing = (args: { props: Props; opts: CustomResourceOptions }) => {
  props: Props;
  opts: CustomResourceOptions;
};

/**
 * The program's own transforms run after the constructor, so that what they set is looked at after the last of them. Those of components
 * and of the stack run still later.
 */
function completed(name: string, { transforms, transformations }: CustomResourceOptions): CustomResourceOptions {
  const complete: Completing = ({ props, opts }) => {
    const inputs = Object.fromEntries(Object.entries(props).filter(([key]) => key !== secretsKey));
    const given = Object.entries(opts.customTimeouts ?? {}).filter(([, text]) => text !== ""); // not set
    const customTimeouts = timeoutInputs(name, { customTimeouts: Object.fromEntries(given) });
    return { props: { ...inputs, ...(customTimeouts && { customTimeouts }), ...secretInputs(inputs) }, opts };
  };
  return {
    ...(transforms && { transforms: [...transforms, complete] }),
    ...(transformations && { transformations: [...transformations, complete] }),
  };
}

/** How a resource of the dynamic provider is registered. */
function dynamic(className: ClassName, name: string, inputs: Props, opts: CustomResourceOptions): Registration {
  refuseImport(className, name, opts);
  const own = { customTimeouts: timeoutInputs(name, opts), __provider: stub(classes[className].handler) };
  const named = Object.fromEntries(Object.entries(inputs).filter(([key]) => key !== unnamedKey));
  const props: Props = { ...named, ...own, ...secretInputs(named) };
  // The host tells the provider neither its name nor the URN.
  props[logicalNameKey] = opts.parent ? typesOf(opts.parent).then((types) => [name, types]) : name;
  Object.assign(props, previewMark(), stackMark());
  const aliases = onBothProviders(token(className), name, opts);
  return { type: token(className), props, opts: { ...opts, ...completed(name, opts), aliases } };
}

/** How a resource of the plugin is registered: the engine itself handles time-outs and imports. */
const native = (className: ClassName, name: string, inputs: Props, opts: CustomResourceOptions): Registration => ({
  type: pluginPrefix + className,
  props: { ...inputs, [programKey]: version, ...previewMark(), ...stackMark() },
  opts: { version, ...opts, aliases: onBothProviders(pluginPrefix + className, name, opts) },
});

type Props = Record<string, Input<unknown>>;

interface Registration {
  type: string;
  props: Props;
  opts: CustomResourceOptions;
}

/** @throws for a text that Pulumi cannot pass on; its own error would not name it. The provider checks what is not known yet. */
function refuseBroken(className: ClassName, name: string, inputs: Props): void {
  const [first] = brokenTexts({ "its logical name": name, ...inputs });
  if (first)
    throw programError(
      "invalid-argument",
      printable(`${className} ${name.replace(/\p{Surrogate}/gu, "?")}: ${first.join(".")}: ${brokenReason}.`),
    );
}

/** Resources with aliases of the program. */
const renamed = new WeakSet<Resource>();

/** Undocumented members of a parent in Pulumi's SDK. */
interface Above {
  __parentResource?: Above;
  __aliases?: unknown[];
}

/**
 * The logical name of a resource, then its earlier ones. undefined: they are unknown, as for a child of a parent with aliases: Pulumi
 * derives its names.
 */
export function namesOf(name: string, { aliases = [], parent }: CustomResourceOptions = {}): string[] | undefined {
  let above: Above | undefined = parent as object | undefined;
  for (; above; above = above.__parentResource) {
    if (Managed.isManaged(above) ? renamed.has(above) : (above.__aliases?.length ?? 0) > 0) return undefined;
  }
  const former = aliases.map((alias) =>
    typeof alias === "string" ? partsOfUrn(alias).name : isLater(alias) ? alias : (alias.name ?? name),
  );
  return former.every((one) => typeof one === "string") ? [name, ...former] : undefined;
}

/** Base of all resources of this package: inputs go to the provider process under flat names. */
export abstract class Managed extends CustomResource {
  static isManaged(value: unknown): value is Managed {
    return value instanceof Managed;
  }

  protected constructor(className: ClassName, name: string, plain: Props, given: CustomResourceOptions = {}) {
    const { outputs, secrets } = classes[className];
    refuseBroken(className, name, plain);
    const hidden = secrets.filter((key) => plain[key] !== undefined);
    const inputs = { ...plain, ...Object.fromEntries(hidden.map((key) => [key, secret(plain[key])])) };
    const { type, props, opts } = onPlugin()
      ? native(className, name, inputs, given)
      : dynamic(className, name, inputs, given);
    const unset = Object.fromEntries(outputs.map((key) => [key, undefined]));
    // The state's copy of secret inputs, which the plugin marks itself.
    const isSet = laterIn(inputs).some(({ path: [key] }) => !parents.includes(String(key)));
    const mayBeSet = given.transforms !== undefined || given.transformations !== undefined;
    const hiding = !onPlugin() && (isSet || mayBeSet) ? [hiddenKey] : [];
    const additionalSecretOutputs = [...(opts.additionalSecretOutputs ?? []), ...secrets, ...hiding];
    const { stackTraceLimit } = Error;
    // The SDK captures a stack for each property, which is half the cost of a registration.
    Error.stackTraceLimit = 0;
    try {
      super(type, name, { ...unset, ...props }, { ...opts, additionalSecretOutputs });
      if (given.aliases?.length) renamed.add(this);
    } catch (error) {
      Error.stackTraceLimit = stackTraceLimit;
      if (error instanceof Error) Error.captureStackTrace(error, Managed);
      throw error;
    } finally {
      Error.stackTraceLimit = stackTraceLimit;
    }
  }
}
