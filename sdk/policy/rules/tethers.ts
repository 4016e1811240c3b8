import { type PolicyResource } from "@pulumi/policy";
import { z } from "zod";
import { definePolicy } from "../define";
import { Parents } from "../parents";
import { ancestorsOf, dependenciesOf, type Member, type Stack } from "../resources";
import { listed } from "../text";

export const allowedNetworks = definePolicy({
  name: "allowed-networks",
  level: "advisory",
  rule: "Only listed stacks pin to mainnet, where each pin costs money.",
  settings: {
    mainnetStacks: z.array(z.string()).default([]).describe("Stacks that may use mainnet."),
  },
  resource(tether, { mainnetStacks }, report) {
    if (tether.kind !== "TetherService" || tether.text("network") !== "mainnet") return;
    if (mainnetStacks.includes(tether.stack)) return;
    report.violation(
      `Tether service "${tether.name}" uses network mainnet in stack "${tether.stack}". ` +
        `Use rinkeby, or add "${tether.stack}" to the setting mainnetStacks.`,
    );
  },
});

export const tetherInterval = definePolicy({
  name: "tether-interval",
  level: "mandatory",
  rule: "A tether service pins neither too often nor too rarely.",
  settings: {
    minHours: z.number().min(1).default(1).describe("Minimum hours between two pins."),
    maxHours: z.number().min(1).optional().describe("Maximum hours between two pins. Default: no limit."),
  },
  resource(tether, { minHours, maxHours }, report) {
    const hours = tether.number("intervalHours");
    if (tether.kind !== "TetherService" || hours === undefined) return;
    const found = `Tether service "${tether.name}" has intervalHours ${hours}`;
    if (hours < minHours) report.violation(`${found}, but at least ${minHours} is allowed. Set ${minHours} or more.`);
    if (maxHours !== undefined && hours > maxHours) {
      report.violation(`${found}, but at most ${maxHours} is allowed. Set ${maxHours} or less.`);
    }
  },
});

/** Everything that is there before a resource is: its dependencies, and theirs. */
function before(source: PolicyResource, seen = new Set<string>()): Set<string> {
  for (const dependency of dependenciesOf(source)) {
    if (seen.has(dependency.urn)) continue;
    seen.add(dependency.urn);
    before(dependency, seen);
  }
  return seen;
}

const only = <T>(items: readonly T[]): T | undefined => (new Set(items).size === 1 ? items[0] : undefined);

/** The only environment of the component that the tether is in, of the one around it, and so on up to the stack. */
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

/** The service does not show which environment a tether pins: its dependencies do, or else its place in the program. */
function environmentOf(tether: Member, ready: Set<string>, stack: Stack, parents: Parents, infer: boolean) {
  const known = stack.members.filter(({ urn }) => ready.has(urn));
  const keys = known.flatMap((member) => {
    const key = member.kind === "Environment" ? parents.keyOf(member) : parents.key(member, "Environment");
    return key === undefined ? [] : [key];
  });
  if (keys.length > 0) return only(keys);
  const nearest = infer ? nearestEnvironment(tether, stack) : undefined;
  return nearest && parents.keyOf(nearest);
}

export const tetherAfterConfiguration = definePolicy({
  name: "tether-after-configuration",
  level: "mandatory",
  rule: "An active tether service depends on every node of its environment, so that it starts after them.",
  settings: {
    infer: z
      .boolean()
      .default(true)
      .describe("If its dependencies name no environment, assume the only one in its component, or in the stack."),
  },
  stack(stack, { infer }, report) {
    const parents = new Parents(stack);
    const nodes = parents.group("Node", "Environment");
    for (const tether of stack.of("TetherService")) {
      const active = tether.get("active");
      if (active !== true && active !== undefined) continue;
      const ready = before(tether.source);
      const key = environmentOf(tether, ready, stack, parents, infer);
      const missing = (key === undefined ? [] : (nodes.get(key) ?? [])).filter(({ urn }) => !ready.has(urn));
      if (key === undefined || missing.length === 0) continue;
      const names = missing.map(({ name }) => name);
      const environment = parents.find("Environment", key)?.name ?? key;
      report.violation(
        `Tether service "${tether.name}" is active, but does not depend on ${names.length > 1 ? "nodes" : "node"} ${listed(names)} of environment ` +
          `"${environment}". Add ${listed(names)} to its resource option dependsOn.`,
        tether.urn,
      );
    }
  },
});
