import { createRequire } from "node:module";

/*
 * What only some users need, and so install themselves: optional peers in package.json. A network needs none of them.
 */

/** The module of each by which it is found. */
const found = {
  ethers: "ethers",
  fastify: "fastify",
  "@foundry-rs/anvil": "@foundry-rs/anvil/package.json",
} as const;

export type OptionalPackage = keyof typeof found;

const own = createRequire(__filename);

function isInstalled(name: OptionalPackage): boolean {
  try {
    own.resolve(found[name]);
    return true;
  } catch {
    return false;
  }
}

/** What `npm install` is given for a range such as `^5.12.8`: `fastify@5`. */
function wanted(name: OptionalPackage): string {
  const { peerDependencies } = own("pulumi-consortium/package.json") as { peerDependencies: Record<string, string> };
  return `${name}@${peerDependencies[name]!.replace(/^\^(\d+).*/, "$1")}`;
}

/** What fastify itself needs asks for Node.js 22 in its newest versions. */
const isOld = Number.parseInt(process.versions.node) < 22;
const besides = (name: OptionalPackage): string[] => (name === "fastify" && isOld ? ["light-my-request@6.6.0"] : []);

/** The command that installs those that are missing; undefined: all are there. */
export function installCommand(...names: OptionalPackage[]): string | undefined {
  const missing = names.filter((name) => !isInstalled(name));
  return missing.length > 0
    ? `npm install ${missing.flatMap((name) => [wanted(name), ...besides(name)]).join(" ")}`
    : undefined;
}

/** @throws if the first is missing: the command that installs it, and those of the others that are missing, too */
export function needPackages(what: string, first: OptionalPackage, ...others: OptionalPackage[]): void {
  if (isInstalled(first)) return;
  const command = installCommand(first, ...others);
  throw new Error(`${what} needs packages that a network does without. Install them: ${command}`);
}
