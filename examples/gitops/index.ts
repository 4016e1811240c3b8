import * as pulumi from "@pulumi/pulumi";
import { AppCred, Consortium, Environment, Membership, Node } from "pulumi-consortium";

// The differences between staging and production are in Pulumi.<stack>.yaml.
const config = new pulumi.Config();
const companies = config.requireObject<string[]>("members");
const nodesPerMember = config.requireNumber("nodesPerMember");

const consortium = new Consortium(`trade-${pulumi.getStack()}`, { description: "Who shipped what to whom" });
const environment = new Environment(
  "ledger",
  { consortium, provider: "quorum", consensusType: "raft" },
  { protect: config.getBoolean("protect") }, // nobody deletes or replaces the ledger of production by mistake
);

const members = companies.map((company) => {
  const membership = new Membership(company, { consortium });
  const nodes = Array.from(
    { length: nodesPerMember },
    (_, index) => new Node(`${company}-${index + 1}`, { environment, membership }),
  );
  const credential = new AppCred(`${company}-app`, { environment, membership });
  return { company, nodes, credential };
});

export const environmentId = environment.id;
export const endpoints = members.map(({ company, nodes }) => ({ company, urls: nodes.map(({ urls }) => urls.rpc) }));
const credentials = members.map(({ company, credential }) => ({
  company,
  username: credential.username,
  password: credential.password, // a secret: encrypted in the state
}));
// The Kubernetes operator would keep them in plain text.
export const logins = config.getBoolean("logins") === false ? undefined : credentials;
