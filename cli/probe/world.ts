import {
  ApiKey,
  ConsortiumClient,
  type CallOptions,
  type Identified,
  isApiError,
  type Method,
  type Settings,
  systemClock,
  type Transport,
  type WireAnswer,
} from "../../provider/api";
import { paths } from "../../provider/api/paths";
import { isGoing, isGone } from "../../provider/api/states";
import { basicAuthHeader } from "../../provider/api/secrets";
import { UndiciTransport } from "../../provider/api/transport";
import { TransportError } from "../../provider/api/api-error";
import { Anything } from "../../provider/api/wire";
import { fieldsOf } from "../../provider/plain";
import type { AnswersChange, Timing } from "consortium-service";
import type { FactName } from "./facts";
import { Notes, type Seen } from "./notes";

/** In the order of creation. Deletion goes the other way. */
export type Kind = "consortium" | "membership" | "environment" | "node";

/** An object that this run requested. Without an id, its unique name identifies it. */
interface Thing {
  kind: Kind;
  collection: string;
  name: string;
  id?: string;
}

/** How the service deleted an object. */
export interface Removal {
  kind: Kind;
  /** The status of the accepted DELETE. */
  status: number;
  /** Its state during the deletion, and how long it was listed so. */
  going?: { state: string; ms: number };
  /** How long it was listed as `deleted`. */
  listed?: { ms: number; still: boolean };
}

export type Verdict = "as assumed" | "otherwise" | "not seen";
/** An answer, and whether it is what the question's fact says. */
export interface Answer {
  said: string;
  is: Verdict;
}
export const judged = (isAssumed: boolean, said: string): Answer => ({
  said,
  is: isAssumed ? "as assumed" : "otherwise",
});

export interface Question {
  question: string;
  /** The assumption that it is about. */
  fact?: FactName;
  /** Asks, creates what it needs, and keeps the findings in the world. An answer about a fact that is only text has not seen it. */
  ask: (world: World) => Promise<Answer | string> | Answer | string;
  /** Asked after everything is deleted. */
  after?: true;
}

/** Keeps the last raw answer: errors show no bodies, and one question is about the form of a 404. Notes all of the API. */
class Recorder implements Transport {
  last: WireAnswer | undefined;
  readonly notes = new Notes();
  #closed: Promise<void> | undefined;
  constructor(
    private readonly inner: Transport,
    private readonly baseUrl: string,
  ) {}
  async send(request: Parameters<Transport["send"]>[0]): Promise<WireAnswer> {
    this.last = undefined;
    const start = systemClock.now();
    this.last = await this.inner.send(request);
    const { method, url } = request;
    if (url.startsWith(this.baseUrl))
      this.notes.add(method, url.slice(this.baseUrl.length), seenIn(this.last), systemClock.now() - start);
    return this.last;
  }
  close(how?: "gently" | "at once"): Promise<void> {
    return (this.#closed ??= this.inner.close(how));
  }
}

/** Maximum time of one call, including its retries. */
const mostPatienceMs = 60_000;
const notFound = [404, 410];

/** What the run knows, created and found out. Calls run one at a time. */
export class World {
  readonly client: ConsortiumClient;
  readonly answers: AnswersChange = {};
  readonly timing: Partial<Timing> = {};
  readonly removals: Removal[] = [];
  /** A note of one question for later ones. */
  started = false;
  /** How to call the node, once known. */
  node: { url: string; username: string; password: string } | undefined;
  credential: { path: string; username: string; password: string } | undefined;
  /** What the calls about the account answered, by their names. */
  readonly account = new Map<string, Seen>();
  /** The release of the environment at first. */
  release: unknown;
  /** The membership of the node, and what its deletion answered while the node was being deleted. */
  member: { id: string; whileNodeGoes?: number } | undefined;
  /** What was found out about the tether, by fact. */
  readonly tether: Partial<Record<FactName, Answer | string>> = {};
  readonly #made: Thing[] = [];
  readonly #recorder: Recorder;

  /**
   * @param name of everything it creates; must be unused
   * @param waitMs how long each wait may take
   * @param signal ends the questions, after the call that is under way
   * @param giveUp ends everything at once
   */
  constructor(
    private readonly settings: Settings,
    readonly name: string,
    readonly waitMs: number,
    private signal: AbortSignal,
    private readonly giveUp: AbortSignal,
    /** A tether service that nothing uses, if it was named, and whether it may pay. */
    readonly unusedTether?: { id: string; mayPay: boolean },
  ) {
    this.#recorder = new Recorder(new UndiciTransport(settings), settings.baseUrl);
    giveUp.addEventListener("abort", () => void this.#recorder.close("at once"));
    this.client = this.#with(settings);
  }

  #with(settings: Settings): ConsortiumClient {
    const sleepUnlessOver = (ms: number): Promise<void> => systemClock.sleep(ms, this.giveUp);
    const clock = { ...systemClock, sleep: sleepUnlessOver };
    const patienceMs = Math.min(mostPatienceMs, this.waitMs);
    return new ConsortiumClient(settings, { transport: this.#recorder, patienceMs, clock });
  }

  /** Sends a call and returns what came back. @throws ApiError if nothing did */
  async ask(method: Method, path: string, options?: CallOptions, client = this.client): Promise<Seen> {
    this.signal.throwIfAborted();
    try {
      await client.http.request(method, path, options);
    } catch (error) {
      if (!isApiError(error) || this.#recorder.last === undefined) throw error;
      return { ...seenIn(this.#recorder.last), ok: false };
    }
    return seenIn(this.#recorder.last!);
  }

  /** Asks with another key, or with a token. */
  askWith(key: string, path: string): Promise<Seen> {
    const apiKey = new ApiKey(key, "the probe");
    return this.ask("GET", path, undefined, this.#with({ ...this.settings, apiKey }));
  }

  get notes(): Notes {
    return this.#recorder.notes;
  }

  /** Does it also after Ctrl-C, and whatever comes of it. */
  async whatever(call: () => Promise<unknown>): Promise<void> {
    const before = this.signal;
    this.signal = this.giveUp;
    await call().catch(() => undefined);
    this.signal = before;
  }

  /** Makes a call to the node: what it returns, or why not. */
  async askNode(method: string, params: unknown[] = []): Promise<{ result?: unknown; why?: string }> {
    this.signal.throwIfAborted();
    const { url, ...credential } = this.node!;
    const headers = { "content-type": "application/json", authorization: basicAuthHeader(credential) };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
    const timeoutMs = Math.min(mostPatienceMs, this.waitMs);
    try {
      const seen = seenIn(await this.#recorder.send({ method: "POST", url, headers, body, timeoutMs }));
      const { result, error } = fieldsOf(seen.body);
      if (error === undefined && seen.ok) return { result };
      const { message } = fieldsOf(error);
      const why = typeof message === "string" ? message : `HTTP ${seen.status}${wordsOf(seen)}`;
      return { why: this.notes.plain(why) };
    } catch (error) {
      if (error instanceof TransportError) return { why: this.notes.plain(error.message) };
      throw error;
    }
  }

  /** Sends a create once. Records the object beforehand, because the answer may be lost. */
  async create(kind: Kind, collection: string, body: object): Promise<Seen> {
    this.signal.throwIfAborted();
    const thing: Thing = { kind, collection, name: this.name };
    this.#made.push(thing);
    const seen = await this.ask("POST", collection, { body });
    if (seen.ok) thing.id = idIn(seen.body) ?? (await this.#search(thing));
    else if (isRefusal(seen)) this.#made.pop();
    return seen;
  }

  /** Like `create`, for objects that the run cannot do without. Retries while the service refuses it as too early (409). */
  async mustCreate(kind: Kind, collection: string, body: object): Promise<Seen> {
    const { value: seen } = await this.until(async () => {
      const one = await this.create(kind, collection, body);
      return one.status === 409 && kind === "node" ? { last: one } : { value: one };
    });
    if (seen?.ok && this.find(kind)?.id !== undefined) return seen;
    if (seen?.ok) throw new Error(`The service created the ${kind}, but neither shows its id nor lists it.`);
    throw new Error(`The service did not create the ${kind}: HTTP ${seen?.status ?? 409}${wordsOf(seen)}.`);
  }

  find = (kind: Kind): Thing | undefined => this.#made.find((thing) => thing.kind === kind);

  /** The id of an object that this run made. */
  id(kind: Kind): string {
    const id = this.find(kind)?.id;
    if (id === undefined) throw new Error(`There is no ${kind} yet.`);
    return id;
  }
  path = (kind: Kind): string => paths.item(this.find(kind)!.collection, this.id(kind));
  /** Collections inside of what it made. */
  in = <T>(collection: (consortium: string, environment: string) => T): T =>
    collection(this.id("consortium"), this.id("environment"));

  /** The object as its list shows it. */
  async listed(kind: Kind): Promise<Identified | undefined> {
    this.signal.throwIfAborted();
    const { collection, id } = this.find(kind)!;
    return (await this.client.list(collection, Anything)).find((one) => one.id === id);
  }

  /** Polls, at growing intervals, until there is a value or the time is over. */
  async until<T>(
    look: (ms: number) => Promise<{ value?: T; last?: T }>,
    limitMs = this.waitMs,
  ): Promise<{ value?: T; ms: number }> {
    const start = systemClock.now();
    for (let pause = 50; ; pause = Math.min(pause * 1.3, 2_000)) {
      const ms = systemClock.now() - start;
      const { value, last } = await look(ms);
      if (value !== undefined) return { value, ms };
      if (ms + pause > limitMs) return { value: last, ms };
      await systemClock.sleep(pause, this.signal);
    }
  }

  /** An object whose create was answered without its id, or not at all. */
  async #search({ collection, name }: Thing): Promise<string | undefined> {
    const look = async () => ({
      value: (await this.client.list(collection, Anything)).find((one) => one.name === name || one.org_name === name)
        ?.id,
    });
    return (await this.until(look, this.waitMs / 30)).value;
  }

  /** Deletes everything that the run created, innermost first, and waits until it is gone. Returns what is left, with reasons. */
  async clear(isShort: boolean): Promise<string[]> {
    const signal = (this.signal = this.giveUp);
    const left: { thing: Thing; why: string }[] = [];
    let isReachable = true;
    for (const thing of [...this.#made].reverse()) {
      try {
        signal.throwIfAborted();
        if (!isReachable) throw new Error("not tried, because the service cannot be reached");
        thing.id ??= await this.#search(thing);
        if (thing.id === undefined) continue;
        this.removals.push(await this.#remove(thing, thing.id, isShort));
        if (thing.kind === "consortium") left.length = 0; // a consortium is deleted with its contents
      } catch (error) {
        left.push({ thing, why: signal.aborted ? "not waited for" : (error as Error).message });
        isReachable &&= !isApiError(error) || error.kind !== "unsent";
      }
    }
    return left.map(({ thing: { kind, id, name }, why }) => `${kind} ${id ?? `named ${name}`}: ${why}`);
  }

  async #remove({ kind, collection }: Thing, id: string, isShort: boolean): Promise<Removal> {
    const { value: seen } = await this.until<Seen>(async () => {
      const one = await this.ask("DELETE", paths.item(collection, id));
      const mayPass = !one.ok && ![...notFound, 400, 401, 403, 405].includes(one.status);
      return mayPass ? { last: one } : { value: one };
    });
    if (!seen!.ok && !notFound.includes(seen!.status))
      throw new Error(`its deletion failed: HTTP ${seen!.status}${wordsOf(seen)}`);
    const removal: Removal = { kind, status: seen!.status };
    if (kind === "node" && !isShort) await this.#tryMembership(collection, id);
    const state = async () => (await this.client.list(collection, Anything)).find((one) => one.id === id)?.state;
    const { value: end, ms } = await this.until(async (now) => {
      const one = (await this.client.list(collection, Anything)).find((other) => other.id === id);
      if (one?.state !== undefined && isGoing(one)) removal.going = { state: one.state, ms: now };
      return one === undefined ? { value: "gone" } : isGone(one) ? { value: "deleted" } : {};
    });
    if (end === undefined) throw new Error(`it is still there after ${Math.round(ms / 1000)} s`);
    if (removal.going) removal.going.ms = ms;
    if (end === "gone" || isShort) return removal;
    const gone = await this.until(async () => ((await state()) === undefined ? { value: true } : {}), this.waitMs / 5);
    return { ...removal, listed: { ms: gone.ms, still: gone.value === undefined } };
  }

  /** Deletes the membership of a node that is being deleted, if there is still time to see what happens. */
  async #tryMembership(collection: string, nodeId: string): Promise<void> {
    const isLeaving = async () =>
      (await this.client.list(collection, Anything)).some((one) => one.id === nodeId && !isGone(one));
    if (this.member === undefined || !(await isLeaving())) return;
    const { status } = await this.ask("DELETE", paths.item(paths.memberships(this.id("consortium")), this.member.id));
    if (status < 300 || (await isLeaving())) this.member.whileNodeGoes = status;
  }
}

/** Certainly not done. */
const isRefusal = ({ status, form }: Seen): boolean =>
  status < 300 ? form === "JSON" : status >= 400 && status < 500 && status !== 408;

function seenIn({ status, text }: WireAnswer): Seen {
  const good = status >= 200 && status < 300;
  if (text.trim() === "") return { status, form: "no body", body: undefined, text, ok: good };
  try {
    return { status, form: "JSON", body: JSON.parse(text) as unknown, text, ok: good };
  } catch {
    return { status, form: /^\s*</.test(text) ? "HTML" : "plain text", body: undefined, text, ok: false };
  }
}

function idIn(body: unknown): string | undefined {
  const { _id, id } = fieldsOf(body);
  return typeof (_id ?? id) === "string" ? ((_id ?? id) as string) : undefined;
}

/** The service's own words. */
function wordsOf(seen: Seen | undefined): string {
  const { errorMessage } = fieldsOf(seen?.body);
  return typeof errorMessage === "string" ? ` (${errorMessage.replace(/\.$/, "")})` : "";
}
