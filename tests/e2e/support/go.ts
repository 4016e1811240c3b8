import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fillCacheFolder } from "../../../tools/lib/cache.mjs";
import { succeed } from "../../../tools/lib/processes.mjs";
import { cacheRoot } from "../../../tools/lib/pulumi-cli.mjs";

interface GoProgram {
  /** For people. */
  what: string;
  name: string;
  /** The folder of its go.mod. */
  module: string;
  /** The package in it. Default: that of the folder. */
  target?: string;
  /** What it is made of, besides go.sum: another content is another program. */
  files?: string[];
}

/** A program that is built from Go's proxy into the user's cache, once for each version of what it is made of. */
export async function goProgram({ what, name, module, target = ".", files = [] }: GoProgram): Promise<string> {
  const hash = createHash("sha256");
  for (const file of [...files, "go.sum"]) hash.update(readFileSync(join(module, file)));
  const home = join(cacheRoot(), `${name}-${hash.digest("hex").slice(0, 12)}`);
  const program = join(home, name);
  const flags = ["-trimpath", "-mod=readonly", "-buildvcs=false", "-ldflags=-s -w"];
  const options = { cwd: module, env: { ...process.env, GOWORK: "off" }, timeoutMs: 1_800_000 };
  await fillCacheFolder(home, {
    what,
    isWhole: () => existsSync(program),
    fill: async (draft) => void (await succeed("go", ["build", ...flags, "-o", join(draft, name), target], options)),
  });
  return program;
}
