// Writes to the ledger through one company's node and reads it through the other's.
// Takes the outputs of the stack on its standard input: see README.md.
import { readFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { Contract, ContractFactory } from "ethers";
import { connect, CredentialRefused } from "pulumi-consortium";

const { abi, bytecode } = JSON.parse(readFileSync(new URL("Deliveries.json", import.meta.url), "utf8"));
const { grower, roaster } = JSON.parse(await text(process.stdin));

// Each company logs in to its own node: the grower over HTTP, the roaster over a WebSocket.
const growersNode = connect(grower, grower);
const roastersNode = connect(roaster, roaster, "wss");

// The grower's node signs with the account that it keeps for this company.
const factory = new ContractFactory(abi, bytecode, await growersNode.getSigner(grower.account));
const deployed = await factory.deploy();
await deployed.waitForDeployment();
const address = await deployed.getAddress();
console.log(`grower  deployed Deliveries at ${address}, on the chain ${(await growersNode.getNetwork()).chainId}`);

const written = await (await deployed.deliver("60 kg of Huehuetenango")).wait();
console.log(`grower  wrote a note, in block ${written.blockNumber}`);

// The roaster sees it through the other node, and answers.
const seen = new Contract(address, abi, await roastersNode.getSigner(roaster.account));
const { writer, what } = await seen.note(0);
console.log(`roaster reads "${what}" from ${writer}`);
await (await seen.deliver("received, 59.8 kg")).wait();
const { what: answer } = await deployed.note(1);
console.log(`grower  reads "${answer}": ${await deployed.count()} notes in all`);

// The grower's pair does not open the roaster's node.
const foreign = connect(roaster, grower);
try {
  await foreign.getBlockNumber();
  throw new Error("The grower got into the roaster's node.");
} catch (error) {
  if (!(error instanceof CredentialRefused)) throw error;
  console.log(`grower  is refused at the roaster's node: ${error.errorMessage}`);
}

for (const node of [growersNode, roastersNode, foreign]) await node.destroy();
