import { appendFileSync, closeSync, openSync, renameSync, statSync, unlinkSync } from "node:fs";
import { resolve } from "node:path";
import { messageOf } from "../plain";
import { type Caller } from "./clock";
import { type Secrets } from "./secrets";
import { type Settings, SettingsError } from "./settings";
import { type WireAnswer } from "./transport";

/* The log of calls: a file that can be sent to others. One JSON line a call, without secrets. */

/** One attempt of a call. */
export interface LoggedCall {
  caller?: Caller | undefined;
  method: string;
  /** From the base address on, with the query. */
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
/** An older mark was left by a killed process. */
const staleMs = 10_000;

/** Members with secret values in any body. */
const secretKey =
  /pass(word|wd|phrase)?$|secret|token|^(api_?)?keys?$|^apikey|private_?key|mnemonic|^hash$|authorization|auth_?header|^details$/i;

export class CallLog {
  readonly #file: string;
  /** Bytes that others and this process may have written since the last look. */
  #unchecked = Infinity;

  /** @throws SettingsError if the file cannot be written */
  constructor(
    { file, source }: NonNullable<Settings["log"]>,
    private readonly level: Settings["logLevel"],
    private readonly secrets: Secrets,
    private readonly limit = mostBytes,
  ) {
    this.#file = resolve(file);
    try {
      appendFileSync(this.#file, "", { mode: 0o600 });
    } catch (cause) {
      throw new SettingsError(
        `The log ${this.#file} (from ${source}) cannot be written: ${(cause as NodeJS.ErrnoException).code ?? messageOf(cause)}. ` +
          "Name a file in a folder that exists and can be written, or leave the setting out.",
      );
    }
  }

  /** Writes one line. A full disk must not fail a run. */
  write(call: LoggedCall): void {
    const isFailure = call.answer === undefined || call.answer.status >= 400;
    if (this.level === "errors" && !isFailure) return;
    try {
      const line = `${JSON.stringify(this.#entry(call, isFailure))}\n`;
      this.#rotate(line.length);
      appendFileSync(this.#file, line, { mode: 0o600 }); // whole lines, so that lines of other processes do not mix
    } catch {
      // the run goes on without its log
    }
  }

  #entry({ caller, method, path, attempt, ms, body, answer, error }: LoggedCall, isFailure: boolean): object {
    const bodies = this.level === "bodies";
    const { secrets } = this;
    return {
      time: new Date().toISOString(),
      level: isFailure ? "error" : "info",
      pid: process.pid,
      ...(caller && { verb: caller.verb, resource: secrets.mask(caller.resource) }),
      method,
      path: secrets.mask(path),
      ...(answer && { status: answer.status }),
      ms: Math.round(ms),
      attempt,
      ...(answer && { requestId: requestIdIn(answer.headers) }),
      ...(error !== undefined && { error: secrets.mask(messageOf(error)) }),
      ...(bodies && body !== undefined && { request: shown(JSON.stringify(body), secrets) }),
      ...(bodies && answer && answer.text !== "" && { response: shown(answer.text, secrets) }),
    };
  }

  /** Starts a new file once this one is full. Only one of several processes does it. */
  #rotate(bytes: number): void {
    this.#unchecked += bytes;
    if (this.#unchecked < this.limit / 100) return;
    this.#unchecked = 0;
    const mark = `${this.#file}.lock`;
    try {
      closeSync(openSync(mark, "wx"));
    } catch {
      if (Date.now() - (statSync(mark, { throwIfNoEntry: false })?.mtimeMs ?? Infinity) > staleMs) unlinkSync(mark);
      return; // the next line tries again
    }
    try {
      if (this.#isFull()) renameSync(this.#file, `${this.#file}.1`);
    } finally {
      unlinkSync(mark);
    }
  }

  #isFull = (): boolean => (statSync(this.#file, { throwIfNoEntry: false })?.size ?? 0) >= this.limit;
}

/** A body as the log shows it: JSON without its secrets, or text. */
function shown(text: string, secrets: Secrets): unknown {
  if (text.length > mostMasked) return `${text.length} characters`;
  let body: unknown;
  try {
    body = withoutSecrets(JSON.parse(text), secrets);
  } catch {
    return cut(secrets.mask(text));
  }
  const whole = JSON.stringify(body);
  return whole.length > mostShown ? cut(whole) : body;
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
