import * as pulumi from "@pulumi/pulumi";
import { AppCred, Consortium, Environment, Membership, Node } from "pulumi-consortium";

// The members. `pulumi config set --path 'members[2]' carrier` adds one without a change here.
const companies = new pulumi.Config().getObject<string[]>("members") ?? ["buyer", "seller"];

const consortium = new Consortium(pulumi.getProject(), { description: "Created with pulumi new" });
// One ledger. Replacing it loses its data: in production, add { protect: true } as a third argument.
const ledger = new Environment("ledger", { consortium, provider: "quorum", consensusType: "raft" });

// Each company runs a node of the ledger, and its applications log in to it.
const members = companies.map((company) => {
  const membership = new Membership(company, { consortium });
  const node = new Node(`${company}-node`, { environment: ledger, membership });
  const credential = new AppCred(`${company}-app`, { environment: ledger, membership });
  return { company, node, credential };
});

export const chainId = ledger.chainId;
export const endpoints = members.map(({ company, node, credential }) => ({
  company,
  url: node.urls.rpc,
  username: credential.username,
  password: credential.password, // a secret: encrypted in the state, shown with `pulumi stack output --show-secrets`
}));
