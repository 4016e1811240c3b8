import { AppCred, Consortium, Environment, Membership, Node } from "pulumi-consortium";

// Two companies and their ledger.
const consortium = new Consortium("coffee-ledger");
const environment = new Environment("deliveries", { consortium, provider: "quorum", consensusType: "raft" });

// Each has its own node and a credential that opens this node and no other.
const companies = ["grower", "roaster"].map((name) => {
  const membership = new Membership(name, { consortium });
  const node = new Node(`${name}-node`, { environment, membership });
  const app = new AppCred(`${name}-app`, { environment, membership });
  const { username, password } = app;
  return { name, urls: node.urls, account: node.userAccounts[0], username, password };
});

// Everything that use.mjs needs. Passwords are encrypted in the state.
export const [grower, roaster] = companies;
