// @ts-check
/** The reference network, which is that of examples/quickstart: two members with two nodes and a credential each. */
import { tetherId } from "../lib/rig.mjs";

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
