// Makes Deliveries.json from Deliveries.sol, with the compiler from the root of the repository.
import { readFileSync, writeFileSync } from "node:fs";
import solc from "solc";

const here = (file) => new URL(file, import.meta.url);
const name = "Deliveries";
const input = {
  language: "Solidity",
  sources: { [`${name}.sol`]: { content: readFileSync(here(`${name}.sol`), "utf8") } },
  settings: {
    evmVersion: "london", // older ledgers do not support newer instructions
    optimizer: { enabled: true, runs: 200 },
    outputSelection: { "*": { "*": ["abi", "evm.bytecode.object"] } },
  },
};
const { errors = [], contracts } = JSON.parse(solc.compile(JSON.stringify(input)));
if (errors.length > 0) throw new Error(errors.map(({ formattedMessage }) => formattedMessage).join("\n"));
const { abi, evm } = contracts[`${name}.sol`][name];
writeFileSync(here(`${name}.json`), `${JSON.stringify({ abi, bytecode: `0x${evm.bytecode.object}` }, undefined, 2)}\n`);
