// @ts-check
/** `consortium serve` as a process of its own, for what it takes of time, memory and disk. */
import { Buffer } from "node:buffer";
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { root } from "../../tools/lib/prepare.mjs";
import { Trouble } from "../../tools/lib/say.mjs";

/** @typedef {{ pid: number, data: string, ask: ReturnType<typeof asker> }} Served */

/**
 * @template T
 * @param {string[]} options
 * @param {(served: Served) => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function withServed(options, work) {
  const data = mkdtempSync(join(tmpdir(), "consortium-bench-"));
  const usual = ["--port", "0", "--data", data, "--json", "--node-start", "0", "--environment-start", "0"];
  const args = [join(root, "dist/cli/consortium.js"), "serve", ...usual, ...options];
  const service = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise((done) => service.once("exit", done));
  try {
    const line = await firstLine(service.stdout, /^\{/);
    const { baseUrl, apiKeyFile } = JSON.parse(line);
    const ask = asker(baseUrl, `Bearer ${readFileSync(apiKeyFile, "utf8").trim()}`);
    return await work({ pid: Number(service.pid), data, ask });
  } finally {
    service.kill();
    await ended;
    rmSync(data, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** @param {import("node:stream").Readable} output @param {RegExp} pattern */
export async function firstLine(output, pattern) {
  for await (const line of createInterface({ input: output })) if (pattern.test(line)) return line;
  throw new Trouble(`A process ended before it printed ${pattern}.`);
}

/** @param {string} base @param {string} authorization */
export function asker(base, authorization) {
  return async (/** @type {string} */ path, /** @type {object | undefined} */ content = undefined) => {
    const response = await fetch(base + path, {
      method: content ? "POST" : "GET",
      headers: { authorization, ...(content ? { "content-type": "application/json" } : {}) },
      ...(content ? { body: JSON.stringify(content) } : {}),
    });
    /** @type {any} */
    const answer = await response.json();
    if (!response.ok) throw new Error(`${path}: ${response.status} ${JSON.stringify(answer)}`);
    return answer;
  };
}

/**
 * Nodes of one member in a new environment, with a credential to use them.
 * @param {Served["ask"]} ask
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

/** @param {Served["ask"]} ask */
export async function makeParents(ask) {
  const consortium = `/consortia/${(await ask("/consortia", { name: "bench" }))._id}`;
  const { _id } = await ask(`${consortium}/memberships`, { org_name: "bench" });
  return { consortium, membership_id: String(_id) };
}
