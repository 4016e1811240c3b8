import { Network } from "pulumi-consortium";

// network.yaml describes everything. A preview reports all errors in it, with line and column.
// { protect: true } as a second argument prevents Pulumi from deleting or replacing any of it.
const network = Network.fromFile("network.yaml");

// Ids, addresses and credentials by key. Passwords are secrets: `pulumi stack output --show-secrets` shows them.
export const outputs = network.outputs;
