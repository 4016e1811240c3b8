import {
  allowedNetworks,
  allowedServices,
  consensusForProvider,
  type ConsortiumPolicy,
  naming,
  nodeSize,
  protectLedgers,
  tetherInterval,
  withSettings,
} from "../../sdk/policy";
import { judge } from "./support/host";
import { Plan, unknown } from "./support/plan";

/** A resource in a stack named "test", settings, and the rest of the message. Without a message, there is no violation. */
type Row = [what: string, add: (plan: Plan) => void, settings?: object, message?: string];

const environment =
  (provider: string, consensusType: string) =>
  (plan: Plan): void =>
    void plan.add("Environment", "ledger", { provider, consensusType });
const tether =
  (args: object) =>
  (plan: Plan): void =>
    void plan.add("TetherService", "pin", { tetherId: "t0000000000", network: "rinkeby", intervalHours: 1, ...args });
const service =
  (type: unknown, args: object = {}) =>
  (plan: Plan): void =>
    void plan.add("Service", "s", { service: type, ...args });
const sized =
  (size?: unknown) =>
  (plan: Plan): void =>
    void plan.add("Node", "n", size === undefined ? {} : { size });
const named =
  (kind: "Consortium" | "Environment" | "Node" | "AppCred", name: string) =>
  (plan: Plan): void =>
    void plan.add(kind, "it", { name });

const unprotected = 'is not protected in stack "test". Add the resource option protect: true.';

/** A policy, its level, and the beginning of its messages. */
const table: [ConsortiumPolicy, string, string, Row[]][] = [
  [
    consensusForProvider,
    "mandatory",
    'Environment "ledger" uses ',
    [
      ["raft of quorum", environment("quorum", "raft")],
      ["ibft of quorum", environment("quorum", "ibft")],
      ["poa of geth", environment("geth", "poa")],
      [
        "raft of geth",
        environment("geth", "raft"),
        {},
        "consensusType raft with provider geth, which allows only poa. Use poa.",
      ],
      [
        "poa of quorum",
        environment("quorum", "poa"),
        {},
        "consensusType poa with provider quorum, which allows only raft or ibft. Use raft or ibft.",
      ],
      [
        "a protocol that the settings leave out",
        environment("quorum", "raft"),
        { allowed: { quorum: ["ibft"], geth: ["poa"] } },
        "consensusType raft with provider quorum, which allows only ibft. Use ibft.",
      ],
      [
        "a client that the settings leave out",
        environment("geth", "poa"),
        { allowed: { quorum: ["ibft"], geth: [] } },
        "provider geth, which is not allowed. Use quorum.",
      ],
      ["an unknown client", environment(unknown, "raft")],
      ["an unknown protocol", environment("geth", unknown)],
      ["other resources", named("Node", "n")],
    ],
  ],
  [
    nodeSize,
    "mandatory",
    "",
    [
      ["any size", sized("huge")],
      ["no size", sized()],
      ["a size that is allowed", sized("small"), { sizes: ["small", "medium"] }],
      [
        "a size that is not",
        sized("large"),
        { sizes: ["small", "medium"] },
        'Node "n" has size large, which is not allowed. Set size to small or medium.',
      ],
      ["no size, where some are allowed", sized(), { sizes: ["small"] }],
      [
        "no size, where one is needed",
        sized(),
        { sizes: ["small"], required: true },
        'Node "n" does not say its size. Set size to small.',
      ],
      ["no size, where any is needed", sized(), { required: true }, 'Node "n" does not say its size. Set size.'],
      ["an unknown size", sized(unknown), { sizes: ["small"], required: true }],
      [
        "a service of a size that is not",
        service("ipfs", { size: "large" }),
        { sizes: ["small"] },
        'Service "s" has size large, which is not allowed. Set size to small.',
      ],
      ["a service without one", service("ipfs"), { required: true }, 'Service "s" does not say its size. Set size.'],
      ["other resources", environment("geth", "poa"), { sizes: ["small"], required: true }],
    ],
  ],
  [
    allowedServices,
    "mandatory",
    'Service "s" is of the type ',
    [
      ["any type", service("ipfs")],
      ["a type that is allowed", service("ipfs"), { types: ["idregistry", "ipfs"] }],
      [
        "a type that is not",
        service("hdwallet"),
        { types: ["idregistry", "ipfs"] },
        "hdwallet, which is not allowed. Use idregistry or ipfs.",
      ],
      ["any, where none is allowed", service("ipfs"), { types: [] }, "ipfs, which is not allowed. Remove it."],
      ["an unknown type", service(unknown), { types: [] }],
      ["other resources", named("Node", "n"), { types: [] }],
    ],
  ],
  [
    tetherInterval,
    "mandatory",
    'Tether service "pin" has intervalHours ',
    [
      ["one hour", tether({ intervalHours: 1 })],
      ["less than one hour", tether({ intervalHours: 0 }), {}, "0, but at least 1 is allowed. Set 1 or more."],
      [
        "less than the settings want",
        tether({ intervalHours: 5 }),
        { minHours: 6 },
        "5, but at least 6 is allowed. Set 6 or more.",
      ],
      ["as much as the settings allow", tether({ intervalHours: 24 }), { maxHours: 24 }],
      [
        "more than the settings allow",
        tether({ intervalHours: 25 }),
        { maxHours: 24 },
        "25, but at most 24 is allowed. Set 24 or less.",
      ],
      ["an unknown interval", tether({ intervalHours: unknown }), { minHours: 6 }],
    ],
  ],
  [
    allowedNetworks,
    "advisory",
    'Tether service "pin" uses network mainnet in stack "test". Use another network, or add "test" to the setting mainnetStacks.',
    [
      ["rinkeby", tether({ network: "rinkeby" })],
      ["mainnet", tether({ network: "mainnet" }), {}, ""],
      ["mainnet in a stack that is named", tether({ network: "mainnet" }), { mainnetStacks: ["test"] }],
      ["mainnet in a stack that is not named", tether({ network: "mainnet" }), { mainnetStacks: ["tes", "prod"] }, ""],
      ["an unknown network", tether({ network: unknown })],
    ],
  ],
  [
    withSettings(protectLedgers, { stacks: ["test"] }),
    "advisory",
    "",
    [
      ["a protected consortium", (plan) => void plan.add("Consortium", "it", {}, { protect: true })],
      ["a consortium without protection", named("Consortium", "it"), {}, `Consortium "it" ${unprotected}`],
      ["an environment without protection", named("Environment", "it"), {}, `Environment "it" ${unprotected}`],
      ["in a stack that is not named", named("Environment", "it"), { stacks: ["prod"] }],
      ["a node needs none", named("Node", "it")],
    ],
  ],
  [
    withSettings(naming, "mandatory"),
    "mandatory",
    "",
    [
      ["a name that matches", named("Node", "acme-1")],
      [
        "a name that does not",
        named("Node", "Acme 1"),
        {},
        'The name of Node "it" does not match ^[a-z][a-z0-9-]*$. Change it.',
      ],
      [
        "the name of a business",
        (plan) => void plan.add("Membership", "it", { orgName: "Acme Inc." }),
        {},
        'The orgName of Membership "it" does not match ^[a-z][a-z0-9-]*$. Change it.',
      ],
      [
        "the name of a business that is invited, by the pattern for the type",
        (plan) => void plan.add("Invitation", "it", { orgName: "Acme Inc." }),
        { pattern: { Invitation: "^[a-z]+$", Membership: "." } },
        'The orgName of Invitation "it" does not match ^[a-z]+$. Change it.',
      ],
      ["another pattern", named("Node", "Acme 1"), { pattern: "^[A-Z]" }],
      [
        "a pattern for the type",
        named("Environment", "dev"),
        { pattern: { Environment: "-ledger$" } },
        'The name of Environment "it" does not match -ledger$. Change it.',
      ],
      ["no pattern for the type", named("AppCred", "Any thing"), { pattern: { Environment: "-ledger$" } }],
      ["an unknown name", named("Consortium", unknown)],
      ["a tether service has no name", tether({})],
    ],
  ],
];

describe.each(table)("$name", (policy, level, begin, rows) => {
  test.each(rows)("%s", async (_, add, settings = {}, message = undefined) => {
    const plan = new Plan();
    add(plan);
    const found = await judge([policy], plan, { [policy.name]: settings });
    const about = plan.resources.at(-1)!.name;
    expect(found).toEqual(
      message === undefined ? [] : [{ policy: policy.name, level, message: begin + message, about }],
    );
  });
});

test("protect-ledgers looks at production stacks, unless told otherwise", async () => {
  for (const [stack, count] of [
    ["dev", 0],
    ["prod", 1],
    ["production", 1],
  ] as const) {
    const plan = new Plan(stack);
    plan.add("Environment", "ledger");
    expect(await judge([protectLedgers], plan)).toHaveLength(count);
  }
});
