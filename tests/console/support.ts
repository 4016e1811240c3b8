import { WebSocket } from "ws";
import { startConsole, type Console, type ConsoleOptions } from "../../console/server/console";
import type { Looked, Section, Shown } from "../../console/protocol";
import { resolveSettings } from "../../provider/api";
import type { Service } from "../../service/index";

const open: { close(): Promise<void> | void }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

/** The console of a service, closed after the test. */
export async function consoleOf(
  { baseUrl, apiKey }: Pick<Service, "baseUrl" | "apiKey">,
  options: Partial<ConsoleOptions> = {},
): Promise<Console> {
  const settings = resolveSettings({ env: {}, given: { baseUrl, apiKey } });
  const console = await startConsole({ settings, ...options });
  open.push(console);
  return console;
}

export interface Session {
  /** Address of the page. */
  place: string;
  cookie: string;
}

/** Opens a one-time link, as a browser would. */
export async function signIn(console: Console, link = console.newLink()): Promise<Session> {
  const response = await fetch(link);
  const [, path = ""] = /url=([^"]+)"/.exec(await response.text()) ?? [];
  expect(response.status).toBe(200);
  return { place: console.url + path, cookie: response.headers.get("set-cookie")!.split(";")[0]! };
}

/** An open page, with the last contents of each section. */
export class TestPage {
  readonly shown = new Map<Section, Shown>();
  readonly looked: Looked[] = [];
  readonly #socket: WebSocket;

  constructor({ place, cookie }: Session, headers: Record<string, string> = {}) {
    const { origin, host, pathname } = new URL(place);
    this.#socket = new WebSocket(`ws://${host}${pathname}live`, { headers: { origin, cookie, ...headers } });
    this.#socket.on("message", (data: Buffer) => {
      const message = JSON.parse(String(data)) as Shown | Looked;
      if ("section" in message) this.shown.set(message.section, message);
      else this.looked.push(message);
    });
    open.push({ close: () => this.#socket.terminate() });
  }

  /** How the server answers the request for a connection: 101 if it is open. */
  answered(): Promise<number> {
    return new Promise((resolve) => {
      this.#socket.once("open", () => resolve(101));
      this.#socket.once("unexpected-response", (_request, response) => resolve(response.statusCode!));
      this.#socket.once("error", () => undefined);
    });
  }

  watch(...sections: Section[]): void {
    this.send(JSON.stringify({ watch: sections }));
  }

  send(text: string): void {
    this.#socket.send(text);
  }

  /** Waits until a section is shown. */
  has(section: Section): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (!this.shown.has(section)) return;
        this.#socket.off("message", look);
        resolve();
      };
      this.#socket.on("message", look);
      look();
    });
  }

  closed(): Promise<number> {
    return new Promise((resolve) => this.#socket.once("close", resolve));
  }
}
