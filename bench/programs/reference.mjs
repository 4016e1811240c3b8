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
