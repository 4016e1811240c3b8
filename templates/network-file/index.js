import { Network } from "pulumi-consortium";

// Everything is described in network.yaml; what is wrong there is said at preview, by line and column.
// { protect: true } as a second argument keeps Pulumi from deleting or replacing any of it.
const network = Network.fromFile("network.yaml");

// Ids, addresses and credentials by key. Passwords are secrets: `pulumi stack output --show-secrets` shows them.
export const outputs = network.outputs;
