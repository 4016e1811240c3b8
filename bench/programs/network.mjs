// @ts-check
/** The same network twice: 2 consortia of 20 members and 3 environments each, 4 nodes in every environment. */

const consortia = ["north", "south"];
const environments = ["prod", "stage", "test"];
const members = Array.from({ length: 20 }, (_, index) => `company-${index + 1}`);
/** Two members run two nodes each. @param {number} index of the environment */
const owners = (index) => members.slice(2 * index, 2 * index + 2);

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
    `    members: [${members.join(", ")}]`,
    "    environments:",
    ...environmentLines,
  ]),
  "",
].join("\n");

/** As people write programs without a component: one line a resource. @param {string} key */
const lines = (key) => [
  `const ${key} = new Consortium("${key}");`,
  ...members.map(
    (member, index) =>
      `const ${key}${index} = new Membership("${key}-${member}", { consortium: ${key}, orgName: "${member}" });`,
  ),
  ...environments.flatMap((name, index) => [
    `const ${key}_${name} = new Environment("${key}-${name}", { consortium: ${key}, name: "${name}", provider: "quorum", consensusType: "raft" });`,
    ...owners(index).flatMap((member) => {
      const parents = `environment: ${key}_${name}, membership: ${key}${members.indexOf(member)}`;
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

const inEach = {
  members: members.length,
  environments: environments.length,
  nodes: 4 * environments.length,
  credentials: 2 * environments.length,
};
/** How many resources either has. */
export const resources = consortia.length * Object.values(inEach).reduce((sum, count) => sum + count, 1);
