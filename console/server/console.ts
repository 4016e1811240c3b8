import { resolveSettings, type Settings } from "pulumi-consortium/internal/console";
import { Access } from "./access";
import { Embedded, observingClient } from "./embedded";
import { Live } from "./live";
import { Observer, type ObserverOptions } from "./observer";
import { Stacks } from "./stacks";

export interface ConsoleOptions {
  /** The service's address and key. Plain HTTP is only for a service on this machine. */
  settings: Settings | { baseUrl: string; apiKey: string };
  /** Port on the loopback address; if it is taken, or 0, any free one. */
  port?: number;
  /** Whether it may change a service that is not embedded. */
  allowChanges?: boolean;
  /** How often to poll the service while a page is open, in ms. */
  periodMs?: number;
  tethers?: readonly string[];
  targets?: Readonly<Record<string, string | undefined>>;
  /** Files written by `pulumi stack export`, to show the objects that the stacks manage. */
  stackExports?: readonly string[];
  /** States that are already exported, by the name of the stack. */
  stacks?: Readonly<Record<string, unknown>>;
}

export interface Console {
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  /** A link that works once, within ten minutes. */
  newLink(): string;
  close(): Promise<void>;
}

/** Milliseconds between polls while a page is open. The embedded service is on this machine. */
const periods = { embedded: 2_000, other: 10_000 };
const host = "127.0.0.1";

const isResolved = (settings: ConsoleOptions["settings"]): settings is Settings => typeof settings.apiKey !== "string";

/** Starts the console of a service, on this machine only. */
export async function startConsole(given: ConsoleOptions): Promise<Console> {
  const { buildApp } = await import("./app.js");
  const { port = 0, allowChanges = false, tethers = [], targets = {}, stackExports = [] } = given;
  const settings = isResolved(given.settings)
    ? given.settings
    : resolveSettings({ env: {}, given: { ...given.settings, allowHttp: true } });
  const stacks = new Stacks(stackExports, given.stacks);
  const client = observingClient(settings);
  const embedded = await Embedded.find(client);
  const periodMs = given.periodMs ?? (embedded ? periods.embedded : periods.other);
  const mayChange = allowChanges || embedded !== undefined;
  const options: ObserverOptions = { client, embedded, mayChange, tethers, targets, stacks, periodMs };
  const observer = new Observer(options);
  const live = new Live(observer.look, periodMs);
  const access = new Access();
  const app = buildApp({ access, live, observer, options, apiKey: settings.apiKey.reveal() });
  const url = await app.listen({ host, port }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EADDRINUSE" || port === 0) throw error;
    return app.listen({ host, port: 0 });
  });
  access.at(Number(new URL(url).port));
  let closing: Promise<void> | undefined;
  const close = async () => {
    await app.close();
    await live.close();
    await client.close();
  };
  return {
    url,
    newLink: () => `${url}/sign-in/${access.newLink()}`,
    close: () => (closing ??= close()),
  };
}
