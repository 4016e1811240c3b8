import { type ConsortiumClient, isApiError } from "../provider/api";
import { briefly } from "../provider/api/api-error";
import { fieldsOf, text } from "../provider/plain";
import { tetherIn } from "../provider/api/tether";
import { type Verification, verifyReport } from "../sdk/runtime/verify";
import { objectsWithin } from "./credentials";
import { type PinModel, type TetherModel } from "./model";
import { type Row } from "./rows";

/** The answer to a question about one object; undefined if the service has none, or if `failed` accepted the error. */
export async function asked<T>(question: Promise<T>, failed: (error: unknown) => void): Promise<T | undefined> {
  try {
    return await question;
  } catch (error) {
    if (!isApiError(error, "missing", "unsupported", "invalid", "conflict")) failed(error);
    return undefined;
  }
}

/** A tether and its newest report, as the service shows them. */
export interface ObservedTether {
  row: Row & { id: string };
  report?: unknown;
}

/**
 * Looks at a tether. Properties that the service does not show are left out.
 * @param failed called for questions that the service should have answered
 */
export async function observeTether(
  client: ConsortiumClient,
  id: string,
  failed: (error: unknown) => void,
): Promise<ObservedTether> {
  let unseen: string | undefined;
  const ask = <T>(question: Promise<T>): Promise<T | undefined> =>
    asked(question, (error) => {
      failed(error);
      unseen ??= briefly(error);
    });
  const [shown, { account, balanceWei } = {}, reports] = await Promise.all([
    ask(client.getTether(id)),
    ask(client.getTetherAccount(id)),
    ask(client.getTetherReportCount(id)),
  ]);
  const report = reports ? await ask(client.getTetherReport(id, reports - 1)) : undefined;
  const { network, interval, state } = tetherIn(shown);
  const isMissing = unseen === undefined && (shown ?? account ?? balanceWei) === undefined;
  const facts: Omit<TetherModel, "id"> = {
    network,
    intervalHours: interval?.hours[0],
    state: isMissing ? "missing" : state,
    account,
    balanceWei,
    reports,
    ...extraIn(shown, network),
    ...(report !== undefined && { lastPin: pinIn(reports! - 1, report) }),
  };
  return { row: { kind: "tetherService", id, props: facts, unseen }, report };
}

/** Properties that only some services show. */
function extraIn(shown: unknown, network: string | undefined): Pick<TetherModel, "problem" | "targetUrl"> {
  const { last_error: problem, target_urls: urls } = (shown ?? {}) as { last_error?: unknown; target_urls?: unknown };
  const targetUrl = (urls as Record<string, unknown> | undefined)?.[network ?? ""];
  return {
    ...(typeof problem === "string" && { problem }),
    ...(typeof targetUrl === "string" && { targetUrl }),
  };
}

/** The fields of a report are not documented: missing or unexpected ones are left out. */
export function pinIn(index: number, report: unknown): PinModel {
  const fields = fieldsOf(report);
  const number = (value: unknown): number | undefined => (Number.isSafeInteger(value) ? Number(value) : undefined);
  const reports = Array.isArray(report) ? report : fields.reports;
  return {
    index,
    at:
      text(fields.pinned_at) ??
      textsIn(report, /^(reported|created)_at$/)
        .sort()
        .at(-1),
    network: text(fields.network),
    transactionHash: text(fields.transaction_hash),
    blockNumber: number(fields.block_number),
    nodes: Array.isArray(reports) ? reports.length : 0,
  };
}

/** Texts under matching keys, at any depth. */
const textsIn = (value: unknown, keys: RegExp): string[] =>
  objectsWithin(value).flatMap((one) =>
    Object.entries(one).flatMap(([key, inner]) => (typeof inner === "string" && keys.test(key) ? inner : [])),
  );

/** Whether a report is about this node. The API shows in no other way what a tether pins. */
export const isAbout = (report: unknown, nodeId: string): boolean => textsIn(report, /(^|_)id$/i).includes(nodeId);

/** Addresses of public chains, by network, that the user gave. */
export type Targets = Readonly<Record<string, string | undefined>>;

/**
 * Where to ask about pins to a network, by default the present one: the user's address takes precedence over the service's, which is
 * of the present network. undefined: no address is known.
 */
export const chainFor = (
  { network = "", targetUrl }: TetherModel,
  targets: Targets,
  pinned = network,
): string | undefined => targets[pinned] ?? (pinned === network ? targetUrl : undefined);

/** Maximum number of cached reports per tether. */
const mostKept = 500;

/** The pins of one tether. A report and its cost never change, so each is read once. */
export class Pins {
  readonly #reports = new Map<number, unknown>();
  readonly #costs = new Map<string, bigint>();

  constructor(
    private readonly client: ConsortiumClient,
    private readonly id: string,
  ) {}

  report = async (index: number): Promise<unknown> => {
    const known = this.#reports.get(index) ?? (await this.client.getTetherReport(this.id, index));
    this.#reports.delete(index);
    this.#reports.set(index, known);
    for (const oldest of this.#reports.keys()) if (this.#reports.size > mostKept) this.#reports.delete(oldest);
    return known;
  };

  pin = async (index: number): Promise<PinModel> => pinIn(index, await this.report(index));

  /** Up to `most` of the first `count` pins, newest first. */
  newest(count: number, most: number): Promise<PinModel[]> {
    const wanted = Array.from({ length: Math.min(count, most) }, (_, back) => count - 1 - back);
    return Promise.all(wanted.map(this.pin));
  }

  /** Verifies a report on the public chain. */
  async verify(index: number, targetUrl: string, account: string | undefined): Promise<Verification> {
    return verifyReport(await this.report(index), targetUrl, account === undefined ? {} : { account });
  }

  /** The average cost of these pins in wei; undefined if the chain does not answer. */
  async cost(pins: readonly PinModel[], targetUrl: string): Promise<bigint | undefined> {
    const isHash = (text = ""): boolean => /^0x[0-9a-f]{64}$/i.test(text);
    const hashes = pins.flatMap(({ transactionHash }) => (isHash(transactionHash) ? transactionHash! : []));
    for (const hash of this.#costs.keys()) if (!hashes.includes(hash)) this.#costs.delete(hash);
    await this.#readCosts(
      hashes.filter((hash) => !this.#costs.has(hash)),
      targetUrl,
    ).catch(() => undefined); // the chain does not answer: use what is known
    const costs = [...this.#costs.values()];
    return costs.length === 0 ? undefined : costs.reduce((sum, cost) => sum + cost, 0n) / BigInt(costs.length);
  }

  async #readCosts(hashes: readonly string[], targetUrl: string): Promise<void> {
    if (hashes.length === 0) return;
    const { targetProvider } = await import("../sdk/runtime/target-chain.js"); // with ethers
    const provider = targetProvider(targetUrl);
    try {
      await provider._detectNetwork(); // ethers would retry forever if no chain answers
      const receipts = await Promise.all(hashes.map((hash) => provider.getTransactionReceipt(hash)));
      for (const receipt of receipts) if (receipt) this.#costs.set(receipt.hash, receipt.fee);
    } finally {
      provider.destroy();
    }
  }
}
