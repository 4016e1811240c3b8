import { createRequire } from "node:module";

/* Packages that only some users need and install themselves: optional peers in package.json. A network needs none of them. */

/** The module that shows whether a package is installed. */
const modules = {
  ethers: "ethers",
  fastify: "fastify",
  "@foundry-rs/anvil": "@foundry-rs/anvil/package.json",
} as const;

type OptionalPackage = keyof typeof modules;

const own = createRequire(__filename);

function isInstalled(name: OptionalPackage): boolean {
  try {
    own.resolve(modules[name]);
    return true;
  } catch {
    return false;
  }
}

/** The argument of `npm install`: `fastify@5` for the range `^5.12.8`. */
function wanted(name: OptionalPackage): string {
  const { peerDependencies } = own("pulumi-consortium/package.json") as { peerDependencies: Record<string, string> };
  return `${name}@${peerDependencies[name]!.replace(/^\^(\d+).*/, "$1")}`;
}

/** On Node.js 20, fastify needs an older version of a dependency. */
const isOld = Number.parseInt(process.versions.node) < 22;
const besides = (name: OptionalPackage): string[] => (name === "fastify" && isOld ? ["light-my-request@6.6.0"] : []);

/** The command that installs the missing packages; undefined if none is missing. */
export function installCommand(...names: OptionalPackage[]): string | undefined {
  const missing = names.filter((name) => !isInstalled(name));
  return missing.length > 0
    ? `npm install ${missing.flatMap((name) => [wanted(name), ...besides(name)]).join(" ")}`
    : undefined;
}

/** @throws if the first package is missing. The error has the command that installs all missing ones. */
export function needPackages(what: string, first: OptionalPackage, ...others: OptionalPackage[]): void {
  if (isInstalled(first)) return;
  const command = installCommand(first, ...others);
  throw new Error(`${what} needs packages that are not installed. Install them: ${command}`);
}
