import { type PolicyConfigSchema, type ResourceValidation } from "@pulumi/policy";
import { dynamicPrefix } from "../../provider/constants";
import {
  allowedRegions,
  consensusForProvider,
  consortiumPolicies,
  naming,
  nodeSize,
  nodesPerEnvironment,
  type PackSettings,
  policies,
  PolicySettingsError,
  tetherInterval,
  withSettings,
} from "../../sdk/policy";
import { judge } from "./support/host";
import { network, Plan } from "./support/plan";

const expected = (setting: string, wanted: string, received: string): string =>
  `setting ${setting}: Invalid input: expected ${wanted}, received ${received}`;
const noLevel =
  'setting enforcementLevel: Invalid option: expected one of "advisory"|"mandatory"|"remediate"|"disabled"';

/** The settings of one policy, and the error. */
const wrong: [what: string, policy: string, settings: unknown, problem: string][] = [
  [
    "an unknown setting",
    "nodes-per-environment",
    { maximum: 3 },
    'Unrecognized key: "maximum"; the settings are enforcementLevel, max, live',
  ],
  [
    "a setting of a policy that has none",
    "credential-per-member",
    { max: 3 },
    'Unrecognized key: "max"; the settings are enforcementLevel',
  ],
  [
    "a minimum above the maximum",
    "tether-interval",
    { minHours: 6, maxHours: 5 },
    "minHours 6 is above maxHours 5: no interval is allowed",
  ],
  ["half a node", "nodes-per-environment", { max: 2.5 }, expected("max", "int", "number")],
  ["less than nothing", "nodes-per-environment", { max: -1 }, "setting max: Too small: expected number to be >=0"],
  [
    "more than everything",
    "balanced-membership",
    { maxShare: 50 },
    "setting maxShare: Too big: expected number to be <=1",
  ],
  [
    "a region that does not exist",
    "allowed-regions",
    { regions: ["eu", "moon"] },
    'setting regions.1: Invalid option: expected one of "us"|"eu"|"ap"|"ko"|"us1"|"eu1"',
  ],
  ["no regular expression", "naming", { pattern: { Node: "(" } }, "setting pattern.Node: must be a regular expression"],
  ["an unknown level", "naming", "loud", noLevel],
  ["an unknown level among settings", "naming", { enforcementLevel: 1 }, noLevel],
];

describe("settings that cannot be used", () => {
  test.each(wrong)("in the function's bag: %s", (_, policy, settings, problem) => {
    const error = new PolicySettingsError(`Policy "${policy}": ${problem}.`);
    expect(() => consortiumPolicies({ [policy]: settings })).toThrow(error);
  });

  test("of a policy that does not exist", () => {
    const names = policies.map(({ name }) => name).join(", ");
    expect(() => consortiumPolicies({ "nodes-per-enviroment": { max: 3 } } as PackSettings)).toThrow(
      new PolicySettingsError(`There is no policy "nodes-per-enviroment"; the policies are ${names}.`),
    );
  });

  const valued = wrong.filter(([what]) => !what.includes("level"));
  test.each(valued)("in --policy-pack-config, should the host let it through: %s", async (...row) => {
    const [, policy, settings, problem] = row;
    const plan = new Plan();
    const { environment } = network(plan);
    plan.add("TetherService", "pin", { intervalHours: 0, active: true }, { dependsOn: [environment] });
    const chosen = policies
      .filter(({ name }) => name === policy)
      .map((one) => ({ ...one, enforcementLevel: "advisory" as const }));
    expect(await judge(chosen, plan, { [policy]: settings as object })).toEqual([
      { policy, level: "mandatory", message: `Policy "${policy}": ${problem}.`, about: "e2e-test" },
    ]);
  });

  test("a policy of somebody else", () => {
    const copy: typeof naming = { ...naming };
    expect(() => withSettings(copy, "mandatory")).toThrow(
      'Policy "naming": only a policy of pulumi-consortium/policy itself takes settings.',
    );
  });
});

describe("settings that can", () => {
  test("come from configuration, as texts of any kind", () => {
    const [regions, clients]: [string[], Record<string, string[]>] = [["eu"], { quorum: ["ibft"] }];
    expect(withSettings(allowedRegions, { regions }).configSchema.properties.regions.default).toEqual(["eu"]);
    const allowed = withSettings(consensusForProvider, { allowed: clients }).configSchema.properties.allowed;
    expect(allowed).toMatchObject({
      default: { quorum: ["ibft"] },
      type: "object",
      additionalProperties: { type: "array" },
    });
  });

  test("levels and values come from the bag, as defaults that a file may still change", async () => {
    const settings = {
      naming: "mandatory",
      "tether-interval": { enforcementLevel: "advisory", minHours: 3, maxHours: 9 },
    } as const;
    const chosen = consortiumPolicies(settings).policies;
    const of = (name: string) => chosen.find((policy) => policy.name === name)!;
    expect(of("naming").enforcementLevel).toBe("mandatory");
    expect(of("tether-interval")).toMatchObject({
      enforcementLevel: "advisory",
      configSchema: { properties: { minHours: { default: 3 }, maxHours: { default: 9 } } },
    });
    const plan = new Plan();
    plan.add("TetherService", "pin", { intervalHours: 2 });
    expect(await judge([of("tether-interval")], plan)).toHaveLength(1);
    expect(await judge([of("tether-interval")], plan, { "tether-interval": { minHours: 2 } })).toEqual([]);
  });

  test("further settings keep the earlier ones, and do not change the first policy", () => {
    const twice = withSettings(withSettings(tetherInterval, { maxHours: 9 }), { minHours: 3 });
    const defaults = (policy: { configSchema: PolicyConfigSchema }) =>
      Object.entries(policy.configSchema.properties).map(([key, setting]) => [key, setting.default]);
    expect(defaults(twice)).toEqual([
      ["minHours", 3],
      ["maxHours", 9],
    ]);
    expect(defaults(tetherInterval)).toEqual([
      ["minHours", 1],
      ["maxHours", undefined],
    ]);
    expect(withSettings(nodesPerEnvironment, "advisory").enforcementLevel).toBe("advisory");
  });
});

test.each([
  ["of whole stacks", nodesPerEnvironment, ["pulumi:pulumi:Stack"]],
  [
    "of single resources",
    nodeSize,
    ["pulumi:pulumi:Stack", "pulumi:providers:pulumi-nodejs", `${dynamicPrefix}Consortium`],
  ],
])("the host asks a policy %s only about what it judges", async (_, policy, types) => {
  const asked: string[] = [];
  const { validateResource } = policy;
  if (typeof validateResource !== "function") throw new Error("one function judges resources");
  const listening: ResourceValidation = (args, report) => {
    asked.push(args.type);
    return validateResource(args, report);
  };
  const plan = new Plan();
  plan.add("Consortium", "trade");
  await judge([{ ...policy, validateResource: Object.assign(listening, { ...validateResource }) }], plan);
  expect(asked).toEqual(types);
});
