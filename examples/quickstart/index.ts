import * as pulumi from "@pulumi/pulumi";
import { AppCred, Consortium, Environment, Membership, Node, TetherService } from "pulumi-consortium";

// A business network and its two members.
const consortium = new Consortium("coffee-trade", { description: "Who delivered which beans to whom" });
const grower = new Membership("grower", { consortium });
const roaster = new Membership("roaster", { consortium });

// Their shared ledger. In production, a third argument keeps it from being deleted or replaced: { protect: true }
const environment = new Environment("ledger", { consortium, provider: "quorum", consensusType: "raft" });

// Each company runs two nodes, so one can fail.
const nodes = [
  new Node("grower-1", { environment, membership: grower }),
  new Node("grower-2", { environment, membership: grower }),
  new Node("roaster-1", { environment, membership: roaster }),
  new Node("roaster-2", { environment, membership: roaster }),
];

// Each company's applications log in to its nodes with a username and a password.
const growerApp = new AppCred("grower-app", { environment, membership: grower });
const roasterApp = new AppCred("roaster-app", { environment, membership: roaster });

// Pin a hash of the ledger to a public chain every hour. A program cannot create a tether service: this one exists
// already, and is used if the configuration names it. `local` is a chain of the embedded service, not a public one.
const tetherId = new pulumi.Config("quickstart").get("tetherId");
const tether = tetherId
  ? new TetherService("pin", { tetherId, network: "local", intervalHours: 1 }, { dependsOn: nodes })
  : undefined;

export const consortiumId = consortium.id;
export const environmentId = environment.id;
export const rpcUrls = pulumi
  .all(nodes.map((node) => pulumi.all([node.name, node.urls.rpc])))
  .apply(Object.fromEntries);
export const usernames = { grower: growerApp.username, roaster: roasterApp.username };
export const passwords = { grower: growerApp.password, roaster: roasterApp.password }; // encrypted in the state
export const tetherAccount = tether?.account;
