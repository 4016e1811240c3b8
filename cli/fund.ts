import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { InvalidArgumentError, Option, type Command } from "commander";
import { environmentName } from "../provider/api/environment";
import { tetherNetworks } from "../provider/constants";
import { inEther, weiOf } from "../provider/plain";
import { textOf } from "./shared/terminal";

interface Flags {
  network: string;
  ether: bigint;
  url?: string;
  apiKeyFile?: string;
}

const [urlVariable, keyVariable] = [environmentName("baseUrl"), environmentName("apiKey")];

/** Asks the embedded service's faucet: `consortium fund <tetherId> --network local --ether 1`. */
export function define(command: Command): void {
  const network = new Option("--network <network>", "target network").choices(tetherNetworks);
  command
    .argument("<tetherId>", "tether service whose account to fund")
    .addOption(network.default("local"))
    .addOption(new Option("--ether <amount>", "amount in ether").argParser(wei).default(weiOf("1"), "1"))
    .addOption(new Option("--url <address>", "base address of the service").env(urlVariable))
    .option("--api-key-file <file>", `file with the API key (default: $${keyVariable})`)
    .addHelpText("after", "\nDefault: the address and key of the service that `npm start` runs in this folder.")
    .action((tetherId: string, flags: Flags) => fund(tetherId, flags));
}

async function fund(tetherId: string, flags: Flags): Promise<void> {
  const { url, apiKey } = service(flags);
  const response = await fetch(`${url.replace(/\/+$/, "")}/embedded/tether/${encodeURIComponent(tetherId)}/fund`, {
    method: "POST",
    headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
    body: JSON.stringify({ network: flags.network, wei: String(flags.ether) }),
  }).catch((error: Error & { cause?: Error }) => {
    throw new Error(`The service at ${url} does not answer: ${error.cause?.message ?? error.message}.`);
  });
  const text = await response.text();
  const { errorMessage, address, balance = "0" } = parsed(text);
  if (!response.ok) {
    const hasNoFaucet = response.status === 404 && !errorMessage?.includes(tetherId);
    if (hasNoFaucet) throw new Error(`The service at ${url} has no faucet: only \`consortium serve\` has one.`);
    throw new Error(`${response.status}: ${errorMessage ?? (text || "no answer")}`);
  }
  console.log(`${address} on ${flags.network} now owns ${inEther(balance, 18)}.`);
}

/** The address and key of the service: as set, or of the one that runs in this folder. */
function service({ url, apiKeyFile }: Flags): { url: string; apiKey: string } {
  const record = join(".consortium", "service.json");
  const local = existsSync(record) ? parsed(readFileSync(record, "utf8")) : {};
  const base = url ?? local.baseUrl;
  if (base === undefined) throw new Error(`The service is not known: set --url or ${urlVariable}.`);
  const file = apiKeyFile ?? (base === local.baseUrl ? local.apiKeyFile : undefined);
  const apiKey = apiKeyFile === undefined ? process.env[keyVariable] : undefined;
  if (!apiKey && file === undefined) throw new Error(`An API key is required: set ${keyVariable} or --api-key-file.`);
  return { url: base, apiKey: apiKey ? apiKey : textOf(file!).trim() };
}

function parsed(text: string): Partial<Record<string, string>> {
  try {
    return JSON.parse(text) as Record<string, string>;
  } catch {
    return {};
  }
}

function wei(text: string): bigint {
  const amount = weiOf(text);
  if (amount === undefined) throw new InvalidArgumentError("It must be an amount of ether, such as 0.5.");
  return amount;
}
