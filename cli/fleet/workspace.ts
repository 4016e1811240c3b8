import { existsSync, mkdirSync, readlinkSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { absoluteBackend, type Fleet, type FleetStack } from "./file";
import { markName } from "./processes";
import { type Secrets } from "./secrets";

type Env = Record<string, string | undefined>;

/** Where a fleet keeps what it needs between runs: settings of the stacks, logs, and the journal of its runs. */
export function workFolderOf({ folder, project }: Fleet): string {
  return join(folder, ".consortium", "fleet", project);
}

/** Makes the work folder: a Pulumi project from which this package, and Pulumi's, are found by name. */
export function prepareWorkspace(fleet: Fleet): string {
  const folder = workFolderOf(fleet);
  mkdirSync(join(folder, "logs"), { recursive: true });
  mkdirSync(join(folder, "node_modules", "@pulumi"), { recursive: true });
  const project = `name: ${JSON.stringify(fleet.project)}\nruntime: nodejs\n`;
  if (!existsSync(join(folder, "Pulumi.yaml"))) writeFileSync(join(folder, "Pulumi.yaml"), project);
  const ours = createRequire(__filename);
  for (const name of ["pulumi-consortium", "@pulumi/pulumi"])
    link(dirname(realpathSync(ours.resolve(`${name}/package.json`))), join(folder, "node_modules", name));
  const backend = fleet.backend ?? "";
  if (backend.startsWith("file:///")) mkdirSync(fileURLToPath(backend), { recursive: true });
  return folder;
}

function link(target: string, path: string): void {
  try {
    if (readlinkSync(path) === target) return;
  } catch {
    // There is none.
  }
  rmSync(path, { recursive: true, force: true });
  symlinkSync(target, path, "junction");
}

/** Settings of the connection that an organization may have itself. */
const connection = ["CONSORTIUM_API_KEY", "CONSORTIUM_REGION", "CONSORTIUM_BASE_URL"];

/** Whose the key has to be: what this run inherited cannot hold for the keys of several organizations. */
const ofOneKey = "CONSORTIUM_ORGANIZATION";

/** Pulumi runs in the work folder: what is relative to the present one has to be written in full. */
function fromHere({ PULUMI_CONFIG_PASSPHRASE_FILE: file, PULUMI_BACKEND_URL: backend }: Env): Env {
  return {
    ...(file ? { PULUMI_CONFIG_PASSPHRASE_FILE: resolve(file) } : {}),
    ...(backend ? { PULUMI_BACKEND_URL: absoluteBackend(backend, process.cwd()) } : {}),
  };
}

/** The environment of everything that runs for the whole fleet: without the key of any organization. */
export function sharedEnvironment(fleet: Fleet, secrets: Secrets, own: Env, run: string): Env {
  const hidden = new Set(secrets.variables);
  const passphrase = secrets.passphrase === undefined ? {} : { PULUMI_CONFIG_PASSPHRASE: secrets.passphrase };
  const inherited = Object.entries(own).filter(([name]) => !hidden.has(name));
  return {
    ...Object.fromEntries(inherited),
    ...fromHere(own),
    ...passphrase,
    ...(fleet.backend === undefined ? {} : { PULUMI_BACKEND_URL: fleet.backend }),
    PULUMI_SKIP_UPDATE_CHECK: "true",
    PULUMI_AUTOMATION_API: "true",
    [markName]: run,
  };
}

/** The same with the connection of one organization. What it says itself comes before what this run inherited. */
export function stackEnvironment(shared: Env, { organization }: FleetStack, secrets: Secrets, adopt: boolean): Env {
  const { name, region, baseUrl, allowHttp, organization: id } = organization;
  const own = region !== undefined || baseUrl !== undefined;
  const dropped = own ? [...connection, ofOneKey] : [ofOneKey];
  const inherited = Object.entries(shared).filter(([key]) => !dropped.includes(key));
  return {
    ...Object.fromEntries(inherited),
    CONSORTIUM_API_KEY: secrets.apiKeys.get(name),
    ...(region === undefined ? {} : { CONSORTIUM_REGION: region }),
    ...(baseUrl === undefined ? {} : { CONSORTIUM_BASE_URL: baseUrl }),
    ...(id === undefined ? {} : { [ofOneKey]: id }),
    ...(allowHttp === undefined ? {} : { CONSORTIUM_ALLOW_HTTP: String(allowHttp) }),
    ...(adopt ? { CONSORTIUM_ADOPT: "true" } : {}),
  };
}
