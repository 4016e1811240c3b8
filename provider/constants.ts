/*
 * What several parts agree on. Imports nothing, so that programs, policies and commands load it at no cost.
 */

/** The service's limits (spec, section 8). */
export const limits = { consortia: 2, environments: 3, nodes: 4 } as const;

/** Which consensus protocols a client runs (spec, section 2.2). */
export const consensusOf: Record<string, readonly string[]> = { quorum: ["raft", "ibft"], geth: ["poa"] };

/** Public chains that a tether service can pin to (spec, section 2.8). */
export const tetherNetworks = ["mainnet", "rinkeby"] as const;
export type TetherNetwork = (typeof tetherNetworks)[number];

/** What the type tokens of all dynamic resources of this package begin with; the name of the class follows. */
export const dynamicPrefix = "pulumi-nodejs:dynamic/consortium:";

/** What the type tokens of the provider plugin's resources begin with. */
export const pluginPrefix = "consortium:index:";

/** The component, which both providers have. */
export const networkType = `${pluginPrefix}Network`;

/** The class of a resource by its type token, whichever adapter it is on; undefined for those of other packages. */
export function kindOf(type: string): string | undefined {
  const prefix = [dynamicPrefix, pluginPrefix].find((one) => type.startsWith(one));
  return prefix === undefined ? undefined : type.slice(prefix.length);
}

/** The parts of a URN: `urn:pulumi:<stack>::<project>::<types>::<name>`. `types` is `<types of parents>$<type>`. */
export function partsOfUrn(urn: string): Record<"stack" | "project" | "types" | "type" | "name", string> {
  const [stack = "", project = "", types = "", ...name] = urn.replace(/^urn:pulumi:/, "").split("::");
  return { stack, project, types, type: types.split("$").at(-1)!, name: name.join("::") };
}

/** With this argument, the plugin serves the stacks of a fleet, which talks to it by messages. */
export const sharedArgument = "shared";

/** The key that marks a secret, or another special value, in states, in plans and on the wire (Pulumi's format). */
export const signatureKey = "4dabf18193072939515e22adb298388d";

/** What the provider warns of where a ledger would be lost. `consortium report` says the same in its own words. */
export const lossWarnings = {
  replaceConsortium: "REPLACING A CONSORTIUM DESTROYS EVERYTHING IN IT, ledgers included",
  replaceEnvironment: "REPLACING AN ENVIRONMENT DESTROYS ITS LEDGER, its nodes and its credentials",
  deleteEnvironment: "DELETING AN ENVIRONMENT DESTROYS ITS LEDGER, its nodes and its credentials",
} as const;

/** Classes whose objects hold ledgers, which are lost with them. */
export const ledgerHolders = ["Consortium", "Environment"] as const;
export type LedgerHolder = (typeof ledgerHolders)[number];
export const holdsLedger = (kind: string | undefined): kind is LedgerHolder =>
  (ledgerHolders as readonly (string | undefined)[]).includes(kind);

/** Whether an object stays in the service when its resource leaves the stack, by Pulumi's state. */
export const outlivesResource = (state: { retainOnDelete?: boolean; external?: boolean } | undefined): boolean =>
  state?.retainOnDelete === true || state?.external === true;

/** What the engine registers providers as: those that may serve any dynamic resource, and the plugin's. */
export const dynamicProvider = "pulumi:providers:pulumi-nodejs";
export const pluginProvider = "pulumi:providers:consortium";

/** The id of a tether service: the last 10 characters of its address in the console (spec, section 2.8). */
export const tetherIdOf = (consoleUrl: string): string => consoleUrl.replace(/[/?#]+$/, "").slice(-10);

const unitSeconds: Record<string, number> = { ms: 0.001, s: 1, m: 60, h: 3600 };

/** Seconds in a duration such as `90s`, `10m` or `1h30m`; undefined if it is none. */
export function durationSeconds(text: string): number | undefined {
  const parts = [...text.trim().matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)];
  if (parts.length === 0 || parts.map(([part]) => part).join("") !== text.trim()) return undefined;
  return parts.reduce((sum, [, count, unit]) => sum + Number(count) * unitSeconds[unit!]!, 0);
}

/** What to do in place of an import, by the type of a resource that exists without one. */
export const insteadOfImport: Partial<Record<string, string>> = {
  AppCred:
    "A credential that exists cannot be read again, since its password is shown only once: leave the import out to make a new one.",
  TetherService: "A tether service is always one that exists already: leave the import out, its tetherId says which.",
};

/* Inputs that a program and an adapter add for each other; not the resource's own. */

/** The code of a dynamic provider; the state must keep it. */
export const providerKey = "__provider";

/** Marks a preview, which a `check` is not told of. It removes the mark. */
export const previewKey = "__preview";

/** The environments of a consortium that a network file makes: each with its logical name and after it the earlier ones. */
export const environmentsKey = "__environments";

/** Where the inputs hold secrets, each a path: the host of dynamic providers and policies are told the values alone. */
export const secretsKey = "__secrets";

/** Which version of this package the program has: the plugin refuses another one than its own. */
export const programKey = "__program";

/** Name of the explicit provider that the program gives it, where a request does not say. */
export const providerNameKey = "__providerName";

/**
 * Which resource of the program it is, where a request does not say: its logical name, and the types of its parents after it
 * where it has any.
 */
export const logicalNameKey = "__logicalName";

/** All of these. */
export const ownKeys: readonly string[] = [
  providerKey,
  previewKey,
  environmentsKey,
  secretsKey,
  programKey,
  providerNameKey,
  logicalNameKey,
];

/**
 * The text that the state holds as `__provider`, and that the host runs for every verb, also after years:
 * as short as can be, the same for all resources of a type, and without anything of one machine or one program.
 */
export const stub = (name: string): string => `exports.handler=()=>require("pulumi-consortium/runtime").${name}`;
