/*
 * Facts of the service that several parts need. Imports nothing, so that programs, policies and commands may load it at no cost.
 */

/** Most of each that an organization, a consortium and an environment may have (spec, section 8). */
export const limits = { consortia: 2, environments: 3, nodes: 4 } as const;

/** Public chains that a tether service can pin to (spec, section 2.8). */
export const tetherNetworks = ["mainnet", "rinkeby"] as const;
export type TetherNetwork = (typeof tetherNetworks)[number];

/** What the type tokens of all dynamic resources of this package begin with; the name of the class follows. */
export const dynamicPrefix = "pulumi-nodejs:dynamic/consortium:";

/** What the type tokens of the provider plugin's resources begin with. */
export const pluginPrefix = "consortium:index:";

/** The class of a resource by its type token, whichever adapter it is on; undefined for those of other packages. */
export function kindOf(type: string): string | undefined {
  const prefix = [dynamicPrefix, pluginPrefix].find((one) => type.startsWith(one));
  return prefix === undefined ? undefined : type.slice(prefix.length);
}

/** Classes whose objects hold ledgers, which are lost with them. */
export const ledgerHolders = ["Consortium", "Environment"] as const;
export type LedgerHolder = (typeof ledgerHolders)[number];
export const holdsLedger = (kind: string | undefined): kind is LedgerHolder =>
  (ledgerHolders as readonly (string | undefined)[]).includes(kind);

/** Whether an object stays in the service when its resource leaves the stack, by Pulumi's state of it. */
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
