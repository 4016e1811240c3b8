import {
  all,
  Config,
  CustomResource,
  type Input,
  type InvokeOptions,
  type InvokeOutputOptions,
  output,
  type Output,
  type ProviderResource,
  type Resource,
  RunError,
  runtime,
  unknown,
} from "@pulumi/pulumi";
import { type ConsortiumClient, type SettingName } from "../../provider/api";
import { type Props } from "../../provider/core/definition";
import { type ProviderSettings } from "../../provider/pulumi/settings";
import { type LookupName } from "../../provider/lookups";
import { messageOf } from "../../provider/plain";
import { onPlugin, Provider } from "../provider";

type Inputs<A> = { [K in keyof A]: Input<A[K]> };

/** A lookup and its `…Output` form, which accepts outputs as arguments. */
export function lookup<A extends object, R>(name: LookupName, shape: "one" | "list") {
  const get = async (args: A, opts?: InvokeOptions): Promise<R> =>
    (await (underMocks() ? mocked(name, shape, args, opts) : lookUp(name, { ...args } as Props, opts))) as R;
  const getOutput = (args: Inputs<A>, opts?: InvokeOutputOptions): Output<R> =>
    all([output(args), made(opts?.dependsOn), output(settled(opts))]).apply<R>(([known]) => get(known as A, opts));
  return [get, getOutput] as const;
}

/** Unknown as long as a setting of the provider is. */
async function settled(opts: InvokeOptions | undefined): Promise<unknown> {
  return (await ownSettings(providerOf(opts))).unknown.length > 0 ? unknown : undefined;
}

/** Ids of resources: unknown until all of them are created. */
function made(dependsOn: InvokeOutputOptions["dependsOn"]): Output<unknown> {
  return output(dependsOn ?? []).apply((resources) =>
    all(
      [resources]
        .flat()
        .flatMap(parts)
        .map((part) => ("id" in part ? part.id : part.urn)),
    ),
  );
}

/** A component stands for the resources in it, as in Pulumi's own `dependsOn`. */
function parts(resource: Resource): (Resource | CustomResource)[] {
  if (CustomResource.isInstance(resource)) return [resource];
  const { __childResources: children = [] } = resource as { __childResources?: Iterable<Resource> };
  return [resource, ...[...children].flatMap(parts)];
}

/** Unit tests replace the engine with their own monitor (`setMocks`). */
const underMocks = (): boolean => "mocks" in (runtime.getMonitor() ?? {});

/** In unit tests, a lookup is a call like any other provider's. */
async function mocked(name: string, shape: "one" | "list", args: object, opts?: InvokeOptions): Promise<unknown> {
  const provider = providerOf(opts);
  const answer = (await runtime.invoke(`consortium:index:${name}`, { ...args }, { provider })) as object;
  return shape === "list" ? listIn(answer) : answer;
}

/** Pulumi passes an array as an object; mocks may also return an object with the list under its only key. */
function listIn(answer: object): unknown {
  const entries = Object.entries(answer);
  if (entries.every(([key], index) => key === String(index))) return entries.map(([, item]) => item as unknown);
  const [only] = entries;
  return entries.length === 1 && Array.isArray(only![1]) ? only![1] : answer;
}

const clients = new Map<string, ConsortiumClient>();

/** The provider that a resource with these options would have; undefined for the default one. */
const providerOf = (opts: InvokeOptions | undefined): ProviderResource | undefined =>
  opts?.provider ?? opts?.parent?.getProvider(onPlugin() ? "consortium::" : "pulumi-nodejs::");

interface OwnSettings {
  known: Partial<Record<SettingName, string>>;
  /** In a preview: settings that depend on resources to be created. */
  unknown: string[];
}

/** The settings that an explicit `Provider` was given itself. */
async function ownSettings(provider: ProviderResource | undefined): Promise<OwnSettings> {
  const found: OwnSettings = { known: {}, unknown: [] };
  if (!(provider instanceof Provider)) return found;
  const { provider: name, settings } = provider.given;
  for (const [key, input] of Object.entries(settings)) {
    const title = `the setting ${key} of the Provider "${name}"`;
    const value: unknown = await runtime.serializeProperty(title, input).catch((error: unknown) => {
      throw runError(`Lookup failed: could not resolve ${title}: ${messageOf(error)}`, error);
    });
    if (value === runtime.unknownValue) found.unknown.push(title);
    else found.known[key as SettingName] = runtime.unwrapRpcSecret(value) as string;
  }
  return found;
}

/**
 * One line for people, with the cause for programs. It has no stack: Pulumi does not show the stack of a RunError, but formats it
 * with colors, which takes Node a minute if frames of Pulumi itself are in it.
 */
const runError = (message: string, cause?: unknown): RunError =>
  Object.assign(new RunError(message), { stack: undefined, cause });

/** Runs a lookup with the current settings. All lookups of an organization share one client. */
async function lookUp(lookup: LookupName, given: Props, opts: InvokeOptions | undefined): Promise<unknown> {
  const { known: own, unknown } = await ownSettings(providerOf(opts));
  if (unknown.length > 0) {
    throw runError(
      `${lookup} has no settings: ${unknown.join(", ")} will only be known once the run has created the resources that it depends on. ` +
        `Use ${lookup}Output, which waits for it.`,
    );
  }
  const { ApiError, ConsortiumClient, settingNames, SettingsError } = await import("../../provider/api/index.js");
  const { codedMessage, reasonShown, UserError } = await import("../../provider/errors.js");
  const { resolveProviderSettings } = await import("../../provider/pulumi/settings.js");
  const { checkArguments, lookups } = await import("../../provider/lookups/index.js");
  const { inputs, issues } = checkArguments(lookups[lookup], given);
  const reasons = issues.map((issue) => (issue.reason.startsWith(lookup) ? "" : `${lookup}: `) + reasonShown(issue));
  if (reasons.length > 0) throw runError(reasons.join("\n"));
  try {
    const config = new Config("consortium");
    const given = settingNames.map((name) => [name, { value: own[name] ?? config.get(name), own: name in own }]);
    const settings = resolveProviderSettings(Object.fromEntries(given) as ProviderSettings);
    const key = JSON.stringify([settings.apiKey.reveal(), { ...settings, apiKey: undefined }]);
    const client = clients.get(key) ?? new ConsortiumClient(settings);
    clients.set(key, client);
    await client.requireOrganization();
    return await lookups[lookup].run(client, inputs);
  } catch (error) {
    const isOfSettings = error instanceof SettingsError || error instanceof ApiError;
    if (isOfSettings) throw runError(codedMessage(error), error);
    if (error instanceof UserError) throw runError(`${lookup}: ${codedMessage(error)}`, error);
    throw error;
  }
}
