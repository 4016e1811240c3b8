import { execFile } from "node:child_process";
import { resolve } from "node:path";
import { promisify } from "node:util";
import {
  environmentName,
  keySourceVariable,
  printableLines,
  Secrets as Hidden,
} from "pulumi-consortium/internal/fleet";
import { absoluteBackend } from "./file";
import { type Fleet, type FleetStack, type SecretSource } from "./schema";

export interface Secrets {
  /** API keys by organization. */
  apiKeys: ReadonlyMap<string, string>;
  /** Replaces every secret in a text, and escapes control characters. */
  mask: (text: string) => string;
  /** The environment of every Pulumi process of the fleet, without any organization's key. */
  environment: Env;
}

type Env = NodeJS.ProcessEnv;

const usable = /^[\x21-\x7e]+$/;
const longestMs = 60_000;

/** @throws if it is missing */
async function read(what: string, source: SecretSource, { folder }: Fleet, env: Env): Promise<string> {
  const [program = "", ...args] = source.command ?? [];
  const from = source.env === undefined ? `the command "${program}"` : `the variable ${source.env}`;
  let text = env[source.env ?? ""] ?? "";
  try {
    const options = { cwd: folder, env, timeout: longestMs };
    if (source.env === undefined) text = (await promisify(execFile)(program, args, options)).stdout;
  } catch (cause) {
    // Its output and arguments may be secret: show neither.
    const { code, signal } = cause as { code?: string | number; signal?: string };
    const why = code === "ENOENT" ? "there is no such program" : `it ended with ${signal ?? code}`;
    throw new Error(`${what} cannot be read by ${from}: ${why}. Run it by hand to see what it says.`, { cause });
  }
  if (text.trim() === "") throw new Error(`${what} from ${from} is empty or not set. Nothing was started.`);
  return text.trim();
}

const keyVariable = environmentName("apiKey");

/** Reads the keys of these stacks before starting anything. */
export async function readSecrets(fleet: Fleet, stacks: readonly FleetStack[], env: Env): Promise<Secrets> {
  const organizations = new Set(stacks.map(({ organization }) => organization));
  const keys = [...organizations].map(async ({ name, apiKey }) => {
    const what = `The API key of the organization ${name}`;
    const key = await read(what, apiKey, fleet, env);
    if (!usable.test(key)) throw new Error(`${what} has spaces or line breaks. Nothing was started.`);
    return [name, key] as const;
  });
  const passphrase = fleet.passphrase && (await read("The passphrase", fleet.passphrase, fleet, env));
  const apiKeys = new Map(await Promise.all(keys));
  const sources = [...fleet.organizations.map(({ apiKey }) => apiKey), ...(fleet.passphrase ? [fleet.passphrase] : [])];
  const variables = [...sources.flatMap(({ env: name }) => name ?? []), keyVariable];
  const inherited = [...variables, "PULUMI_CONFIG_PASSPHRASE"].map((name) => env[name] ?? "");
  const all = [...apiKeys.values(), passphrase ?? "", ...inherited];
  const hidden = new Hidden(all.filter(({ length }) => length >= 6)); // shorter texts occur in words by chance
  const { PULUMI_CONFIG_PASSPHRASE_FILE: file, PULUMI_BACKEND_URL: url } = env;
  const backend = fleet.backend ?? (url && absoluteBackend(url, process.cwd()));
  return {
    apiKeys,
    mask: (text) => printableLines(hidden.mask(text)),
    environment: {
      ...env,
      // Empty, because the Automation API adds to the environment of this process.
      ...emptied(variables),
      // Pulumi runs in the work folder.
      ...(file && { PULUMI_CONFIG_PASSPHRASE_FILE: resolve(file) }),
      ...(backend && { PULUMI_BACKEND_URL: backend }),
      ...(passphrase && { PULUMI_CONFIG_PASSPHRASE: passphrase }),
      PULUMI_SKIP_UPDATE_CHECK: "true",
    },
  };
}

const emptied = (variables: readonly string[]): Env => Object.fromEntries(variables.map((name) => [name, ""]));

/** The connection settings of a stack in the fleet file, as the provider's environment variables. */
export function connectionVariables({ organization, adopt }: FleetStack): Record<string, string> {
  const { region, baseUrl, allowHttp, organization: id } = organization;
  const given = Object.entries({ region, baseUrl, organization: id, allowHttp, adopt: adopt || undefined });
  return Object.fromEntries(
    given.flatMap(([name, value]) => (value === undefined ? [] : [[environmentName(name), String(value)]])),
  );
}

/** The environment of one stack, with the key of its organization. The fleet file overrides what is inherited. */
export function stackEnvironment(stack: FleetStack, { environment, apiKeys }: Secrets): Env {
  const { name, region, baseUrl } = stack.organization;
  // An inherited address would override the region, and an inherited organization belongs to one key only.
  const dropped = ["organization", ...(region === undefined && baseUrl === undefined ? [] : ["region", "baseUrl"])];
  return {
    ...environment,
    ...emptied(dropped.map(environmentName)),
    ...connectionVariables(stack),
    [keyVariable]: apiKeys.get(name),
    [keySourceVariable]: `apiKey of the organization ${name}`,
  };
}
