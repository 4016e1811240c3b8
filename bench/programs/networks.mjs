// @ts-check
/** Programs for the measures. */
import { tetherId } from "../lib/stack.mjs";

/** The network of examples/quickstart: two members with two nodes and a credential each. */
export const reference = `
  const { AppCred, Consortium, Environment, Membership, Node, TetherService } = require("pulumi-consortium");
  const consortium = new Consortium("coffee-trade", { description: "Who delivered which beans to whom" });
  const environment = new Environment("ledger", { consortium, provider: "quorum", consensusType: "raft" });
  const nodes = [];
  for (const name of ["grower", "roaster"]) {
    const membership = new Membership(name, { consortium });
    nodes.push(new Node(name + "-1", { environment, membership }), new Node(name + "-2", { environment, membership }));
    new AppCred(name + "-app", { environment, membership });
  }
  new TetherService("pin", { tetherId: "${tetherId}", network: "rinkeby", intervalHours: 1 }, { dependsOn: nodes });
`;

const inEnvironment = (/** @type {string} */ name) =>
  `environmentId: "\${ledger.id}", consortiumId: "\${coffee-trade.id}", membershipId: "\${${name}.id}"`;

/** The same in YAML. */
export const referenceInYaml = `
resources:
  coffee-trade: { type: consortium:Consortium, properties: { description: Who delivered which beans to whom } }
  ledger:
    type: consortium:Environment
    properties: { consortiumId: "\${coffee-trade.id}", provider: quorum, consensusType: raft }
${["grower", "roaster"]
  .flatMap((name) => [
    `  ${name}: { type: consortium:Membership, properties: { consortiumId: "\${coffee-trade.id}" } }`,
    ...[1, 2].map((n) => `  ${name}-${n}: { type: consortium:Node, properties: { ${inEnvironment(name)} } }`),
    `  ${name}-app: { type: consortium:AppCred, properties: { ${inEnvironment(name)} } }`,
  ])
  .join("\n")}
  pin:
    type: consortium:TetherService
    properties: { tetherId: "${tetherId}", network: rinkeby, intervalHours: 1 }
    options: { dependsOn: ["\${grower-1}", "\${grower-2}", "\${roaster-1}", "\${roaster-2}"] }
`;

/** A consortium with many members, in JavaScript. @param {number} count */
export const members = (count) => `
  const { Consortium, Membership } = require("pulumi-consortium");
  const consortium = new Consortium("c", {});
  for (let n = 0; n < ${count}; n++) new Membership("m" + n, { consortium });
`;

/** The same with dynamic resources that do nothing. @param {number} count */
export const emptyMembers = (count) => `
  const pulumi = require("@pulumi/pulumi");
  const provider = { create: (inputs) => Promise.resolve({ id: String(inputs.name), outs: inputs }) };
  class Empty extends pulumi.dynamic.Resource {
    constructor(name, args) {
      super(provider, name, { name, ...args });
    }
  }
  const parent = new Empty("c", {});
  for (let n = 0; n < ${count}; n++) new Empty("m" + n, { parentId: parent.id });
`;

/** The same in YAML. @param {number} count */
export const membersInYaml = (count) =>
  [
    "resources:",
    "  c: { type: consortium:Consortium }",
    ...Array.from(
      { length: count },
      (_, n) => `  m${n}: { type: consortium:Membership, properties: { consortiumId: "\${c.id}" } }`,
    ),
    "",
  ].join("\n");

// One network, as a file and as a program: two consortia with 20 companies and three environments each, four nodes in every environment.
const consortia = ["north", "south"];
const environments = ["prod", "stage", "test"];
const companies = Array.from({ length: 20 }, (_, index) => `company-${index + 1}`);
/** The companies that run two nodes each. @param {number} index of the environment */
const owners = (index) => companies.slice(2 * index, 2 * index + 2);

export const fromFile = `
  const { Network } = require("pulumi-consortium");
  Network.fromFile("network.yaml");
`;

const environmentLines = environments.map((key, index) => {
  const nodes = owners(index).map((member) => `${member}: 2`);
  return `      ${key}: { provider: quorum, consensusType: raft, nodes: { ${nodes.join(", ")} } }`;
});
export const file = [
  "name: trade",
  "consortia:",
  ...consortia.flatMap((key) => [
    `  ${key}:`,
    `    members: [${companies.join(", ")}]`,
    "    environments:",
    ...environmentLines,
  ]),
  "",
].join("\n");

/** Without a component: one line for each resource. @param {string} key */
const lines = (key) => [
  `const ${key} = new Consortium("${key}");`,
  ...companies.map(
    (member, index) =>
      `const ${key}${index} = new Membership("${key}-${member}", { consortium: ${key}, orgName: "${member}" });`,
  ),
  ...environments.flatMap((name, index) => [
    `const ${key}_${name} = new Environment("${key}-${name}", { consortium: ${key}, name: "${name}", provider: "quorum", consensusType: "raft" });`,
    ...owners(index).flatMap((member) => {
      const parents = `environment: ${key}_${name}, membership: ${key}${companies.indexOf(member)}`;
      const full = `${key}-${name}-${member}`;
      return [
        ...[1, 2].map((n) => `new Node("${full}-${n}", { name: "${member}-${n}", ${parents} });`),
        `new AppCred("${full}", { name: "${member}", ${parents} });`,
      ];
    }),
  ]),
];

export const byHand = [
  'const { AppCred, Consortium, Environment, Membership, Node } = require("pulumi-consortium");',
  ...consortia.flatMap(lines),
].join("\n");

/** How many resources each of the two has: every line of the program but the first is one. */
export const resources = byHand.split("\n").length - 1;
