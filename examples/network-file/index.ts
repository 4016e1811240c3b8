import { Network } from "pulumi-consortium";

// The whole network is in network.yaml: what is wrong there is said at preview, by line and column.
const network = Network.fromFile("network.yaml");

// Every part is a resource that the program can go on with, under its key.
const { environment, nodes } = network.environments.ledger;
export const chainId = environment.chainId;
export const growerUrl = nodes["grower-1"].urls.rpc;

// Everything by key: ids, addresses, and credentials, whose passwords are encrypted in the state.
export const everything = network.outputs;
