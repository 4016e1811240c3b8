import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type NetworkDefinition, NetworkDefinitionError } from "../../../sdk";
import { readFile } from "../../../sdk/network/load";
import { planned } from "../../../sdk/network/network";

const folder = mkdtempSync(join(tmpdir(), "consortium-network-"));

/** A valid definition. */
export const good = `name: trade
members:
  acme:
  globex: { orgName: Globex Corp }
environments:
  prod:
    provider: quorum
    consensusType: raft
    nodes: { acme: 2, globex: [globex-main] }
`;

/** A file of its own with this text. */
export function written(text: string | Buffer, name = "network.yaml"): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

export const folderOfFiles = folder;

function problemsOf(make: () => unknown): string[] {
  try {
    make();
    return [];
  } catch (error) {
    if (!(error instanceof NetworkDefinitionError)) throw error;
    const lines = error.message.split("\n").slice(0, -1);
    expect(error.message.endsWith("\n[invalid-file: docs/troubleshooting.md#invalid-file]")).toBe(true);
    return (error.problems.length === 1 ? lines.slice(0, -1) : lines.slice(1)).map((line) =>
      line.trim().replace("The definition of the network trade: ", "").replaceAll(`${folder}/`, ""),
    );
  }
}

/** The problems of a file, a line each. */
export const inFile = (file: string): string[] => problemsOf(() => planned("trade", readFile(file), undefined));

/** The problems of a text, a line each. */
export const inText = (text: string | Buffer): string[] => inFile(written(text));

/** The problems of a definition in the program, a line each. */
export const inData = (definition: unknown): string[] =>
  problemsOf(() => planned("trade", definition as NetworkDefinition, undefined));
