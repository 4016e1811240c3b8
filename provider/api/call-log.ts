import { appendFileSync, renameSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { messageOf } from "../plain";
import { type Caller } from "./clock";
import { type Secrets } from "./secrets";
import { type Settings, SettingsError } from "./settings";
import { type WireAnswer } from "./transport";

/*
 * The log of calls: a file that can be sent to others. One JSON line a call. Lists show objects of other programs and of people, whose
 * secrets no process knows: so bodies show only facts from a list of names, and no URL shows its query.
 */

/** One attempt of a call. */
export interface LoggedCall {
  caller?: Caller | undefined;
  method: string;
  /** From the base address on. */
  path: string;
  /** Counted from 1. */
  attempt: number;
  ms: number;
  body?: unknown;
  answer?: WireAnswer;
  /** Why there is no answer. */
  error?: unknown;
}

/** A full file is kept once more, as `FILE.1`. */
const mostBytes = 10 * 1024 * 1024;
/** Longer bodies are cut, after secrets were masked. */
const mostShown = 4_000;
/** Masking a longer one would slow the run down: only its size is logged. */
const mostMasked = 256 * 1024;
/** Of whole bodies (level `full`): members with secret values. */
const secretKey =
  /pass(word|wd|phrase)?$|secret|token|^(api_?)?keys?$|^apikey|private_?key|mnemonic|^hash$|authorization|auth_?header|^details$/i;

export class CallLog {
  readonly #file: string;

  /** @throws SettingsError if the file cannot be written */
  constructor(
    { file, source }: NonNullable<Settings["log"]>,
    private readonly level: Settings["logLevel"],
    private readonly secrets: Secrets,
    private readonly limit = mostBytes,
  ) {
    this.#file = resolve(file);
    try {
      this.#begin();
    } catch (cause) {
      throw new SettingsError(
        "invalid-setting",
        "Name a file in a folder that exists and can be written, or leave the setting out. " +
          `The log ${this.#file} (from ${source}) cannot be written: ${(cause as NodeJS.ErrnoException).code ?? messageOf(cause)}.`,
      );
    }
  }

  /** Creates the file. One that must not be sent to others says so. */
  #begin(): void {
    const warning = { time: new Date().toISOString(), level: "warning", pid: process.pid, message: fullWarning };
    appendFileSync(this.#file, this.level === "full" ? `${JSON.stringify(warning)}\n` : "", { mode: 0o600 });
  }

  /** Writes one line. A full disk must not fail a run. */
  write(call: LoggedCall): void {
    const isFailure = call.answer === undefined || call.answer.status >= 400;
    if (this.level === "errors" && !isFailure) return;
    try {
      const line = `${JSON.stringify(this.#entry(call, isFailure))}\n`;
      this.#rotate();
      appendFileSync(this.#file, line, { mode: 0o600 }); // whole lines, so that lines of other processes do not mix
    } catch {
      // the run goes on without its log
    }
  }

  #entry({ caller, method, path, attempt, ms, body, answer, error }: LoggedCall, isFailure: boolean): object {
    const { secrets, level } = this;
    const bodies = level === "full" || level === "bodies";
    return {
      time: new Date().toISOString(),
      level: isFailure ? "error" : "info",
      pid: process.pid,
      ...(caller && { verb: caller.verb, resource: secrets.mask(caller.resource) }),
      method,
      path: secrets.mask(path.replace(/\?.*/s, "")),
      ...(answer && { status: answer.status }),
      ms: Math.round(ms),
      attempt,
      ...(answer && { requestId: requestIdIn(answer.headers) }),
      ...(error !== undefined && { error: secrets.mask(messageOf(error)) }),
      ...(bodies && body !== undefined && { request: shown(JSON.stringify(body), level, secrets) }),
      ...(bodies && answer && answer.text !== "" && { response: shown(answer.text, level, secrets) }),
    };
  }

  /** Starts a new file once this one is full. */
  #rotate(): void {
    if ((statSync(this.#file, { throwIfNoEntry: false })?.size ?? 0) < this.limit) return;
    renameSync(this.#file, `${this.#file}.1`);
    this.#begin();
  }
}

const fullWarning =
  "CONSORTIUM_LOG_LEVEL=full: the bodies in this file may hold secrets that nobody marked. Do not send it to others.";

const isId = (value: unknown): boolean => typeof value === "string" && /^[\w.-]{1,64}$/.test(value);
const isWord = (value: unknown): boolean => typeof value === "string" && /^[A-Za-z][\w -]{0,39}$/.test(value);
const isNumber = (value: unknown): boolean => typeof value === "number" || /^\d{1,20}$/.test(String(value));
const isTime = (value: unknown): boolean => typeof value === "string" && !Number.isNaN(Date.parse(value));
const isText = (value: unknown): boolean => typeof value === "string";

/** What a body may show: members with such a name, if the value has the form. */
const known: readonly (readonly [name: RegExp, hasForm: (value: unknown) => boolean])[] = [
  [/^_?id$|_id$|[a-z]Id$/, isId],
  [/^(state|status)$/, isWord],
  [/^(started|active|success)$/, (value) => typeof value === "boolean"],
  [/^_?revision$|^(total|block_height|interval)$|count$/i, isNumber],
  [/_at$/, isTime],
  [/^(errorMessage|message|error)$/, isText], // the service's own words
];

/** A body as the log shows it. */
function shown(text: string, level: Settings["logLevel"], secrets: Secrets): unknown {
  const size = `${text.length} characters`;
  if (text.length > mostMasked) return size;
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return level === "full" ? cut(secrets.mask(text)) : size;
  }
  const told = level === "full" ? withoutSecrets(body, secrets) : factsIn(body, secrets);
  const json = JSON.stringify(told) ?? "";
  return json.length > mostShown ? cut(json) : told;
}

/** What a body tells of its object or list: ids, states, revisions, times, counts and the service's words. */
function factsIn(value: unknown, secrets: Secrets): unknown {
  if (Array.isArray(value)) return value.map((one) => factsIn(one, secrets));
  if (typeof value !== "object" || value === null) return typeof value === "boolean" ? value : undefined;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]) => {
      const isKnown = !secretKey.test(name) && known.some(([names, hasForm]) => names.test(name) && hasForm(inner));
      return isKnown ? [[name, withoutSecret(inner, secrets)]] : [];
    }),
  );
}

const cut = (text: string): string => (text.length > mostShown ? `${text.slice(0, mostShown)}…` : text);

const marker = "[secret]";

function withoutSecrets(value: unknown, secrets: Secrets): unknown {
  if (Array.isArray(value)) return value.map((one) => withoutSecrets(one, secrets));
  if (typeof value !== "object" || value === null) return withoutSecret(value, secrets);
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      secrets.mask(key),
      secretKey.test(key) && inner !== null ? marker : withoutSecrets(inner, secrets),
    ]),
  );
}

/** A whole JSON value: here, even a short secret is recognized. */
function withoutSecret(value: unknown, secrets: Secrets): unknown {
  const json = JSON.stringify(value);
  const masked = secrets.mask(`:${json},`).slice(1, -1);
  try {
    return JSON.parse(masked) as unknown;
  } catch {
    return marker;
  }
}

/** Names of the header with a request id, in services and proxies. */
const requestIds = ["x-request-id", "request-id", "x-correlation-id", "x-amzn-requestid", "x-amz-request-id", "cf-ray"];

/** The service's own number of the request, by which those who run it find it. */
export function requestIdIn(headers: WireAnswer["headers"]): string | undefined {
  return requestIds.flatMap((name) => headers[name] ?? []).find((id) => /^[\x21-\x7e]{1,128}$/.test(id));
}
