import { type PolicyResource } from "@pulumi/policy";
import { z } from "zod";
import { printable } from "../../../provider/api/printable";
import { defaultBaseUrl, type Region, regions, SettingsError } from "../../../provider/api/settings";
import { type ProviderSettings, resolveProviderSettings } from "../../../provider/pulumi/settings";
import { counted, groupBy } from "../../../provider/plain";
import { definePolicy, oneOf } from "../define";
import { providerTitle, settingsOf } from "../live";
import { ancestorsOf, dependenciesOf, listed, type Member, type Stack, unknown } from "../stack";

/* Policies for the whole stack. Those that count resources are in limits.ts. */

export const allowedRegions = definePolicy({
  name: "allowed-regions",
  enforcementLevel: "disabled",
  description: "Every provider in use works in an allowed region.",
  settings: {
    regions: z
      .array(oneOf(regions))
      .default([...regions])
      .describe("Allowed regions."),
    hosts: z.array(z.string()).default([]).describe("More allowed hosts besides the regions' own, such as your proxy."),
  },
  validateStack(stack, { regions: allowed, hosts }, report) {
    for (const [, [first]] of groupBy(stack.members, ({ provider }) => provider?.urn)) {
      const given = settingsOf(first.provider);
      if (given === unknown) continue;
      const address = addressOf(given);
      if (address === undefined || hosts.includes(address.host)) continue;
      if (address.region !== undefined && allowed.includes(address.region)) continue;
      const title = providerTitle(first.provider).replace(/^./, (letter) => letter.toUpperCase());
      const violation =
        address.region === undefined
          ? `${title} uses the host ${printable(address.host)}, whose region is not known. If it is in an allowed region, add it ` +
            "to the setting hosts of this policy; otherwise remove baseUrl."
          : `${title} works in region ${address.region}. Set region to ${allowed.join(" or ")}: as an argument of the Provider, ` +
            "or with `pulumi config set consortium:region`.";
      report.violation(violation, first.provider?.urn);
    }
  },
});

interface Address {
  host: string;
  /** Undefined if the host is not one of the service's own. */
  region: Region | undefined;
}

/** Where a provider instance sends its calls; undefined if its settings are wrong, which the run itself reports. */
function addressOf(settings: ProviderSettings): Address | undefined {
  try {
    // The key does not matter here and may be missing.
    const { baseUrl } = resolveProviderSettings({ ...settings, apiKey: { value: "none", own: true } });
    const host = new URL(baseUrl).hostname;
    return { host, region: regions.find((region) => new URL(defaultBaseUrl(region)).hostname === host) };
  } catch (error) {
    if (error instanceof SettingsError) return undefined;
    throw error;
  }
}

/** Nodes needed for one to fail without harm: raft needs a majority of its nodes, ibft more than two thirds. */
const tolerant: Record<string, number> = { raft: 3, ibft: 4 };

const percent = (share: number): string => `${Math.round(share * 100)} %`;

export const balancedMembership = definePolicy({
  name: "balanced-membership",
  enforcementLevel: "advisory",
  description: "No membership owns too many nodes of an environment, and one node may fail.",
  settings: {
    maxShare: z
      .number()
      .min(0)
      .max(1)
      .default(0.5)
      .describe("Largest share of an environment's nodes that one membership may own, from 0 to 1."),
  },
  validateStack(stack, { maxShare }, report) {
    const groups = stack.group("Node", "Environment");
    // Nodes whose environment is not known yet may belong to any environment.
    if (groups.has(undefined)) return;
    for (const [key, nodes] of groups) {
      // If another stack manages the environment, it may have nodes that are not visible here.
      const environment = stack.find("Environment", key!);
      if (!environment) continue;
      for (const [member, owned] of groupBy(nodes, (node) => stack.key(node, "Membership"))) {
        const share = owned.length / nodes.length;
        if (member === undefined || share <= maxShare) continue;
        const membership = stack.find("Membership", member)?.name ?? member;
        report.violation(
          `Membership "${membership}" would own ${owned.length} of ${counted(nodes.length, "node")} of environment ` +
            `"${environment.name}" (${percent(share)}), but at most ${percent(maxShare)} is advised. ` +
            "Add nodes of other memberships, or remove some of its own.",
          environment.urn,
        );
      }
      const protocol = environment.text("consensusType");
      const needed = protocol === undefined ? undefined : tolerant[protocol];
      if (needed === undefined || nodes.length >= needed) continue;
      report.violation(
        `Environment "${environment.name}" would have ${counted(nodes.length, "node")}, but ` +
          `${protocol} needs ${needed} for one of them to fail without harm. Add ${needed - nodes.length}.`,
        environment.urn,
      );
    }
  },
});

export const credentialPerMember = definePolicy({
  name: "credential-per-member",
  enforcementLevel: "advisory",
  description:
    "Every membership that owns nodes in an environment has a credential there; without one, nobody can use them.",
  settings: {},
  validateStack(stack, _, report) {
    const credentials = stack.group("AppCred", "Environment");
    for (const [key, nodes] of stack.group("Node", "Environment")) {
      // A credential whose environment is not known yet may belong here.
      if (key === undefined || credentials.has(undefined)) continue;
      const holders = new Set((credentials.get(key) ?? []).map((credential) => stack.key(credential, "Membership")));
      const environment = stack.find("Environment", key);
      for (const member of groupBy(nodes, (node) => stack.key(node, "Membership")).keys()) {
        if (member === undefined || holders.has(member) || holders.has(undefined)) continue;
        const membership = stack.find("Membership", member);
        const [who, where] = [membership?.name ?? member, environment?.name ?? key];
        report.violation(
          `Membership "${who}" owns nodes of environment "${where}", but has no AppCred there. ` +
            "Add an AppCred with this environment and membership.",
          membership?.urn,
        );
      }
    }
  },
});

/** URNs of the dependencies of a resource, and of theirs. */
function before(source: PolicyResource, seen = new Set<string>()): Set<string> {
  for (const dependency of dependenciesOf(source)) {
    if (seen.has(dependency.urn)) continue;
    seen.add(dependency.urn);
    before(dependency, seen);
  }
  return seen;
}

const only = <T>(items: readonly T[]): T | undefined => (new Set(items).size === 1 ? items[0] : undefined);

/** The only environment in the tether's component, or else in the component around it, and so on up to the stack. */
function nearestEnvironment(tether: Member, stack: Stack): Member | undefined {
  const candidates = stack.of("Environment").filter(({ provider }) => provider?.urn === tether.provider?.urn);
  for (const { urn } of ancestorsOf(tether.source)) {
    const within = candidates.filter(
      (environment) => environment.urn === urn || ancestorsOf(environment.source).some((above) => above.urn === urn),
    );
    if (within.length > 0) return only(within);
  }
  return undefined;
}

/** The service does not show which environment a tether pins, but its dependencies or its place in the program do. */
function environmentOf(tether: Member, ready: Set<string>, stack: Stack, infer: boolean) {
  const known = stack.members.filter(({ urn }) => ready.has(urn));
  const keys = known.flatMap((member) => {
    const key = member.className === "Environment" ? stack.keyOf(member) : stack.key(member, "Environment");
    return key === undefined ? [] : [key];
  });
  if (keys.length > 0) return only(keys);
  const nearest = infer ? nearestEnvironment(tether, stack) : undefined;
  return nearest && stack.keyOf(nearest);
}

export const tetherAfterConfiguration = definePolicy({
  name: "tether-after-configuration",
  enforcementLevel: "mandatory",
  description: "An active tether service depends on every node of its environment, so that it starts after them.",
  settings: {
    infer: z
      .boolean()
      .default(true)
      .describe("If its dependencies name no environment, assume the only one in its component, or in the stack."),
  },
  validateStack(stack, { infer }, report) {
    const nodes = stack.group("Node", "Environment");
    for (const tether of stack.of("TetherService")) {
      const active = tether.get("active");
      if (active !== true && active !== undefined) continue;
      const ready = before(tether.source);
      const key = environmentOf(tether, ready, stack, infer);
      const missing = (key === undefined ? [] : (nodes.get(key) ?? [])).filter(({ urn }) => !ready.has(urn));
      if (key === undefined || missing.length === 0) continue;
      const names = missing.map(({ name }) => name);
      const environment = stack.find("Environment", key)?.name ?? key;
      report.violation(
        `Tether service "${tether.name}" is active, but does not depend on ${names.length > 1 ? "nodes" : "node"} ${listed(names)} of environment ` +
          `"${environment}". Add ${listed(names)} to its resource option dependsOn.`,
        tether.urn,
      );
    }
  },
});
