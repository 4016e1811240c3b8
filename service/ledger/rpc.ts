import { request, type Dispatcher } from "undici";
import { Refusal } from "../errors";

/** What a chain answers instead of a result. */
export class RpcError extends Error {
  override readonly name = "RpcError";
}

/** One JSON-RPC call. */
export async function call<T>(url: string, method: string, params: unknown[] = [], dispatcher?: Dispatcher) {
  const { body } = await request(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    ...(dispatcher ? { dispatcher } : {}),
    headersTimeout: 30_000,
    bodyTimeout: 30_000,
  }).catch((error: Error) => {
    throw new Refusal(502, `The chain at ${new URL(url).host} does not answer: ${error.message}.`);
  });
  const { result, error } = (await body.json()) as { result?: T; error?: { message: string } };
  if (error) throw new RpcError(`${method}: ${error.message}`);
  return result as T;
}
