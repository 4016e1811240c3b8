import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { fillCacheFolder } from "../../../../tools/lib/cache.mjs";
import { cacheRoot } from "../../../../tools/lib/pulumi-cli.mjs";

const execute = promisify(execFile);
const sources = { geth: "github.com/ethereum/go-ethereum/cmd/geth", client: "./client" };

/** A program of go-ethereum's module, built from Go's proxy into the user's cache, once for each version: geth takes some minutes. */
export async function goProgram(name: keyof typeof sources): Promise<string> {
  const hash = createHash("sha256").update(readFileSync(join(__dirname, "go.sum")));
  if (name === "client") hash.update(readFileSync(join(__dirname, "client/main.go")));
  const home = join(cacheRoot(), `go-ethereum-${name}-${hash.digest("hex").slice(0, 12)}`);
  const program = join(home, name);
  await fillCacheFolder(home, {
    what: `${name} of go-ethereum`,
    isWhole: () => existsSync(program),
    async fill(draft) {
      const options = { cwd: __dirname, maxBuffer: 2 ** 26, timeout: 1_800_000 };
      await execute("go", ["build", "-o", join(draft, name), sources[name]], options);
    },
  });
  return program;
}
