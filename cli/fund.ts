import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { InvalidArgumentError, Option, type Command } from "@commander-js/extra-typings";
import { environmentName } from "../provider/api/environment";
import { ConsortiumClient, isApiError, path, resolveSettings } from "../provider/api";
import { tetherNetworks } from "../provider/constants";
import { UserError } from "../provider/errors";
import { inEther, weiOf } from "../provider/plain";
import { type FlagsOf, jsonText, print, textOf } from "./shared/terminal";

const [urlVariable, keyVariable] = [environmentName("baseUrl"), environmentName("apiKey")];

/** Asks the embedded service's faucet: `consortium fund <tetherId> --network local --ether 1`. */
function options(command: Command) {
  const network = new Option("--network <network>", "target network").choices(tetherNetworks);
  return command
    .argument("<tetherId>", "tether service whose account to fund")
    .addOption(network.default("local"))
    .addOption(new Option("--ether <amount>", "amount in ether").argParser(wei).default(weiOf("1")!, "1"))
    .addOption(new Option("--url <address>", "base address of the service").env(urlVariable))
    .option("--json", "print one JSON document")
    .option("--api-key-file <file>", `file with the API key (default: $${keyVariable})`);
}

type Flags = FlagsOf<typeof options>;

export function define(command: Command): void {
  options(command)
    .addHelpText("after", "\nDefault: the address and key of the service that `npm start` runs in this folder.")
    .action((tetherId, flags) => fund(tetherId, flags));
}

async function fund(tetherId: string, { network, ether, json, ...flags }: Flags): Promise<void> {
  const given = service(flags);
  const client = new ConsortiumClient(resolveSettings({ env: {}, given: { ...given, allowHttp: true } }));
  const body = { network, wei: String(ether) };
  const where = path`/embedded/tether/${tetherId}/fund`;
  try {
    const { address, balance = "0" } = (await client.http.request("POST", where, { body, optional: true }))
      .body as Partial<Record<string, string>>;
    if (json) print(jsonText({ account: address, network, balanceWei: balance }));
    else print(`${address} on ${network} now owns ${inEther(balance, 18)}.`);
  } catch (error) {
    // A faucet's 404 names the tether; a missing route's names the path.
    const isAnswer = (text: string): boolean => text.includes(tetherId) && !text.includes(where);
    if (!isApiError(error, "missing", "unsupported") || isAnswer(error.errorMessage)) throw error;
    throw new UserError(
      "unsupported",
      `The service at ${given.baseUrl} has no faucet: only \`consortium serve\` has one.`,
      {
        cause: error,
      },
    );
  } finally {
    await client.close();
  }
}

/** The address and key of the service: as set, or of the one that runs in this folder. */
function service({ url, apiKeyFile }: Pick<Flags, "url" | "apiKeyFile">): { baseUrl: string; apiKey: string } {
  const record = join(".consortium", "service.json");
  const local = existsSync(record) ? parsed(readFileSync(record, "utf8")) : {};
  const base = url ?? local.baseUrl;
  if (base === undefined)
    throw new UserError("missing-argument", `Set --url or ${urlVariable}: the service's address is missing.`);
  const file = apiKeyFile ?? (base === local.baseUrl ? local.apiKeyFile : undefined);
  const apiKey = apiKeyFile === undefined ? process.env[keyVariable] : undefined;
  if (!apiKey && file === undefined)
    throw new UserError("no-key", `Set ${keyVariable} or --api-key-file: an API key is required.`);
  return { baseUrl: base, apiKey: apiKey ? apiKey : textOf(file!).trim() };
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
