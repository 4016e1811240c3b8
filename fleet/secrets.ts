import { execFile } from "node:child_process";
import { resolve } from "node:path";
import { promisify } from "node:util";
import {
  environmentName,
  type ErrorCode,
  keySourceVariable,
  printableLines,
  Secrets as Hidden,
  UserError,
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
async function read(what: string, code: ErrorCode, source: SecretSource, { folder }: Fleet, env: Env): Promise<string> {
  const [program = "", ...args] = source.command ?? [];
  const refuse = (next: string, why: string, cause?: unknown) =>
    new UserError(code, `${next}. ${what} ${why}. Nothing was started.`, { cause });
  let text = env[source.env ?? ""] ?? "";
  try {
    const options = { cwd: folder, env, timeout: longestMs };
    if (source.env === undefined) text = (await promisify(execFile)(program, args, options)).stdout;
  } catch (cause) {
    // Its output and arguments may be secret: show neither.
    const { code: exit, signal } = cause as { code?: string | number; signal?: string };
    const why = exit === "ENOENT" ? "there is no such program" : `it ended with ${signal ?? exit}`;
    throw refuse(`Run the command "${program}" by hand to see what it says`, `cannot be read by it: ${why}`, cause);
  }
  const next = source.env === undefined ? `Correct the command "${program}"` : `Set the variable ${source.env}`;
  if (text.trim() === "") throw refuse(next, "is empty or not set");
  return text.trim();
}

const keyVariable = environmentName("apiKey");

/** Reads the keys of these stacks before starting anything. */
export async function readSecrets(fleet: Fleet, stacks: readonly FleetStack[], env: Env): Promise<Secrets> {
  const organizations = new Set(stacks.map(({ organization }) => organization));
  const keys = [...organizations].map(async ({ name, apiKey }) => {
    const what = `The API key of the organization ${name}`;
    const key = await read(what, "no-key", apiKey, fleet, env);
    if (!usable.test(key))
      throw new UserError("no-key", `Correct it. ${what} has spaces or line breaks. Nothing was started.`);
    return [name, key] as const;
  });
  const passphrase =
    fleet.passphrase && (await read("The passphrase", "invalid-setting", fleet.passphrase, fleet, env));
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
