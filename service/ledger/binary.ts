import { accessSync, constants } from "node:fs";
import { createRequire } from "node:module";
import { ServiceError } from "../errors";

const names: Partial<Record<NodeJS.Architecture, string>> = { x64: "amd64", arm64: "arm64" };

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
