import * as pulumi from "@pulumi/pulumi";
import { AppCred, Consortium, Environment, Membership, Node } from "pulumi-consortium";

// Who takes part. `pulumi config set --path 'members[2]' carrier` adds one, and nothing here has to change.
const companies = new pulumi.Config().getObject("members") ?? ["buyer", "seller"];

const consortium = new Consortium(pulumi.getProject(), { description: "Made with pulumi new" });
// One ledger. Replacing it loses what is on it: in production, add { protect: true } as a third argument.
const ledger = new Environment("ledger", { consortium, provider: "quorum", consensusType: "raft" });

// Each company runs a node of the ledger, and its applications log in there.
const members = companies.map((company) => {
  const membership = new Membership(company, { consortium });
  const node = new Node(`${company}-node`, { environment: ledger, membership });
  const login = new AppCred(`${company}-app`, { environment: ledger, membership });
  return { company, node, login };
});

export const chainId = ledger.chainId;
export const endpoints = members.map(({ company, node, login }) => ({
  company,
  url: node.urls.rpc,
  username: login.username,
  password: login.password, // a secret: encrypted in the state, shown with `pulumi stack output --show-secrets`
}));
