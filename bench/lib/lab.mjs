// @ts-check
/** `consortium serve` that can be killed, in whole or in part, and started again where it was. */
import { Buffer } from "node:buffer";
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { clearInterval, setInterval } from "node:timers";
import { setTimeout as wait } from "node:timers/promises";
import { root } from "../../tools/lib/prepare.mjs";
import { UserError } from "../../tools/lib/terminal.mjs";

const apiKey = "ground-key";
const usual = ["--json", "--node-start", "0", "--environment-start", "0", "--limit", "targetRate=1000000"];

/** @typedef {{ url: string, authorization: string }} Chain where it is asked, such as at a node */

/** No answer came: whether the service acted is not known. */
export class Unanswered extends Error {}

/** Random numbers that a seed gives again. @param {number} seed */
export function randomOf(seed) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    /** A whole number. @param {number} from @param {number} to */
    between: (from, to) => from + Math.floor(next() * (to - from + 1)),
    /** @template T @param {readonly T[]} list @returns {T} */
    one: (list) => /** @type {T} */ (list[Math.floor(next() * list.length)]),
  };
}

export class Lab {
  #folder = mkdtempSync(join(tmpdir(), "consortium-ground-"));
  data = join(this.#folder, "data");
  #temporary = join(this.#folder, "tmp");
  #port = 0;
  /** @type {import("node:child_process").ChildProcess | undefined} */
  #service;
  /** @param {string[]} options of `consortium serve` */
  constructor(options) {
    this.options = options;
    mkdirSync(this.#temporary);
  }

  get pid() {
    return Number(this.#service?.pid);
  }

  /** Of each call to the API. */
  authorization = `Bearer ${apiKey}`;

  get url() {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Calls of the API that must succeed. */
  get ask() {
    return asker(`${this.url}/api/v1`, this.authorization);
  }

  async start() {
    const args = [join(root, "dist/cli/consortium.js"), "serve", "--port", `${this.#port}`, "--data", this.data];
    const env = { ...process.env, CONSORTIUM_SERVE_API_KEY: apiKey, TMPDIR: this.#temporary };
    const child = spawn(process.execPath, [...args, ...usual, ...this.options], {
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#service = child;
    let said = "";
    child.stderr.on("data", (part) => (said = (said + String(part)).slice(-4_000)));
    const line = await firstLine(child.stdout, /^\{/).catch((error) => {
      throw new Error(`${error.message} ${said}`, { cause: error });
    });
    child.stdout.resume();
    this.#port = Number(JSON.parse(line).port);
  }

  /** Ends it as a supervisor does. */
  async stop() {
    const service = this.#service;
    if (!service || service.exitCode !== null || service.signalCode !== null) return;
    const ended = new Promise((done) => service.once("exit", done));
    service.kill("SIGTERM");
    await ended;
  }

  async close() {
    await this.stop();
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }

  /** The processes, by what they are. */
  processes() {
    const all = treeOf(this.pid);
    const chains = all.filter(({ command }) => command.includes("--init"));
    const watcher = all.filter(({ command }) => command.includes("watcher.mjs"));
    return { service: all.slice(0, 1), watcher, chains };
  }

  /** @param {{ pid: number }[]} processes */
  kill(processes) {
    for (const { pid } of processes) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        continue; // it has ended with the one before
      }
    }
  }

  /**
   * A call to the API; it ends with `Unanswered` if no answer comes.
   * @param {string} method @param {string} path @param {unknown} [content]
   */
  api(method, path, content) {
    return answered(`${this.url}/api/v1${path}`, this.authorization, method, content);
  }

  /**
   * The results of a batch of calls to a chain.
   * @param {Chain} chain @param {[string, unknown[]][]} calls
   * @returns {Promise<any[]>}
   */
  async batch({ url, authorization }, calls) {
    const found = [];
    for (let at = 0; at < calls.length; at += 100) {
      const part = calls.slice(at, at + 100);
      const asked = part.map(([method, params], id) => ({ jsonrpc: "2.0", id, method, params }));
      const { status, body } = await answered(url, authorization, "POST", asked);
      if (status !== 200) throw new Unanswered(`${status} ${JSON.stringify(body).slice(0, 200)}`);
      found.push(...body);
    }
    return found;
  }

  /** One call to a chain. @param {Chain} chain @param {string} method @param {unknown[]} [params] */
  async rpc(chain, method, params = []) {
    const [{ result, error }] = await this.batch(chain, [[method, params]]);
    if (error?.code === -32_603) throw new Unanswered(error.message); // the service could not ask its chain
    return { result, error };
  }
}

/** Asks until an answer comes: whoever was killed comes back. @template T @param {() => Promise<T>} ask @returns {Promise<T>} */
export async function untilAnswered(ask) {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof Unanswered)) throw error;
      await wait(20);
    }
  }
}

/**
 * @param {string} url @param {string} authorization @param {string} method @param {unknown} [content]
 * @returns {Promise<{ status: number, body: any }>}
 */
async function answered(url, authorization, method, content) {
  const headers = {
    ...(authorization && { authorization }),
    ...(content ? { "content-type": "application/json" } : {}),
  };
  const signal = globalThis.AbortSignal.timeout(60_000);
  try {
    const response = await fetch(url, {
      method,
      headers,
      signal,
      ...(content ? { body: JSON.stringify(content) } : {}),
    });
    const text = await response.text();
    const body = text === "" ? undefined : JSON.parse(text);
    if ([502, 503, 504].includes(response.status)) throw new Unanswered(text);
    return { status: response.status, body };
  } catch (error) {
    throw error instanceof Unanswered ? error : new Unanswered(String(error), { cause: error });
  }
}

/** @param {import("node:stream").Readable} output @param {RegExp} pattern */
export async function firstLine(output, pattern) {
  for await (const line of createInterface({ input: output })) if (pattern.test(line)) return line;
  throw new UserError(`A process ended before it printed ${pattern}.`);
}

/** @typedef {ReturnType<typeof asker>} Ask throws where the answer is an error */
/** @param {string} base @param {string} authorization */
export function asker(base, authorization) {
  return async (/** @type {string} */ path, /** @type {object | undefined} */ content = undefined) => {
    const { status, body } = await answered(base + path, authorization, content ? "POST" : "GET", content);
    if (status >= 400) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
    return body;
  };
}

/**
 * Nodes of one member in a new environment, with a credential to use them.
 * @param {Ask} ask
 * @param {{ consortium: string, membership_id: string }} parents
 * @param {object} kind of the environment
 * @param {number} count
 */
export async function makeNodes(ask, { consortium, membership_id }, kind, count) {
  const made = await ask(`${consortium}/environments`, kind);
  const environment = `${consortium}/environments/${made._id}`;
  const { username, password } = await ask(`${environment}/appcreds`, { membership_id });
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
  const nodes = [];
  for (let number = 0; number < count; number++) {
    const { _id } = await ask(`${environment}/nodes`, { membership_id });
    const { urls, user_accounts } = await ask(`${environment}/nodes/${_id}/status`);
    nodes.push({ url: String(urls.rpc), authorization, account: String(user_accounts[0]) });
  }
  return { environment: made, nodes };
}

/** @param {Ask} ask */
export async function makeParents(ask) {
  const consortium = `/consortia/${(await ask("/consortia", { name: "bench" }))._id}`;
  const { _id } = await ask(`${consortium}/memberships`, { org_name: "bench" });
  return { consortium, membership_id: String(_id) };
}

/** @typedef {{ pid: number, parent: number, rss: number, command: string }} Process rss: bytes */

/** @param {number} root @returns {Process[]} the process itself first */
export function treeOf(root) {
  const lines = execFileSync("ps", ["-eo", "pid=,ppid=,rss=,args="], { encoding: "utf8" }).trim().split("\n");
  const all = lines.map((line) => {
    const [, pid, parent, kB, command = ""] = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
    return { pid: Number(pid), parent: Number(parent), rss: Number(kB) * 1024, command };
  });
  /** @param {Process} one @returns {Process[]} */
  const withChildren = (one) => [one, ...all.filter(({ parent }) => parent === one.pid).flatMap(withChildren)];
  return all.filter(({ pid }) => pid === root).flatMap(withChildren);
}

/** On Linux: pages that several processes share are divided among them. @param {number} pid */
function proportionalSize(pid) {
  try {
    const [, kB = "0"] = /^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8")) ?? [];
    return Number(kB) * 1024;
  } catch {
    return 0;
  }
}

/**
 * Looks again and again; `end` answers the most that was seen of each. A look at 30 processes takes a processor 0.1 s: looks are
 * few, so that they do not slow down what they look at.
 * @param {number} root
 */
export function watchMemory(root, everyMs = 1_000) {
  const peak = { pss: 0, rss: 0, processes: 0 };
  const timer = setInterval(() => {
    const tree = treeOf(root);
    const sum = (/** @type {number[]} */ sizes) => sizes.reduce((total, bytes) => total + bytes, 0);
    peak.pss = Math.max(peak.pss, sum(tree.map(({ pid }) => proportionalSize(pid))));
    peak.rss = Math.max(peak.rss, sum(tree.map(({ rss }) => rss)));
    peak.processes = Math.max(peak.processes, tree.length);
  }, everyMs);
  return {
    end: () => {
      clearInterval(timer);
      return peak;
    },
  };
}
