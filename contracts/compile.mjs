// @ts-check
/** Compiles Anchor.sol to Anchor.json: `node contracts/compile.mjs`. With --check, it only checks that Anchor.json is up to date. */
import { readFileSync, writeFileSync } from "node:fs";
import solc from "solc";

const file = new URL("Anchor.json", import.meta.url);
const input = {
  language: "Solidity",
  sources: { "Anchor.sol": { content: readFileSync(new URL("Anchor.sol", import.meta.url), "utf8") } },
  settings: {
    evmVersion: "paris", // runs on every chain, also on those without newer instructions
    optimizer: { enabled: true, runs: 200 },
    metadata: { bytecodeHash: "none" },
    outputSelection: { "*": { "*": ["abi", "evm.bytecode.object", "evm.deployedBytecode"] } },
  },
};
const { errors = [], contracts } = JSON.parse(solc.compile(JSON.stringify(input)));
for (const { formattedMessage } of errors) console.error(formattedMessage);
if (!contracts?.["Anchor.sol"]) process.exit(1);

const { abi, evm } = contracts["Anchor.sol"].Anchor;
const { object, immutableReferences } = evm.deployedBytecode;
const artifact = {
  compiler: solc.version(),
  abi,
  bytecode: `0x${evm.bytecode.object}`,
  // The code on the chain has the immutable `owner` at the places of immutableReferences.
  deployedBytecode: `0x${object}`,
  immutableReferences,
};
const text = `${JSON.stringify(artifact, null, 2)}\n`;
if (!process.argv.includes("--check")) {
  writeFileSync(file, text);
} else if (readFileSync(file, "utf8") !== text) {
  console.error("contracts/Anchor.json is out of date: run node contracts/compile.mjs.");
  process.exitCode = 1;
}
