// @ts-check
/** `consortium serve` in a process that can be killed, in whole or in part, and started again on the same data; its clients. */
import { Buffer } from "node:buffer";
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as wait } from "node:timers/promises";
import { root } from "../../tools/lib/prepare.mjs";
import { UserError } from "../../tools/lib/terminal.mjs";
import { treeOf } from "./processes.mjs";

const apiKey = "bench-key";
const usual = ["--json", "--node-start", "0", "--environment-start", "0", "--limit", "targetRate=1000000"];

/** @typedef {{ url: string, authorization: string }} Chain a node or a target network */
/** @typedef {Chain & { account: string }} Node */

/** A call without an answer: the service may have acted or not. */
export class Unanswered extends Error {}

export class ServeProcess {
  #folder = mkdtempSync(join(tmpdir(), "consortium-bench-serve-"));
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

  get url() {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Calls the API; throws if the answer is an error. */
  get ask() {
    return asker(`${this.url}/api/v1`, `Bearer ${apiKey}`);
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

  /** Waits until every node answers. @param {Chain[]} nodes */
  async answers(nodes) {
    for (const node of nodes) await untilAnswered(() => this.rpc(node, "eth_blockNumber"));
  }

  /** Stops it as a supervisor does. */
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

  /** Its processes. */
  processes() {
    const all = treeOf(this.pid);
    const ofChains = all.filter(({ command }) => command.includes("--init"));
    const isWatcher = (/** @type {{ command: string }} */ { command }) => command.startsWith("/bin/sh");
    const chains = ofChains.filter((one) => !isWatcher(one));
    return { service: all.slice(0, 1), watchers: ofChains.filter(isWatcher), chains };
  }

  /** @param {{ pid: number }[]} processes */
  kill(processes) {
    for (const { pid } of processes) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        continue; // it ended with the process before
      }
    }
  }

  /**
   * Calls the API; throws `Unanswered` if no answer comes.
   * @param {string} method @param {string} path @param {unknown} [content]
   */
  api(method, path, content) {
    return answered(`${this.url}/api/v1${path}`, `Bearer ${apiKey}`, method, content);
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

/** Repeats a call until it is answered: a process that was killed comes back. @template T @param {() => Promise<T>} ask @returns {Promise<T>} */
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
async function firstLine(output, pattern) {
  for await (const line of createInterface({ input: output })) if (pattern.test(line)) return line;
  throw new UserError(`A process ended before it printed ${pattern}.`);
}

/** @typedef {ReturnType<typeof asker>} Ask throws if the answer is an error */
/** @param {string} base @param {string} authorization */
function asker(base, authorization) {
  return async (/** @type {string} */ path, /** @type {object | undefined} */ content = undefined) => {
    const { status, body } = await answered(base + path, authorization, content ? "POST" : "GET", content);
    if (status >= 400) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
    return body;
  };
}

/** One environment for each consensus protocol. */
export const eachConsensus = [
  { name: "ibft", provider: "quorum", consensus_type: "ibft", block_period: 1 },
  { name: "poa", provider: "geth", consensus_type: "poa", block_period: 1 },
  { name: "raft", provider: "quorum", consensus_type: "raft" },
];

/**
 * Creates a consortium of one member, with these environments. Each has a node, and a credential to use it.
 * @template {{ name: string }} Kind
 * @param {Ask} ask
 * @param {Kind[]} kinds
 */
export async function makeNetwork(ask, kinds) {
  const consortium = `/consortia/${(await ask("/consortia", { name: "bench" }))._id}`;
  const { _id: membership_id } = await ask(`${consortium}/memberships`, { org_name: "bench" });
  const environments = [];
  for (const kind of kinds) {
    const { _id: id, chain_id } = await ask(`${consortium}/environments`, kind);
    const environment = `${consortium}/environments/${id}`;
    const { username, password } = await ask(`${environment}/appcreds`, { membership_id });
    const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
    const { _id } = await ask(`${environment}/nodes`, { membership_id });
    const { urls, user_accounts } = await ask(`${environment}/nodes/${_id}/status`);
    /** @type {Node[]} */
    const nodes = [{ url: String(urls.rpc), authorization, account: String(user_accounts[0]) }];
    environments.push({ name: kind.name, id: String(id), chainId: Number(chain_id), nodes });
  }
  return { consortium, membership: String(membership_id), environments };
}

/** The tether of an environment, and the option of `consortium serve` that offers it. @param {string} name of the environment */
export const tetherOf = (name) => `t-${name}`;
/** @param {{ name: string }[]} kinds */
export const tetherOptions = (kinds) => kinds.flatMap(({ name }) => ["--tether", `${tetherOf(name)}=${name}`]);

/** Lets a tether pin every hour. @param {Ask} ask @param {string} name of the environment */
export async function deployTether(ask, name) {
  const tether = `/tether/${tetherOf(name)}`;
  await ask(`${tether}/targetNetwork`, { network: "rinkeby" });
  await ask(`${tether}/interval`, { interval: 1 });
  await ask(`${tether}/deploy`, {});
  await ask(`${tether}/activate`, {});
}
