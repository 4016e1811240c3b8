import { accessSync, constants } from "node:fs";
import { createRequire } from "node:module";
import { installCommand } from "../../optional/packages";
import { ServiceError } from "../errors";

const names: Partial<Record<NodeJS.Architecture, string>> = { x64: "amd64", arm64: "arm64" };

/** What a chain needs: its program, and what signs and encodes. */
export const ledgerPackages = ["@foundry-rs/anvil", "ethers"] as const;

/** Why there is no ledger where one is wanted, and what to do. */
export function whyNoLedger(): string {
  const command = installCommand(...ledgerPackages);
  return command ? `its packages are not installed: ${command}` : "@foundry-rs/anvil has no program for this platform";
}

/** Where the chain's program is; undefined if its optional package is not installed or has none for this platform. */
export function findAnvil(given: string | undefined, platform = process.platform): string | undefined {
  if (given !== undefined) {
    try {
      accessSync(given, constants.X_OK);
    } catch (error) {
      throw new ServiceError(`The ledger's program ${given} cannot be run.`, { cause: error });
    }
    return given;
  }
  const file = platform === "win32" ? "bin/anvil.exe" : "bin/anvil";
  try {
    // a platform's package belongs to the package that chooses among them, wherever npm has put it
    const own = createRequire(createRequire(__filename).resolve("@foundry-rs/anvil/package.json"));
    return own.resolve(`@foundry-rs/anvil-${platform}-${names[process.arch] ?? process.arch}/${file}`);
  } catch {
    return undefined;
  }
}
