import { setMaxListeners } from "node:events";
import pLimit from "p-limit";
import { CallLog, requestIdIn } from "./call-log";
import { type Clock, type Deadline, ServiceClock, systemClock } from "./clock";
import {
  ApiError,
  type ErrorFacts,
  isApiError,
  kindOfStatus,
  nextStep,
  PartialList,
  TransportError,
} from "./api-error";
import { templateOf } from "./paths";
import { messageIn, refusalIn } from "./refusal";
import { type Repeatable, retryAfterMs, retryDelay } from "./retry";
import { Secrets } from "./secrets";
import { type Settings } from "./settings";
import { bound, type Note, type Traced, traced } from "./trace";
import { type Transport, type WireAnswer } from "./transport";
import { version } from "../version";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

export interface CallOptions {
  query?: Record<string, string | number | undefined>;
  /** A later page of the same list, at an address that the service gave. */
  page?: URL;
  body?: unknown;
  /** The service may lack this call: an answer that is not from the API, such as a web page, is not retried. */
  optional?: boolean;
  /** For a POST that is safe to repeat, such as setting a value. Default: freely, except for POST. */
  repeatable?: Repeatable;
}

export interface HttpOptions {
  transport?: Transport;
  clock?: Clock;
  /** What errors must not show, besides the key. */
  secrets?: Secrets;
  /** Called before each wait for another attempt. */
  onRetry?: (error: ApiError, delayMs: number) => void;
  /** Time limit of a call once it starts, with all attempts. Default: up to its deadline. */
  patienceMs?: number;
}

export interface Answer {
  status: number;
  /** Parsed. undefined: there was none. */
  body: unknown;
  headers: WireAnswer["headers"];
  /** The address that was requested. */
  url: string;
}

/** Shared by all calls to one service. */
interface Connections {
  limit: ReturnType<typeof pLimit>;
  transport?: Transport;
  /** Whether the service has ever answered. */
  reached: boolean;
  /** Aborted at the end: no call is repeated after it. */
  over: AbortController;
  serviceClock: ServiceClock;
  log?: CallLog;
}

/** One attempt, before its headers. */
interface Sending {
  method: Method;
  url: string;
  body?: unknown;
  timeoutMs: number;
  attempt: number;
}

/** A read gets at least this long, even at the deadline: a last look is worth it. */
const lastLookMs = 1_000;

function overAt(): AbortController {
  const over = new AbortController();
  setMaxListeners(0, over.signal); // one for each call that waits
  return over;
}

const ended: Transport = {
  send: () => Promise.reject(new TransportError("unsent", "the run has ended", undefined)),
  close: () => Promise.resolve(),
};

/** Every call of the product goes through `request`. */
export class Http {
  readonly #clock: Clock;
  readonly #secrets: Secrets;

  constructor(
    readonly settings: Settings,
    private readonly options: HttpOptions = {},
    private readonly connections: Connections = {
      limit: pLimit(settings.maxConcurrency),
      transport: options.transport,
      reached: false,
      over: overAt(),
      serviceClock: new ServiceClock(),
    },
    private readonly deadline?: Deadline,
  ) {
    this.#clock = options.clock ?? systemClock;
    this.#secrets = options.secrets ?? new Secrets();
    this.#secrets.learn(settings.apiKey.reveal());
    if (settings.log) connections.log ??= new CallLog(settings.log, settings.logLevel, this.#secrets);
  }

  /** The same connections for calls that end at the deadline: none is repeated after it. */
  until(deadline: Deadline): Http {
    return new Http(this.settings, this.options, this.connections, deadline);
  }

  /** @throws ApiError unless the answer is a 2xx with an empty or JSON body, and no refusal */
  async request(method: Method, path: string, options: CallOptions = {}): Promise<Answer> {
    const repeatable = options.repeatable ?? (method === "POST" ? "unless accepted" : "freely");
    const start = this.#clock.now();
    /** Attempts are counted by kind of failure: a reset after a wait that the service asked for counts as the first. */
    const failures = new Map<ApiError["kind"], { attempt: number; since: number }>();
    let last = start;
    let patience = Infinity;
    let unclear = false;
    const { signal } = this.connections.over;
    for (let attempt = 1; ; attempt++) {
      try {
        // The wait between attempts is outside the limit: a waiting call is not in flight.
        const once = bound(() => {
          if (attempt === 1) patience = this.#clock.now() + (this.options.patienceMs ?? Infinity);
          return this.#once(method, path, options, patience, attempt);
        });
        return await this.connections.limit(once);
      } catch (error) {
        if (!isApiError(error)) throw error;
        error.unclear = unclear ||= error.unclear; // an earlier attempt may have been acted upon
        if (options.optional && isNotTheApi(error)) throw error;
        const before = failures.get(error.kind) ?? { attempt: 0, since: last };
        const failed = { ...before, attempt: before.attempt + 1 };
        failures.set(error.kind, failed);
        last = this.#clock.now();
        const tried = { attempt: failed.attempt, elapsedMs: last - failed.since, reached: this.connections.reached };
        const delay = retryDelay(error, repeatable, tried);
        if (delay === undefined || this.#clock.now() + delay > patience || signal.aborted) throw error;
        if (this.#clock.now() + delay > (this.deadline?.at ?? Infinity)) throw this.#outOfTime(error);
        this.options.onRetry?.(error, delay);
        await this.#clock.sleep(delay, signal).catch((interrupted: unknown) => {
          throw signal.aborted ? error : interrupted;
        });
      }
    }
  }

  /** The error of a failed call: masks secrets, and adds what to do next. All of them are made here. */
  error(facts: ErrorFacts): ApiError {
    const errorMessage = this.#secrets.mask(facts.errorMessage).slice(0, 1000);
    const whole = { ...facts, errorMessage, next: facts.next ?? nextStep(facts, this.settings) };
    return facts.items ? new PartialList(whole) : new ApiError(whole);
  }

  /** Sends nothing from now on. Calls in flight finish, unless they must end at once; waiting calls fail. */
  async close(how: "gently" | "at once" = "gently"): Promise<void> {
    const { transport, over } = this.connections;
    this.connections.transport = ended;
    over.abort();
    await transport?.close(how);
  }

  /** Loads undici with the first request: most program processes never make one. */
  async #transport(): Promise<Transport> {
    const { UndiciTransport } = await import("./transport.js");
    return (this.connections.transport ??= new UndiciTransport(this.settings));
  }

  /** Reads end at the deadline. A change gets its full time, or nobody would know what it did. */
  #timeoutMs(method: Method, patience: number): number {
    const whole = Math.round(this.settings.requestTimeout * 1000); // timers take whole milliseconds
    const end = Math.min(this.deadline?.at ?? Infinity, patience);
    if (method !== "GET" || end === Infinity) return whole;
    return Math.min(whole, Math.max(lastLookMs, Math.round(end - this.#clock.now())));
  }

  #outOfTime(error: ApiError): ApiError {
    const { limit, setting } = this.deadline!;
    const time = `no time is left to try again: the limit is ${limit}${setting === undefined ? "" : ` (${setting})`}`;
    return this.error({
      ...error,
      errorMessage: `${error.errorMessage.replace(/[.\s]*$/, "")}; ${time}`,
      cause: error,
    });
  }

  /** The service's earliest possible time at a time of ours, in ms since 1970. undefined: unknown. */
  serviceTime(at: number): number | undefined {
    return this.connections.serviceClock.earliest(at);
  }

  async #once(
    method: Method,
    path: string,
    { query, page, body }: CallOptions,
    patience: number,
    attempt: number,
  ): Promise<Answer> {
    const call = `${method} ${path}`;
    const url = page?.href ?? this.settings.baseUrl + path + queryText(query);
    if (new URL(url).origin !== new URL(this.settings.baseUrl).origin)
      throw new Error(`${url} is not an address of the service: the key is not sent there`);
    const timeoutMs = this.#timeoutMs(method, patience);
    let answer: WireAnswer;
    try {
      answer = await this.#send({ method, url, body, timeoutMs, attempt });
    } catch (error) {
      if (!(error instanceof TransportError)) throw error;
      const { kind, message: errorMessage, late } = error;
      throw this.error({ kind, call, errorMessage, late, cause: error });
    }
    this.connections.reached = true;
    this.connections.serviceClock.saw(single(answer.headers.date), this.#clock.now());
    return this.#judge(call, url, answer);
  }

  /** Sends one attempt: a span, and a line of the log. */
  #send(call: Sending): Promise<WireAnswer> {
    const { baseUrl } = this.settings;
    const startedAt = this.#clock.now();
    const work = async (note?: Note): Promise<WireAnswer> => {
      const outcome = await this.#exchange(call).then((answer) => ({ answer }), (error: unknown) => ({ error })); // prettier-ignore
      const { method, url, body, attempt } = call;
      const path = url.startsWith(baseUrl) ? url.slice(baseUrl.length) : url;
      const told = { caller: this.deadline?.caller, method, path, attempt, body };
      this.connections.log?.write({ ...told, ms: this.#clock.now() - startedAt, ...outcome });
      if ("error" in outcome) throw outcome.error;
      note?.(...notesOf(outcome.answer));
      return outcome.answer;
    };
    return traced(() => spanOf(call, baseUrl), work);
  }

  async #exchange({ method, url, body, timeoutMs }: Sending): Promise<WireAnswer> {
    const transport = this.connections.transport ?? (await this.#transport());
    return transport.send({
      method,
      url,
      timeoutMs,
      headers: {
        authorization: `Bearer ${this.settings.apiKey.reveal()}`,
        "content-type": "application/json", // on every call: section 5.1 of the spec
        accept: "application/json",
        "accept-encoding": "identity",
        "user-agent": `pulumi-consortium/${version}`,
      },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  }

  #judge(call: string, url: string, answer: WireAnswer): Answer {
    const { status, headers, text } = answer;
    const body = parseJson(text);
    const requestId = requestIdIn(headers);
    if (status >= 200 && status < 300) {
      const refusal = refusalIn(body, call);
      if (refusal) throw this.error({ ...refusal, call, status, requestId });
      if (body !== unreadable) return { status, body, headers, url };
      const errorMessage = `the answer is ${nature(text)}`;
      throw this.error({ kind: "lost", call, status, requestId, errorMessage, isForeign: true });
    }
    const kind = kindOfStatus(status);
    const facts = {
      call,
      status,
      requestId,
      late: status === 408 || status === 504,
      allow: headers.allow === undefined ? undefined : [headers.allow].flat().join(", "),
      errorMessage:
        messageIn(body) ??
        (status < 400 ? redirection(single(headers.location), url) : undefined) ??
        sentenceIn(text) ??
        (body === unreadable ? `the answer is ${nature(text)}` : "no explanation was given"),
      retryAfterMs: retryAfterMs(single(headers["retry-after"]), single(headers.date)),
    };
    // A proxy's page says nothing about the resource, so it is never taken for "gone". The API itself may say it in plain text (hosted.md).
    const isForeign = kind === "missing" && body === unreadable && sentenceIn(text) === undefined;
    // The API has no redirects, and following one would hand the key to another host.
    throw this.error({ ...facts, kind: isForeign ? "server" : kind, isForeign: isForeign || status < 400 });
  }
}

/** Whether something other than the API answered, and it was neither a refusal nor an outage. */
export const isNotTheApi = ({ kind, status = 500 }: ApiError): boolean =>
  (kind === "server" || kind === "lost") && status < 500 && status !== 408;

/** A call in OpenTelemetry's words for HTTP clients. */
function spanOf({ method, url, attempt }: Sending, baseUrl: string): Traced {
  const { hostname, port, pathname, protocol } = new URL(url);
  const template = url.startsWith(baseUrl) ? ` ${templateOf(url.slice(baseUrl.length).split("?")[0]!)}` : "";
  const attributes = {
    "http.request.method": method,
    "http.request.resend_count": attempt > 1 ? attempt - 1 : undefined,
    "url.path": pathname,
    "server.address": hostname,
    "server.port": Number(port) || (protocol === "https:" ? 443 : 80),
  };
  return { name: method + template, attributes, isCall: true };
}

function notesOf({ status, headers, text }: WireAnswer): Parameters<Note> {
  const attributes = { "http.response.status_code": status, "consortium.request_id": requestIdIn(headers) };
  if (status < 400) return [attributes];
  const failure = messageIn(parseJson(text)) ?? sentenceIn(text) ?? `HTTP ${status}`;
  return [{ ...attributes, "error.type": String(status) }, failure];
}

const unreadable = Symbol("unreadable");

function parseJson(text: string): unknown {
  if (text.trim() === "") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return unreadable;
  }
}

const nature = (text: string): string => (/^\s*</.test(text) ? "an HTML page, not JSON" : "cut or not JSON");

/** A short answer in words, not a page and not JSON that was cut. */
const sentenceIn = (text: string): string | undefined => /^[^\s<>{}[\]"][^\n<>{}]{0,199}$/.exec(text.trim())?.[0];

/** The target of a redirect, without parts that may be secret. */
function redirection(location: string | undefined, url: string): string | undefined {
  if (location === undefined || !URL.canParse(location, url)) return undefined;
  const { origin, pathname } = new URL(location, url);
  return `the service redirects to ${origin}${pathname}, which is not followed`;
}

const single = (header: string | string[] | undefined): string | undefined =>
  Array.isArray(header) ? header[0] : header;

function queryText(query: CallOptions["query"] = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined) as [string, string][];
  return given.length === 0 ? "" : `?${new URLSearchParams(given).toString()}`;
}
