import { useEffect, useState } from "preact/hooks";
import type { Section, Shown, Watch } from "../protocol";

/** Whether the page hears from its server. */
export type Connection = "connecting" | "live" | "lost" | "signed out";

const longestWaitMs = 10_000;
/** How the server closes the connection of a session that has ended. */
const signedOut = 4401;

/** The one connection of the page: it says what is looked at, and hears what that shows. */
class Live {
  readonly shown = new Map<Section, Shown>();
  connection: Connection = "connecting";
  readonly #watched = new Map<Section, number>();
  readonly #listeners = new Set<() => void>();
  #socket: WebSocket | undefined;
  #failures = 0;

  start(): void {
    document.addEventListener("visibilitychange", () => this.#tell());
    this.#connect();
  }

  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  watch(section: Section): () => void {
    this.#watched.set(section, (this.#watched.get(section) ?? 0) + 1);
    this.#tell();
    return () => {
      const left = this.#watched.get(section)! - 1;
      if (left > 0) return void this.#watched.set(section, left);
      this.#watched.delete(section);
      this.#tell();
    };
  }

  end(): void {
    this.#become("signed out");
    this.#socket?.close();
  }

  #connect(): void {
    const socket = new WebSocket(new URL("live", location.href.split("#")[0]!.replace(/^http/, "ws")));
    this.#socket = socket;
    socket.addEventListener("open", () => {
      this.#failures = 0;
      this.#become("live");
      this.#tell();
    });
    socket.addEventListener("message", ({ data }) => {
      const shown = JSON.parse(String(data)) as Shown;
      const before = this.shown.get(shown.section);
      this.shown.set(shown.section, shown.value === undefined ? { ...shown, value: before?.value } : shown);
      this.#notify();
    });
    socket.addEventListener("close", ({ code }) => {
      if (code === signedOut) return this.#become("signed out");
      if (this.connection === "signed out") return undefined;
      this.#become("lost");
      setTimeout(() => this.#connect(), Math.min(longestWaitMs, 500 * 2 ** this.#failures++));
      return undefined;
    });
  }

  /** A page that nobody sees looks at nothing. */
  #tell(): void {
    if (this.#socket?.readyState !== WebSocket.OPEN) return;
    const message: Watch = { watch: document.hidden ? [] : [...this.#watched.keys()] };
    this.#socket.send(JSON.stringify(message));
  }

  #become(connection: Connection): void {
    this.connection = connection;
    this.#notify();
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }
}

export const live = new Live();

/** What a section shows now, and hears of it as long as the component is there. */
export function useSection<T>(section: Section | undefined): { value?: T; trouble?: string } {
  const [, again] = useState({});
  useEffect(() => live.listen(() => again({})), []);
  useEffect(() => (section === undefined ? undefined : live.watch(section)), [section]);
  const { value, trouble } = (section && live.shown.get(section)) ?? {};
  return { value: value as T | undefined, trouble };
}

export function useConnection(): Connection {
  const [connection, set] = useState(live.connection);
  useEffect(() => live.listen(() => set(live.connection)), []);
  return connection;
}
