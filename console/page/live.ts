import { useEffect, useState } from "preact/hooks";
import { type Actions, type Looked, type Section, type Shown, type Trouble, type Watch } from "../protocol";

/** Whether the page is connected to its server. */
type Link = "connecting" | "live" | "lost" | "signed out";
/** The link, or the trouble with the service. */
export type Connection = Link | Trouble;

const longestWaitMs = 10_000;
/** The server's longest pause between two polls. During a slow poll, it reports more often. */
const longestPauseMs = 30_000;
/** How late a poll of the server may be before the page counts as out of date. */
const patienceMs = 10_000;
/** The code with which the server closes the connection when the session has ended. */
const signedOut = 4401;

/** The page's only connection: it sends the watched sections, and receives their contents. */
class Live {
  readonly shown = new Map<Section, Shown>();
  connection: Link = "connecting";
  /** When the server last looked, in ms since 1970. */
  lookedAt: number | undefined;
  readonly #watched = new Map<Section, number>();
  readonly #listeners = new Set<() => void>();
  #socket: WebSocket | undefined;
  #failures = 0;
  #patience: ReturnType<typeof setTimeout> | undefined;

  start(): void {
    document.addEventListener("visibilitychange", () => {
      if (document.hidden) clearTimeout(this.#patience);
      else this.#wait(longestWaitMs);
      this.#tell();
    });
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
      this.#wait(longestWaitMs);
      this.#tell();
    });
    socket.addEventListener("message", ({ data }) => {
      if (this.connection === "signed out") return;
      const message = JSON.parse(String(data)) as Shown | Looked;
      this.connection = "live";
      if ("section" in message) {
        const { value, problem, trouble } = this.shown.get(message.section) ?? {};
        const kept = message.late ? { problem, trouble } : {};
        this.shown.set(message.section, message.value === undefined ? { value, ...kept, ...message } : message);
        this.#wait(longestPauseMs);
      } else {
        this.lookedAt = message.at;
        this.#wait(message.next);
      }
      this.#notify();
    });
    socket.addEventListener("close", ({ code }) => {
      clearTimeout(this.#patience);
      if (code === signedOut) return this.#become("signed out");
      if (this.connection === "signed out") return undefined;
      this.#become("lost");
      setTimeout(() => this.#connect(), Math.min(longestWaitMs, 500 * 2 ** this.#failures++));
      return undefined;
    });
  }

  /** A hidden page watches nothing. */
  #tell(): void {
    if (this.#socket?.readyState !== WebSocket.OPEN) return;
    const message: Watch = { watch: document.hidden ? [] : [...this.#watched.keys()] };
    this.#socket.send(JSON.stringify(message));
  }

  /** A frozen server keeps its connection open, so the connection counts as lost if the next poll does not come. */
  #wait(ms: number): void {
    clearTimeout(this.#patience);
    if (!document.hidden) this.#patience = setTimeout(() => this.#become("lost"), ms + patienceMs);
  }

  #become(connection: Link): void {
    this.connection = connection;
    this.#notify();
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }
}

export const live = new Live();

function useLive(): void {
  const [, again] = useState({});
  useEffect(() => live.listen(() => again({})), []);
}

/** The contents of a section, kept up to date while the component is mounted. A problem that concerns all sections is shown once. */
export function useSection<T>(section: Section): { value?: T; problem?: string } {
  useLive();
  useEffect(() => live.watch(section), [section]);
  const { value, problem } = live.shown.get(section) ?? {};
  const known = section !== "network" && live.shown.get("network")?.problem !== undefined;
  return { value: value as T | undefined, problem: known || live.connection === "lost" ? undefined : problem };
}

/** Whether the page reaches its server and the server reaches the service, and when they last did, in ms since 1970. */
export function useConnection(): { connection: Connection; asOf?: number } {
  useLive();
  const { connection: link, lookedAt } = live;
  const { problem, trouble = "failing", late, since } = live.shown.get("network") ?? {};
  const asOf = problem === undefined && !late ? lookedAt : since;
  const service = problem !== undefined ? trouble : late ? "slow" : "live";
  return { connection: link === "live" ? service : link, ...(asOf !== undefined && { asOf }) };
}

/** Asks the server to do something. @throws Error with a message for people */
async function act<N extends keyof Actions>(action: N, ask: Actions[N]["ask"]): Promise<Actions[N]["answer"]> {
  const response = await fetch(`api/${action}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(ask),
  }).catch(() => {
    throw new Error("The console does not answer: is it still running?");
  });
  const answer = (await response.json()) as Actions[N]["answer"] & { error?: string };
  if (!response.ok) throw new Error(answer.error ?? `The console answered ${response.status}.`);
  return answer;
}

/** An action and its result. `run` never throws; it returns undefined on failure. */
export function useAction<N extends keyof Actions>(action: N) {
  type Answer = Actions[N]["answer"];
  const [state, set] = useState<{ busy?: boolean; answer?: Answer; problem?: string }>({});
  const run = async (ask: Actions[N]["ask"]): Promise<Answer | undefined> => {
    set({ busy: true });
    try {
      const answer = await act(action, ask);
      // A new secret is shown once and not kept.
      set(typeof answer === "object" && "secret" in answer ? {} : { answer });
      return answer;
    } catch (error) {
      set({ problem: (error as Error).message });
      return undefined;
    }
  };
  return { ...state, run };
}
