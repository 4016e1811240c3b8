/*
 * Constants of several parts. Imports only generated code, so that programs, policies and commands load it at no cost.
 */
import { kinds } from "./generated";

export { kinds };

/** Limits by plan: consortia of an organization, environments of a consortium, nodes of an environment. */
export type PlanLimits = Record<"consortia" | "environments" | "nodes", number>;
/**
 * Limits of the starter plan (spec, section 8). They apply unless the service reports others
 * (`ConsortiumClient.limits`) or the user sets them.
 */
export const limits = { consortia: 2, environments: 3, nodes: 4 } as const satisfies PlanLimits;

/*
 * Values that are known. Where a change of one replaces an object, or costs money, a program has to say that another one is meant: a typo
 * must not destroy a ledger.
 */

/** What a value begins with that is not known and is meant. The service gets the rest of it. */
export const otherPrefix = "other:";

/** Whether the program says that a value is meant, whether or not it is known. */
export const isMeant = (value: unknown): value is `other:${string}` =>
  typeof value === "string" && value.startsWith(otherPrefix) && value.length > otherPrefix.length;

/** The value without the mark that it is meant. */
export const unmarked = (value: unknown): unknown => (isMeant(value) ? value.slice(otherPrefix.length) : value);

const consensusTypes = ["raft", "ibft", "poa"] as const;

/** Consensus protocols of each client (spec, section 2.2). `pantheon` is Besu. Those of `fabric` and `corda` are not documented. */
export const consensusOf: Record<string, readonly string[]> = {
  quorum: ["raft", "ibft"],
  geth: ["poa"],
  pantheon: ["ibft", "poa"],
  fabric: consensusTypes,
  corda: consensusTypes,
};

/** Public chains that a tether service can pin to (spec, section 2.8), and `local`, a chain of the embedded service. */
export const tetherNetworks = ["mainnet", "rinkeby", "local"] as const;
export type TetherNetwork = (typeof tetherNetworks)[number] | (string & Record<never, never>);

/** Regions of the clouds that zones are in, by their own names. */
export const cloudRegions: Record<string, readonly string[]> = {
  aws: [
    ...[
      "us-east-1",
      "us-east-2",
      "us-west-1",
      "us-west-2",
      "us-gov-east-1",
      "us-gov-west-1",
      "ca-central-1",
      "ca-west-1",
    ],
    ...["mx-central-1", "sa-east-1", "af-south-1", "il-central-1", "me-central-1", "me-south-1", "eu-central-1"],
    ...["eu-central-2", "eu-north-1", "eu-south-1", "eu-south-2", "eu-west-1", "eu-west-2", "eu-west-3", "ap-east-1"],
    ...["ap-east-2", "ap-northeast-1", "ap-northeast-2", "ap-northeast-3", "ap-south-1", "ap-south-2"],
    ...["ap-southeast-1", "ap-southeast-2", "ap-southeast-3", "ap-southeast-4", "ap-southeast-5", "ap-southeast-6"],
    ...["ap-southeast-7", "cn-north-1", "cn-northwest-1"],
  ],
  azure: [
    ...["eastus", "eastus2", "centralus", "northcentralus", "southcentralus", "westcentralus", "westus", "westus2"],
    ...["westus3", "canadacentral", "canadaeast", "mexicocentral", "brazilsouth", "brazilsoutheast", "chilecentral"],
    ...["northeurope", "westeurope", "uksouth", "ukwest", "francecentral", "francesouth", "germanywestcentral"],
    ...["germanynorth", "switzerlandnorth", "switzerlandwest", "norwayeast", "norwaywest", "swedencentral"],
    ...["polandcentral", "italynorth", "spaincentral", "austriaeast", "israelcentral", "qatarcentral", "uaenorth"],
    ...["uaecentral", "southafricanorth", "southafricawest", "centralindia", "southindia", "westindia", "eastasia"],
    ...["southeastasia", "japaneast", "japanwest", "koreacentral", "koreasouth", "australiaeast", "australiasoutheast"],
    ...["australiacentral", "australiacentral2", "newzealandnorth", "indonesiacentral", "malaysiawest"],
  ],
};

export type Kind = keyof typeof kinds;
export type ClassName = (typeof kinds)[Kind]["className"];

/** The kind of the objects of a class. undefined: it is another package's. */
export const kindOf = (className: string | undefined): Kind | undefined => kindByClass.get(className);
const kindByClass = new Map<string | undefined, Kind>(
  (Object.keys(kinds) as Kind[]).map((kind) => [kinds[kind].className, kind]),
);

/** Beginning of the type tokens of this package's dynamic resources. The name of the class follows. */
export const dynamicPrefix = "pulumi-nodejs:dynamic/consortium:";

/** Beginning of the type tokens of the provider plugin's resources. */
export const pluginPrefix = "consortium:index:";
/** The Terraform provider of the same API: the word that its types begin with. */
export const terraformProvider = "kaleido";

/** The component, on both adapters. */
export const networkType = `${pluginPrefix}Network`;

/** The class of a resource by its type token, for both adapters. undefined: it is another package's. */
export function classOf(type: string): string | undefined {
  const prefix = [dynamicPrefix, pluginPrefix].find((one) => type.startsWith(one));
  return prefix === undefined ? undefined : type.slice(prefix.length);
}

const urnPrefix = "urn:pulumi:";
/** The parts of a URN: `urn:pulumi:<stack>::<project>::<types>::<name>`. `types` is `<types of parents>$<type>`. */
export function partsOfUrn(urn: string): Record<"stack" | "project" | "types" | "type" | "name", string> {
  const [stack = "", project = "", types = "", ...name] = urn
    .slice(urn.startsWith(urnPrefix) ? urnPrefix.length : 0)
    .split("::");
  return { stack, project, types, type: types.slice(types.lastIndexOf("$") + 1), name: name.join("::") };
}

/** With this argument, the plugin serves the stacks of a fleet, which controls it by messages. */
export const sharedArgument = "shared";

/** The key that marks a secret or another special value in states, in plans and on the wire (Pulumi's format). */
export const signatureKey = "4dabf18193072939515e22adb298388d";
/** Its value for a secret. */
export const secretSignature = "1b47061264138c4ac30d75fd1eb44270";

/** The provider's warnings about the loss of a ledger. `consortium report` has its own wording. */
export const lossWarnings = {
  replaceConsortium: "REPLACING A CONSORTIUM DESTROYS EVERYTHING IN IT, ledgers included",
  replaceEnvironment: "REPLACING AN ENVIRONMENT DESTROYS ITS LEDGER, its nodes and its credentials",
  deleteConsortium: "DELETING A CONSORTIUM DESTROYS EVERYTHING IN IT, ledgers included",
  deleteEnvironment: "DELETING AN ENVIRONMENT DESTROYS ITS LEDGER, its nodes and its credentials",
} as const;

/** Classes of objects that contain ledgers, which are lost with them. */
const ledgerHolders = ["Consortium", "Environment"] as const;
export type LedgerHolder = (typeof ledgerHolders)[number];
export const holdsLedger = (className: string | undefined): className is LedgerHolder =>
  (ledgerHolders as readonly (string | undefined)[]).includes(className);

/** The warning about a replacement or a deletion that loses a ledger. */
export const lossWarning = (verb: "replace" | "delete", className: string): string | undefined =>
  holdsLedger(className) ? lossWarnings[`${verb}${className}`] : undefined;

/** Whether an object stays in the service when its resource leaves the stack, according to Pulumi's state. */
export const outlivesResource = (state: { retainOnDelete?: boolean; external?: boolean } | undefined): boolean =>
  state?.retainOnDelete === true || state?.external === true;

/** The types of providers: of those that may serve any dynamic resource, and of the plugin. */
export const dynamicProvider = "pulumi:providers:pulumi-nodejs";
export const pluginProvider = "pulumi:providers:consortium";

/** The id of a tether service: the last 10 characters of its address in the console (spec, section 2.8). */
export const tetherIdOf = (consoleUrl: string): string => consoleUrl.replace(/[/?#]+$/, "").slice(-10);

const unitSeconds: Record<string, number> = { ms: 0.001, s: 1, m: 60, h: 3600 };

/** Seconds in a duration such as `90s`, `10m` or `1h30m`. undefined: it is not a duration. */
export function durationSeconds(text: string): number | undefined {
  const parts = [...text.trim().matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)];
  if (parts.length === 0 || parts.map(([part]) => part).join("") !== text.trim()) return undefined;
  return parts.reduce((sum, [, count, unit]) => sum + Number(count) * unitSeconds[unit!]!, 0);
}

/** What to do instead of an import, for resources that cannot be imported. */
export const insteadOfImport: Partial<Record<string, string>> = {
  AppCred: "The password of an existing credential is shown only once: leave the import out to create a new one.",
  TetherService: "A tether service always exists already: leave the import out, because its tetherId identifies it.",
};

/* Inputs that programs and adapters add for each other. They are not the resource's own. */

/** The code of a dynamic provider, which the state must keep. */
export const providerKey = "__provider";

/** Pulumi's stack configuration for names. Pulumi passes it only to plugins. */
export const autonamingSetting = "pulumi:autonaming";

/**
 * Says that the program left the name to the resource, so that stack configuration may make it. Only for the plugin.
 */
export const unnamedKey = "__unnamed";

/** Marks a preview, which Pulumi does not tell `check`. `check` removes the mark. */
export const previewKey = "__preview";

/**
 * The environments of a consortium, or the nodes of an environment, in the program: for each, the logical name and then
 * its earlier names. A network file gives a list; a program of classes gives the list as `classes` of an object.
 */
export const contentsKey = "__environments";

/** Paths of secrets in the inputs: dynamic providers and policies receive only the values. */
export const secretsKey = "__secrets";

/** A state's copy of secret inputs besides the properties (core/state.ts): a secret as a whole. */
export const hiddenKey = "__hidden";

/** The program's version of this package. The plugin refuses any version but its own. */
export const programKey = "__program";

/** In states of earlier versions: the name of the explicit provider. */
const providerNameKey = "__providerName";

/**
 * The resource of the program, for requests that do not tell: its logical name, followed by the types of its parents if it has
 * any.
 */
export const logicalNameKey = "__logicalName";

/** The stack, as organization, project and stack, which Pulumi does not tell dynamic providers. `check` removes it. */
export const stackKey = "__stack";

/** All of these. */
export const ownKeys: readonly string[] = [
  providerKey,
  previewKey,
  contentsKey,
  secretsKey,
  programKey,
  providerNameKey,
  logicalNameKey,
  stackKey,
  unnamedKey,
];

/**
 * The text that the state holds as `__provider`, and that the host runs for every verb, even years later: as short as possible,
 * the same for all resources of a type, and independent of machine and program.
 */
export const stub = (name: string): string => `exports.handler=()=>require("pulumi-consortium/runtime").${name}`;
