import { Network } from "pulumi-consortium";

// network.yaml describes the whole network. A preview reports all errors in it, with line and column.
const network = Network.fromFile("network.yaml");

// Every part is a resource that the program can use, by key.
const { environment, nodes } = network.environments.ledger;
export const chainId = environment.chainId;
export const growerUrl = nodes["grower-1"].urls.rpc;

// Everything by key: ids, addresses and credentials. Passwords are encrypted in the state.
export const everything = network.outputs;
