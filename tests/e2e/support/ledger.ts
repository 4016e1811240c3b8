import { type KnownCredential } from "../../../sdk";
import { type Place, send } from "../../support/network";

export const tetherId = "t0e2eledge";

/** What the stack shows of a company: enough to log in to its node. */
export interface Company extends KnownCredential {
  urls: { rpc: string; wss: string };
  account: string;
}

export interface Outputs {
  grower: Company;
  roaster: Company;
  elsewhere: KnownCredential;
  temporary?: KnownCredential;
  height?: number;
}

/**
 * A ledger of two companies that is pinned, and a second environment. `TEMPORARY`: a credential that the next run deletes.
 * `CONNECT`: the program itself asks the ledger for its height.
 */
export const program = `
  const { AppCred, Consortium, Environment, Membership, Node, TetherService, connect } = require("pulumi-consortium");
  const consortium = new Consortium("c");
  const settings = { consortium, provider: "quorum", consensusType: "raft" };
  const environment = new Environment("main", settings);
  const spare = new Environment("spare", settings);
  const members = ["grower", "roaster"].map((name) => {
    const membership = new Membership(name, { consortium });
    const node = new Node(name + "-node", { environment, membership });
    const app = new AppCred(name + "-app", { environment, membership });
    exports[name] = { urls: node.urls, account: node.userAccounts[0], username: app.username, password: app.password };
    return { membership, node, app };
  });
  const [grower] = members;
  const pair = (name, environment) => {
    const { username, password } = new AppCred(name, { environment, membership: grower.membership });
    exports[name] = { username, password };
  };
  pair("elsewhere", spare);
  if (process.env.TEMPORARY) pair("temporary", environment);
  new TetherService("t", { tetherId: "${tetherId}", network: "rinkeby", intervalHours: 1 }, { dependsOn: members.map(({ node }) => node) });
  if (process.env.CONNECT) {
    exports.height = connect(grower.node, grower.app).apply((ledger) => ledger.getBlockNumber().finally(() => ledger.destroy()));
  }
`;

/** Where the chain that the tether pins to runs: only the embedded service shows that. */
export async function targetUrl(service: Place): Promise<string> {
  await send(service, "GET", `/tether/${tetherId}/balance/rinkeby`); // wakes the chain after a restart
  const shown = await send<{ target_urls: { rinkeby: string } }>(service, "GET", `/tether/${tetherId}`);
  return shown.target_urls.rinkeby;
}
