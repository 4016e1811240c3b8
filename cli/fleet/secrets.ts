import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { printableLines } from "../../provider/api/printable";
import { type Fleet, type FleetStack } from "./file";
import { organizationsOf } from "./only";
import { type SecretSource } from "./schema";

export interface Secrets {
  /** API keys by organization. */
  apiKeys: ReadonlyMap<string, string>;
  passphrase?: string;
  /** Takes every one of them out of a text, and what a terminal would obey. */
  mask: (text: string) => string;
  /** Environment variables that hold them: no Pulumi process inherits these. */
  variables: readonly string[];
}

const usable = /^[\x21-\x7e]+$/;
const longestMs = 60_000;

type Env = Record<string, string | undefined>;

async function read(what: string, source: SecretSource, folder: string, env: Env): Promise<string> {
  if (source.env !== undefined) return (env[source.env] ?? "").trim();
  const [program = "", ...args] = source.command ?? [];
  try {
    const { stdout } = await promisify(execFile)(program, args, { cwd: folder, env, timeout: longestMs });
    return stdout.trim();
  } catch (cause) {
    // What it printed may be the secret, and its arguments may be, too: neither is shown.
    const { code, signal } = cause as { code?: string | number; signal?: string };
    const why = code === "ENOENT" ? "there is no such program" : `it ended with ${signal ?? code}`;
    const message = `${what} cannot be read by the command "${program}": ${why}. Run it by hand to see what it says.`;
    throw new Error(message, { cause });
  }
}

/** Reads the keys that stacks need, once, before anything is started. */
export async function readSecrets(fleet: Fleet, stacks: readonly FleetStack[], env: Env): Promise<Secrets> {
  const keys = organizationsOf(stacks).map(async ({ name, apiKey }) => {
    const key = await read(`The API key of the organization ${name}`, apiKey, fleet.folder, env);
    if (usable.test(key)) return [name, key] as const;
    const from = apiKey.env === undefined ? `the command "${apiKey.command![0]}"` : `the variable ${apiKey.env}`;
    throw new Error(
      `The API key of the organization ${name} from ${from} is ${key === "" ? "empty" : "no key: it has spaces or line breaks"}.`,
    );
  });
  const passphrase = fleet.passphrase && (await read("The passphrase", fleet.passphrase, fleet.folder, env));
  const apiKeys = new Map(await Promise.all(keys));
  const sources = [...fleet.organizations.map(({ apiKey }) => apiKey), ...(fleet.passphrase ? [fleet.passphrase] : [])];
  const variables = [...sources.flatMap(({ env: name }) => (name === undefined ? [] : [name])), "CONSORTIUM_API_KEY"];
  const inherited = [...variables, "PULUMI_CONFIG_PASSPHRASE"].map((name) => env[name] ?? "");
  const hidden = [...apiKeys.values(), passphrase ?? "", ...inherited].filter(
    (one) => one.length >= 6, // a shorter one would be found by chance, inside of words
  );
  return {
    ...{ apiKeys, passphrase },
    mask: (text) => printableLines(hidden.reduce((masked, one) => masked.replaceAll(one, "[secret]"), text)),
    variables,
  };
}
