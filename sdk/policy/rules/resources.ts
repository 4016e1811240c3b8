import { z } from "zod";
import { type ClassName, consensusOf, holdsLedger } from "../../../provider/constants";
import { classes } from "../../generated";
import { definePolicy, regularExpression } from "../define";

/* Policies for single resources. They run before anything is done with a resource. */

export const consensusForProvider = definePolicy({
  name: "consensus-for-provider",
  enforcementLevel: "mandatory",
  description: "The consensus protocol of an environment is allowed for its client.",
  settings: {
    allowed: z
      .record(z.string(), z.array(z.string()))
      .default(Object.fromEntries(Object.entries(consensusOf).map(([client, types]) => [client, [...types]])))
      .describe("Protocols allowed for each client; a client that is not listed is not allowed at all."),
  },
  validateResource(environment, { allowed }, report) {
    const [provider, consensusType] = [environment.text("provider"), environment.text("consensusType")];
    if (environment.className !== "Environment" || provider === undefined) return;
    const choices = new Map<string, string[]>(Object.entries(allowed));
    const possible = choices.get(provider) ?? [];
    if (possible.length === 0) {
      const clients = [...choices.keys()].filter((name) => choices.get(name)!.length > 0);
      report.violation(
        `Environment "${environment.name}" uses provider ${provider}, which is not allowed. Use ${clients.join(" or ")}.`,
      );
    } else if (consensusType !== undefined && !possible.includes(consensusType)) {
      const found = `Environment "${environment.name}" uses consensusType ${consensusType} with provider ${provider}`;
      report.violation(`${found}, which allows only ${possible.join(" or ")}. Use ${possible.join(" or ")}.`);
    }
  },
});

export const allowedNetworks = definePolicy({
  name: "allowed-networks",
  enforcementLevel: "advisory",
  description: "Only listed stacks pin to mainnet, where each pin costs money.",
  settings: {
    mainnetStacks: z.array(z.string()).default([]).describe("Stacks that may use mainnet."),
  },
  validateResource(tether, { mainnetStacks }, report) {
    if (tether.className !== "TetherService" || tether.text("network")?.toLowerCase() !== "mainnet") return;
    if (mainnetStacks.includes(tether.stack)) return;
    report.violation(
      `Tether service "${tether.name}" uses network mainnet in stack "${tether.stack}". ` +
        `Use another network, or add "${tether.stack}" to the setting mainnetStacks.`,
    );
  },
});

export const tetherInterval = definePolicy({
  name: "tether-interval",
  enforcementLevel: "mandatory",
  description: "A tether service pins neither too often nor too rarely.",
  settings: {
    minHours: z.number().min(1).default(1).describe("Minimum hours between two pins."),
    maxHours: z.number().min(1).optional().describe("Maximum hours between two pins. Default: no limit."),
  },
  conflict: ({ minHours, maxHours = Infinity }) =>
    minHours > maxHours ? `minHours ${minHours} is above maxHours ${maxHours}: no interval is allowed` : undefined,
  validateResource(tether, { minHours, maxHours }, report) {
    const hours = tether.number("intervalHours");
    if (tether.className !== "TetherService" || hours === undefined) return;
    const found = `Tether service "${tether.name}" has intervalHours ${hours}`;
    if (hours < minHours) report.violation(`${found}, but at least ${minHours} is allowed. Set ${minHours} or more.`);
    if (maxHours !== undefined && hours > maxHours) {
      report.violation(`${found}, but at most ${maxHours} is allowed. Set ${maxHours} or less.`);
    }
  },
});

export const nodeSize = definePolicy({
  name: "node-size",
  enforcementLevel: "mandatory",
  description: "Nodes and services have an allowed size.",
  settings: {
    sizes: z
      .array(z.string())
      .min(1, "name at least one size")
      .optional()
      .describe("Allowed sizes, such as `small`. Default: any."),
    required: z
      .boolean()
      .default(false)
      .describe("Whether each must set its size; otherwise the service may choose it."),
  },
  validateResource({ className, name, get, text }, { sizes, required }, report) {
    if (className !== "Node" && className !== "Service") return;
    const size = text("size");
    const choice = sizes ? `Set size to ${sizes.join(" or ")}.` : "Set size.";
    if (size !== undefined && sizes && !sizes.includes(size))
      report.violation(`${className} "${name}" has size ${size}, which is not allowed. ${choice}`);
    if (required && get("size") === undefined)
      report.violation(`${className} "${name}" does not say its size. ${choice}`);
  },
});

export const allowedServices = definePolicy({
  name: "allowed-services",
  enforcementLevel: "mandatory",
  description: "Services have an allowed type.",
  settings: {
    types: z.array(z.string()).optional().describe("Allowed types, such as `ipfs`; `[]` allows none. Default: any."),
  },
  validateResource({ className, name, text }, { types }, report) {
    const type = text("service");
    if (className !== "Service" || type === undefined || !types || types.includes(type)) return;
    const choice = types.length > 0 ? `Use ${types.join(" or ")}.` : "Remove it.";
    report.violation(`Service "${name}" is of the type ${type}, which is not allowed. ${choice}`);
  },
});

type NamedClass = Exclude<ClassName, "TetherService">;
const namedClasses = (Object.keys(classes) as ClassName[]).filter(
  (className): className is NamedClass => className !== "TetherService",
);
const pattern = regularExpression.optional();
const types = Object.fromEntries(namedClasses.map((className) => [className, pattern])) as Record<
  NamedClass,
  typeof pattern
>;

export const naming = definePolicy({
  name: "naming",
  enforcementLevel: "disabled",
  description: "Names match the pattern for their resource type.",
  settings: {
    pattern: z
      .union([regularExpression, z.strictObject(types)], {
        error: "must be a regular expression, or an object with one for each type",
      })
      .default("^[a-z][a-z0-9-]*$")
      .describe(`Regular expression for all names, or an object with one per type: ${namedClasses.join(", ")}.`),
  },
  validateResource({ className, name, text }, { pattern }, report) {
    const property = className === "Membership" || className === "Invitation" ? "orgName" : "name";
    const given = text(property);
    if (className === "TetherService" || given === undefined) return;
    const wanted = typeof pattern === "string" ? pattern : pattern[className];
    if (wanted === undefined || new RegExp(wanted, "u").test(given)) return;
    report.violation(`The ${property} of ${className} "${name}" does not match ${wanted}. Change it.`);
  },
});

export const protectLedgers = definePolicy({
  name: "protect-ledgers",
  enforcementLevel: "advisory",
  description: "Environments and consortia are protected in the listed stacks, because deleting one destroys ledgers.",
  settings: {
    stacks: z.array(z.string()).default(["prod", "production"]).describe("Stacks with ledgers that must not be lost."),
  },
  validateResource({ className, name, stack, protect }, { stacks }, report) {
    if (!holdsLedger(className) || protect || !stacks.includes(stack)) return;
    report.violation(
      `${className} "${name}" is not protected in stack "${stack}". Add the resource option protect: true.`,
    );
  },
});
