import { createRequire } from "node:module";
import { join } from "node:path";
import { z } from "zod";
import { version } from "../../provider/version";
import { pulumiOutput } from "../shared/connection";
import { failure, type Finding, isAtLeast, note, ok, wrong } from "./findings";

/* Checks that versions are compatible. */

interface Manifest {
  version: string;
  engines: { node: string };
  peerDependencies: Record<string, string>;
}

const own = createRequire(__filename)("pulumi-consortium/package.json") as Manifest;
const leastIn = (range = ""): string => /\d+(\.\d+)*/.exec(range)?.[0] ?? "0";
const leastNode = leastIn(own.engines.node);
const leastPulumi = leastIn(own.peerDependencies["@pulumi/pulumi"]);

export async function versions(folder: string, node: string): Promise<Finding[]> {
  const [cli, plugin] = await Promise.all([pulumiCli(), installedPlugin()]);
  return [packageIn(folder), nodeVersion(folder, node), sdkIn(folder), cli, ...plugin];
}

/** A package that the project in this folder has. */
function manifestIn(folder: string, name: string): Partial<Manifest> | undefined {
  try {
    return createRequire(join(folder, "package.json"))(`${name}/package.json`) as Partial<Manifest>;
  } catch {
    return undefined;
  }
}

const installed = (folder: string, name: string): string | undefined => manifestIn(folder, name)?.version;

function packageIn(folder: string): Finding {
  const theirs = installed(folder, "pulumi-consortium");
  if (theirs === undefined)
    return note("package", `this command is ${version}; the project in this folder does not have the package`);
  if (theirs === version) return ok("package", version);
  const next = `Run the project's own command: npx --no-install consortium doctor.`;
  return wrong("package", `this command is ${version}, and the project in this folder has ${theirs}`, next);
}

/** Newer releases of Pulumi's SDK need a newer Node.js than this package. */
function nodeVersion(folder: string, node: string): Finding {
  const sdk = manifestIn(folder, "@pulumi/pulumi");
  const leastOfSdk = leastIn(sdk?.engines?.node);
  if (!isAtLeast(node, leastNode))
    return wrong("Node.js", `${node} is too old`, `Install Node.js ${leastNode} or newer.`);
  if (isAtLeast(node, leastOfSdk)) return ok("Node.js", node);
  const next = `Install Node.js ${leastOfSdk} or newer, or an older @pulumi/pulumi.`;
  return wrong("Node.js", `${node} is too old for @pulumi/pulumi ${sdk?.version}`, next);
}

function sdkIn(folder: string): Finding {
  const about = "Pulumi SDK";
  const found = installed(folder, "@pulumi/pulumi");
  if (found === undefined) return note(about, "the project in this folder does not have the Node.js SDK");
  if (isAtLeast(found, leastPulumi)) return ok(about, found);
  return wrong(about, `${found} is too old`, `Run \`npm install @pulumi/pulumi@latest\`: ${leastPulumi} or newer.`);
}

async function pulumiCli(): Promise<Finding> {
  const about = "Pulumi CLI";
  try {
    const found = (await pulumiOutput(["version"], "pulumi version failed")).trim().replace(/^v/, "");
    if (isAtLeast(found, leastPulumi)) return ok(about, found);
    return wrong(about, `${found} is too old`, `Install Pulumi ${leastPulumi} or newer.`);
  } catch (error) {
    return failure(about, error, "Run `pulumi version` and correct what it says.");
  }
}

const Plugins = z.array(z.looseObject({ name: z.string(), version: z.string().optional() }));

/** The plugin among the installed ones. Programs with `plugins` in Pulumi.yaml do not need it. */
async function installedPlugin(): Promise<Finding[]> {
  const about = "plugin";
  const install = "Run `consortium plugin install`.";
  const said = await pulumiOutput(["plugin", "ls", "--json"], "").catch(() => undefined);
  const listed = Plugins.safeParse(parsed(said));
  if (!listed.success) return []; // no CLI: reported already
  const found = listed.data.filter(({ name }) => name === "consortium").map((one) => one.version ?? "no version");
  if (found.includes(version)) return [ok(about, version)];
  if (found.length > 0)
    return [wrong(about, `${found.join(", ")} is installed, and this package is ${version}`, install)];
  return [note(about, "not installed; only programs in other languages and consortium:plugin need it")];
}

export function parsed(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? "") as unknown;
  } catch {
    return undefined;
  }
}
