// @ts-check
/** A network with one `raft` node on the embedded service, and calls to it. */

/** @typedef {(method: string, params: unknown[]) => Promise<any>} Send */

/** Waits for a receipt. @param {Send} send @param {string} hash */
export async function receipt(send, hash) {
  for (;;) {
    const found = await send("eth_getTransactionReceipt", [hash]);
    if (found) return found;
  }
}

/** @typedef {import("../../service/index.js").Service} Service */

/** Makes a network with one node, which stays through restarts of the service. @param {Service} service */
export async function raftNode({ baseUrl, apiKey }) {
  /** @type {(path: string, body?: object) => Promise<any>} */
  const api = async (path, body) => {
    const headers = { authorization: `Bearer ${apiKey}`, "content-type": "application/json" };
    const response = await fetch(
      `${baseUrl}${path}`,
      body ? { method: "POST", headers, body: JSON.stringify(body) } : { headers },
    );
    const answer = await response.json();
    if (!response.ok) throw new Error(JSON.stringify(answer));
    return answer;
  };
  const { _id: consortium } = await api("/consortia", { name: "bench" });
  const { _id: membership_id } = await api(`/consortia/${consortium}/memberships`, { org_name: "bench" });
  const environment = await api(`/consortia/${consortium}/environments`, {
    name: "ledger",
    provider: "quorum",
    consensus_type: "raft",
  });
  const inside = `/consortia/${consortium}/environments/${environment._id}`;
  const node = await api(`${inside}/nodes`, { membership_id, name: "node" });
  const { username, password } = await api(`${inside}/appcreds`, { membership_id });
  const { urls } = await api(`${inside}/nodes/${node._id}/status`);
  return { path: new URL(urls.rpc).pathname, username, password };
}

/** The address of a node, and the headers of a login. @param {Service} service @param {Awaited<ReturnType<typeof raftNode>>} node */
export const addressOf = (service, { path, username, password }) => ({
  url: `${service.url}${path}`,
  login: { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}` },
});

/** A function that calls a node. @param {Service} service @param {Awaited<ReturnType<typeof raftNode>>} node */
export function caller(service, node) {
  const { url, login } = addressOf(service, node);
  return callerOf(url, login);
}

/** A function that calls an address. @param {string} url @param {Record<string, string>} [login] @returns {Send} */
export const callerOf =
  (url, login = {}) =>
  async (method, params) => {
    const headers = { ...login, "content-type": "application/json" };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
    const response = await fetch(url, { method: "POST", headers, body });
    const { result, error, errorMessage } = /** @type {any} */ (await response.json());
    if (error ?? errorMessage) throw new Error(`${method}: ${errorMessage ?? error.message}`);
    return result;
  };
