import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { networkInterfaces, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { InvalidArgumentError, Option, type Command } from "@commander-js/extra-typings";
import { type CallLimits, type LedgerOptions, type Service, startService, type TetherOptions } from "../index";
import { ServiceError } from "../errors";
import { isLoopback } from "../http/host-check";
import { whyNoLedger } from "../ledger/engine";
import { callLimits, overlay, type Timing } from "../settings/settings";
import { backup } from "../storage/backup";
import { networks } from "../store/entities";
import { likeWhom, number, stopSignals, textOf, wholeNumber } from "./options";

type Targets = NonNullable<LedgerOptions["targets"]>;

const port = wholeNumber(0, 65_535);

function options(command: Command) {
  const keyOption = new Option("--api-key <key>", "API key of the first organization (better set in the environment)");
  return command
    .option("--host <address>", "address to listen on", "127.0.0.1")
    .option("--allow-host <name...>", "additional host names to accept")
    .option("--allow-origin <origin...>", "origins of web pages that may call the service (default: this machine's)")
    .option("--port <port>", "port to listen on; 0 takes any free one", port, 4280)
    .option("--data <folder>", "folder for data and keys (default: in memory, lost when it stops)", folder)
    .option("--backup <folder>", "copy the folder of --data to a new one and exit; works while a service uses it")
    .addOption(
      new Option(
        "--tether <id[=environment]>",
        "tether service, and the environment it pins: its name, consortium/name or id; repeatable",
      )
        .argParser(tether)
        .default([] as TetherOptions[], "none"),
    )
    .option("--organization <name...>", "names of organizations (default: local)")
    .addOption(keyOption.env("CONSORTIUM_SERVE_API_KEY"))
    .option("--node-start <seconds>", "time a node takes to start (default: 1.5)", number)
    .option("--environment-start <seconds>", "time an environment takes to start (default: 0.5)", number)
    .option("--latency <ms>", "delay before every response (default: 0)", number)
    .option("--limit-consortia <count>", "consortia per organization (default: 2)", wholeNumber(0))
    .option("--limit-environments <count>", "environments per consortium (default: 3)", wholeNumber(0))
    .option("--limit-nodes <count>", "nodes per environment (default: 4)", wholeNumber(0))
    .addOption(new Option("--limit-objects <count>").hideHelp()) // these two had a meaning once
    .addOption(new Option("--limit-bytes <bytes>").hideHelp())
    .addOption(
      new Option("--limit <name=value>", "limit of calls to nodes, such as gas=60000000; repeatable")
        .argParser(limit)
        .default({}, "see the documentation"),
    )
    .option("--like <whom>", "behave like the specification, hosted, or a file of consortium probe", "specification")
    .option("--no-ledger", "simulate nodes and tethers instead of running real chains")
    .addOption(
      new Option("--anvil <file>", "path of the anvil program (default: from @foundry-rs/anvil)").env(
        "CONSORTIUM_ANVIL",
      ),
    )
    .addOption(
      new Option("--target <network=url>", "RPC URL of a network that tethers pin to")
        .argParser(target)
        .default({}, "a local chain"),
    )
    .option(
      "--idle-after <seconds>",
      "time without calls after which a ledger makes no empty blocks (default: 3600)",
      number,
    )
    .option("--tether-hour <seconds>", "length of an hour in tether intervals (default: 3600)", number)
    .option("--tls-cert <file>", "PEM certificate to serve https and wss with")
    .option("--tls-key <file>", "PEM private key of the certificate")
    .option("--console-port <port>", "port of the console (default: the service's port + 1, or any free one)", port)
    .option("--stack-export <file...>", "output of pulumi stack export, for the console")
    .option("--no-console", "do not start the console in the browser")
    .option("--show-key", "show the API key even if the output is not a terminal")
    .option("--log", "log requests")
    .option("--quiet", "print errors only")
    .option("--json", "print one line of JSON once it is ready");
}

type Flags = ReturnType<ReturnType<typeof options>["opts"]>;

export function define(command: Command): void {
  options(command).action(serve);
}

/** How long a start may say nothing (ms). */
const patience = 1_000;

async function serve(flags: Flags): Promise<void> {
  if (flags.backup !== undefined) return copyData(flags.data, flags.backup);
  const known = flags.data === undefined ? undefined : readKey(join(flags.data, "api-key"));
  const late = setTimeout(() => flags.quiet || console.error("consortium: the service is starting …"), patience);
  try {
    const service = await start(flags).catch((error: unknown) => {
      clearTimeout(late);
      return whoHasThePort(flags, error as Error);
    });
    const file = keyFile(flags, service);
    if (service.ledger === "missing" && !flags.quiet) {
      console.error(`consortium: no ledger: ${whyNoLedger()}. Everything else works.`);
    }
    if (!flags.quiet && !isLoopback(flags.host)) console.error(exposed(flags));
    const starting = flags.console ? ownConsole(service, consolePort(flags), flags.stackExport) : undefined;
    stopOnSignal(async () => {
      await (await starting)?.close();
      await service.close();
    });
    const page = await starting;
    const generated = !flags.apiKey && service.apiKey !== known;
    if (flags.json) console.log(JSON.stringify(summary(flags, service, file, page)));
    else if (!flags.quiet) console.log(greeting(flags, service, file, page, generated));
  } finally {
    clearTimeout(late);
  }
}

/** @throws the error of a start, with who has the port if it is taken */
async function whoHasThePort({ host, port, tlsCert }: Flags, error: Error): Promise<never> {
  const { message, cause } = error;
  if ((cause as NodeJS.ErrnoException | undefined)?.code !== "EADDRINUSE") throw error;
  const health = `${tlsCert === undefined ? "http" : "https"}://${host}:${port}/health`;
  const asked = fetch(health, { signal: AbortSignal.timeout(2_000) }).then((response) => response.text());
  const isService = (await asked.catch(() => "")) === JSON.stringify({ status: "ok" });
  const whose = isService ? "another Consortium service, such as that of npm start. Use that one" : "another program";
  const own = `${isService ? ", or choose" : ". Choose"} another port: --port ${port + 1}, or --port 0 for any free one.`;
  throw new ServiceError(message.replace(/another program\.$/, whose + own), { code: "port-taken", cause: error });
}

async function copyData(data: string | undefined, copy: string): Promise<void> {
  if (data === undefined) throw new ServiceError("--backup needs --data: the folder to copy.");
  await backup(data, copy);
  console.log(`Copied ${data} to ${copy}.`);
}

async function start(flags: Flags): Promise<Service> {
  const [first = "local", ...others] = flags.organization ?? [];
  const like = likeWhom(flags.like);
  return startService({
    host: flags.host,
    port: flags.port,
    data: flags.data,
    log: flags.log,
    tethers: flags.tether,
    allowHosts: flags.allowHost,
    allowOrigins: flags.allowOrigin,
    recordBodies: false,
    organizations: [{ name: first, apiKey: flags.apiKey || undefined }, ...others.map((name) => ({ name }))],
    limits: {
      consortia: flags.limitConsortia,
      environments: flags.limitEnvironments,
      nodes: flags.limitNodes,
    },
    callLimits: flags.limit,
    timing: overlay(like.timing ?? {}, {
      nodeStart: milliseconds(flags.nodeStart),
      environmentStart: milliseconds(flags.environmentStart),
      latency: flags.latency,
      tetherHour: milliseconds(flags.tetherHour),
    }) as Partial<Timing>,
    answers: like.answers,
    ledger: flags.ledger && { anvil: flags.anvil, targets: flags.target, idleAfter: milliseconds(flags.idleAfter) },
    tls: tls(flags),
  });
}

/** The file with the first organization's key. Without a data folder, it is removed when the service stops. */
function keyFile(flags: Flags, service: Service): string {
  if (flags.data !== undefined) return resolve(flags.data, "api-key");
  const dir = mkdtempSync(join(tmpdir(), "consortium-"));
  const file = join(dir, "api-key");
  writeFileSync(file, `${service.apiKey}\n`, { mode: 0o600 });
  process.once("exit", () => rmSync(dir, { recursive: true, force: true }));
  return file;
}

function summary(flags: Flags, service: Service, apiKeyFile: string, page: Console | undefined) {
  const { baseUrl, url, port, ledger } = service;
  const organizations = service.organizations.map(({ name, id }) => ({ name, id }));
  const data = flags.data === undefined ? null : resolve(flags.data);
  return {
    baseUrl,
    url,
    port,
    ledger,
    pid: process.pid,
    data,
    dataDir: data, // its former name
    apiKeyFile,
    organizations,
    console: page?.url ?? null,
  };
}

function greeting(flags: Flags, service: Service, file: string, page: Console | undefined, generated: boolean): string {
  const show = flags.showKey || (generated && process.stdout.isTTY);
  const others = flags.data !== undefined && service.organizations.length > 1;
  return [
    `Consortium service at ${service.baseUrl}`,
    ...addresses(flags, service).map((address) => `From other machines: ${address}`),
    flags.data === undefined
      ? "Data is in memory and lost when the service stops; --data <folder> keeps it."
      : `Data is kept in ${resolve(flags.data)}.`,
    show ? `API key: ${service.apiKey} (also in ${file})` : `The API key is in ${file}.`,
    ...(others ? [`The keys of all organizations are in ${resolve(flags.data!, "api-keys.json")}.`] : []),
    "",
    "To use it:",
    `  export CONSORTIUM_BASE_URL=${service.baseUrl}`,
    `  export CONSORTIUM_API_KEY="$(cat '${file}')"`,
    "",
    ...(page ? ["To see it, open this link (it works once, for ten minutes):", `  ${page.newLink()}`, ""] : []),
    "Ctrl+C stops it.",
  ].join("\n");
}

/** The port after the service's: the same at every start. */
const consolePort = ({ port, consolePort: wanted }: Flags) => wanted ?? (port === 0 ? 0 : port + 1);

function stopOnSignal(stop: () => Promise<void>): void {
  const once = () => {
    for (const signal of stopSignals) process.off(signal, once);
    void stop();
  };
  for (const signal of stopSignals) process.on(signal, once);
}

function readKey(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8").trim();
  } catch {
    return undefined;
  }
}

function target(text: string, before: Targets): Targets {
  const [, network, url = ""] = /^([^=]+)=(https?:\/\/.+)$/.exec(text) ?? [];
  if (!networks.some((known) => known === network) || !URL.canParse(url))
    throw new InvalidArgumentError("It must be mainnet=URL, rinkeby=URL or local=URL.");
  return { ...before, [network!]: url };
}

function folder(text: string): string {
  if (text.trim() === "")
    throw new InvalidArgumentError("It must name a folder. Leave the option out to keep nothing.");
  return text;
}

function limit(text: string, before: Partial<CallLimits>): Partial<CallLimits> {
  const names = Object.keys(callLimits.shape);
  const [, name = "", value] = /^(\w+)=(\d+)$/.exec(text) ?? [];
  if (!names.includes(name)) throw new InvalidArgumentError(`It must be name=number, with one of ${names.join(", ")}.`);
  return { ...before, [name]: Number(value) };
}

function tls({ tlsCert, tlsKey }: Flags) {
  if (tlsCert === undefined && tlsKey === undefined) return undefined;
  if (tlsCert === undefined || tlsKey === undefined)
    throw new ServiceError("--tls-cert and --tls-key must be given together.");
  return { cert: textOf(tlsCert), key: textOf(tlsKey) };
}

function tether(text: string, before: TetherOptions[]): TetherOptions[] {
  const [id = "", ...environment] = text.split("=");
  return [...before, { id, ...(environment.length > 0 ? { environment: environment.join("=") } : {}) }];
}

const milliseconds = (seconds: number | undefined) => (seconds === undefined ? undefined : seconds * 1_000);

interface Listening {
  host: string;
  tlsCert?: string;
}

/** The warning if other machines can reach the service. */
function exposed({ host, tlsCert }: Listening): string {
  const where = isEverywhere(host) ? "on all addresses of this machine" : `on ${host}`;
  const reach = `consortium: warning: the service listens ${where}, so other machines can reach it.`;
  if (tlsCert !== undefined) return reach;
  return `${reach} API keys, credentials and all data cross the network unencrypted: use TLS (--tls-cert and --tls-key), or --host 127.0.0.1 for this machine alone.`;
}

/** The addresses for other machines, if it listens on all interfaces. */
export function addresses({ host }: Listening, { baseUrl, port }: Service): string[] {
  if (!isEverywhere(host)) return [];
  const all = Object.values(networkInterfaces()).flatMap((some) => some ?? []);
  const found = all.filter(
    ({ internal, family, scopeid }) => !internal && (family === "IPv4" || (host === "::" && !scopeid)),
  );
  return found.map(({ address, family }) =>
    baseUrl.replace(/\/\/.*?\/api/, `//${family === "IPv4" ? address : `[${address}]`}:${port}/api`),
  );
}

const isEverywhere = (host: string) => host === "0.0.0.0" || host === "::";

/** The exports of the package consortium-console, if it is installed. */
interface Console {
  readonly url: string;
  newLink(): string;
  close(): Promise<void>;
}

interface ConsolePackage {
  startConsole(options: {
    settings: { baseUrl: string; apiKey: string };
    port: number;
    stackExports?: readonly string[];
  }): Promise<Console>;
}

const consolePackage: string = "consortium-console"; // not a literal in the import, because that package depends on this one

/** Starts the console of the service. If that fails, prints the reason and returns undefined. */
async function ownConsole(
  { baseUrl, apiKey }: Service,
  port: number,
  stackExports?: readonly string[],
): Promise<Console | undefined> {
  try {
    const installed = (await import(consolePackage)) as ConsolePackage;
    return await installed.startConsole({ settings: { baseUrl, apiKey }, port, stackExports });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const isMissing = code === "ERR_MODULE_NOT_FOUND" && message.includes(`'${consolePackage}'`);
    const why = isMissing ? `its package ${consolePackage} is not installed; see the README of this package` : message;
    console.error(`consortium: no console: ${why}`);
    return undefined;
  }
}
