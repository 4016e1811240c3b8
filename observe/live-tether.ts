import { type ConsortiumClient, isApiError, type TetherReport } from "../provider/api";
import { ShownTether } from "../provider/resources/tether/read";
import { type SharedAnswers } from "./answers";
import { type NodeModel, type PinModel, type TetherModel } from "./model";

/** A tether, and its newest report as the service shows it. */
export interface ObservedTether {
  model: TetherModel;
  report?: TetherReport;
}

/** Looks at a tether; what the service does not show of it stays out. */
export function observeTether(answers: SharedAnswers, id: string): Promise<ObservedTether> {
  return answers.get(`tether ${id}`, async (client) => {
    const [shown, { account, balanceWei } = {}, last] = await Promise.all([
      optional(client.getTether(id)),
      optional(client.getTetherAccount(id)),
      lastReport(client, id),
    ]);
    const isMissing = (shown ?? account ?? balanceWei) === undefined;
    const { network, interval: intervalHours, state } = ShownTether.safeParse(shown ?? {}).data ?? {};
    return {
      model: {
        ...extraIn(shown, network),
        id,
        network,
        intervalHours,
        state: isMissing ? "missing" : state,
        account,
        balanceWei,
        ...last?.facts,
      },
      report: last?.report,
    };
  });
}

/** What only some services show. */
function extraIn(shown: unknown, network: string | undefined): Pick<TetherModel, "problem" | "targetUrl"> {
  const { last_error: problem, target_urls: urls } = (shown ?? {}) as { last_error?: unknown; target_urls?: unknown };
  const targetUrl = (urls as Record<string, unknown> | undefined)?.[network ?? ""];
  return {
    ...(typeof problem === "string" && { problem }),
    ...(typeof targetUrl === "string" && { targetUrl }),
  };
}

async function lastReport(client: ConsortiumClient, id: string) {
  const count = await optional(client.getTetherReportCount(id));
  if (count === undefined) return undefined;
  const report = count > 0 ? await optional(client.getTetherReport(id, count - 1)) : undefined;
  const facts: Partial<TetherModel> = { reports: count };
  if (report !== undefined) facts.lastPin = { index: count - 1, ...pinIn(report) };
  return { facts, report };
}

async function optional<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (isApiError(error, "missing", "unsupported", "invalid", "conflict")) return undefined;
    throw error;
  }
}

/** The fields of a report are not documented: what is not there, or of another form, stays out. */
function pinIn(report: unknown): Partial<PinModel> {
  const fields = (typeof report === "object" && report !== null ? report : {}) as Record<string, unknown>;
  const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
  const number = (value: unknown): number | undefined => (Number.isSafeInteger(value) ? Number(value) : undefined);
  return {
    at: text(fields.pinned_at) ?? newest(textsIn(report, /^(reported|created)_at$/)),
    network: text(fields.network),
    chainId: number(fields.chain_id),
    contractAddress: text(fields.contract_address),
    transactionHash: text(fields.transaction_hash),
    blockNumber: number(fields.block_number),
  };
}

const newest = (times: string[]): string | undefined => times.sort().at(-1);

/** Texts under keys of that kind, however deep. */
function textsIn(value: unknown, keys: RegExp): string[] {
  const found: string[] = [];
  const todo: unknown[] = [value];
  for (let one = todo.pop(); one !== undefined; one = todo.pop()) {
    if (typeof one !== "object" || one === null) continue;
    for (const [key, inner] of Object.entries(one) as [string, unknown][])
      if (typeof inner === "string" && keys.test(key)) found.push(inner);
      else if (typeof inner === "object" && inner !== null) todo.push(inner);
  }
  return found;
}

/** Whether its newest report is about one of these nodes: the API does not say otherwise what a tether pins. */
export function bound({ report }: ObservedTether, nodes: readonly NodeModel[]): boolean {
  const ids = new Set(nodes.map(({ id }) => id));
  return textsIn(report, /(^|_)id$/i).some((id) => ids.has(id));
}
