import { conditionOf } from "../../provider/api/states";
import type { EnvironmentModel } from "../../observe/model";
import type { Ask } from "./ledger";
import type { Stacks } from "./stacks";

/** Credentials that stacks hold in clear, to read blocks with; they stay in this process. */
export class Logins {
  constructor(private readonly stacks: Stacks) {}

  /** Asks a started node whose member's credential is known; undefined: there is none. */
  ask({ id, nodes }: EnvironmentModel): Ask | undefined {
    const logins = this.stacks.logins.filter(({ environmentId }) => environmentId === id);
    for (const { membershipId, state, urls } of nodes) {
      const login = logins.find((one) => one.membershipId === membershipId);
      if (login && conditionOf(state) === "ready" && urls?.rpc) return asking(urls.rpc, login);
    }
    return undefined;
  }
}

const timeoutMs = 10_000;

function asking(url: string, { username, password }: { username: string; password: string }): Ask {
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
  return async (method, params) => {
    const response = await fetch(url, {
      method: "POST",
      headers: { authorization, "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
      signal: AbortSignal.timeout(timeoutMs),
      redirect: "error",
    });
    if (!response.ok) throw new Error(`the node answers ${response.status}`);
    const { result, error } = (await response.json()) as { result?: unknown; error?: { message?: string } };
    if (error) throw new Error(error.message ?? `${method} failed`);
    return result;
  };
}
