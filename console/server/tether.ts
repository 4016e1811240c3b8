import { z } from "zod";
import type { ConsortiumClient } from "../../provider/api";
import type { PinView, TetherView, Verdict } from "../protocol";
import { verifyReport } from "../../sdk/runtime/verify";

const mostPins = 50;
/** A pin's cost is the mean of so many of the last ones. */
const costsKept = 5;

const text = z.string().optional().catch(undefined);
const Report = z.looseObject({
  pinned_at: text,
  network: text,
  transaction_hash: text,
  block_number: z.number().optional().catch(undefined),
  reports: z.array(z.unknown()).optional().catch(undefined),
});
const Shown = z.looseObject({
  network: text,
  target_urls: z.record(z.string(), z.string()).optional().catch(undefined),
  last_error: text,
});

/** What is known of one tether's pins: a report never changes, so each is read once. */
export class TetherHistory {
  readonly #reports = new Map<number, unknown>();
  readonly #costs = new Map<string, bigint>();
  #targetUrl: string | undefined;

  /** @param targets RPC addresses of public networks, which the user has chosen; before those that the service names */
  constructor(
    private readonly client: ConsortiumClient,
    private readonly id: string,
    private readonly targets: Readonly<Record<string, string | undefined>>,
  ) {}

  async view(): Promise<TetherView> {
    const count = await this.client.getTetherReportCount(this.id);
    const shown = Shown.safeParse(await this.client.getTether(this.id).catch(() => ({}))).data ?? {};
    const first = Math.max(0, count - mostPins);
    const wanted = Array.from({ length: count - first }, (_, index) => first + index);
    await Promise.all(wanted.map((index) => this.#report(index)));
    for (const index of this.#reports.keys()) if (index < first || index >= count) this.#reports.delete(index);
    this.#targetUrl = this.targets[shown.network ?? ""] ?? shown.target_urls?.[shown.network ?? ""];
    const pins = wanted.map((index) => pinOf(index, this.#reports.get(index))).reverse();
    const cost = await this.#pinCost(pins);
    return {
      pins,
      ...(cost !== undefined && { pinCostWei: cost.toString() }),
      ...(this.#targetUrl !== undefined && { targetUrl: this.#targetUrl }),
      ...(shown.last_error !== undefined && { problem: shown.last_error }),
    };
  }

  /** Really asks the target chain. */
  async verify(index: number): Promise<Verdict> {
    const report = await this.client.getTetherReport(this.id, index);
    const { network = "" } = Report.safeParse(report).data ?? {};
    const shown = Shown.safeParse(await this.client.getTether(this.id).catch(() => ({}))).data ?? {};
    const url = this.targets[network] ?? shown.target_urls?.[network];
    if (url === undefined) {
      const how = network ? `--target ${network}=https://…` : "--target rinkeby=https://…";
      return { verified: false, text: `Not checked: start the console with ${how}, the chain to ask.` };
    }
    const { account } = await this.client.getTetherAccount(this.id);
    const verdict = await verifyReport(report, url, account === undefined ? {} : { account });
    if (!verdict.verified) return { verified: false, text: verdict.reason };
    const { blockNumber, transactionHash, pinnedAt } = verdict;
    const when = pinnedAt.toISOString().slice(0, 19).replace("T", " ");
    return { verified: true, text: `Block ${blockNumber} of ${network}, ${when} UTC, transaction ${transactionHash}` };
  }

  async #report(index: number): Promise<void> {
    if (!this.#reports.has(index)) this.#reports.set(index, await this.client.getTetherReport(this.id, index));
  }

  async #pinCost(pins: PinView[]): Promise<bigint | undefined> {
    const hashes = pins.slice(0, costsKept).flatMap(({ transactionHash }) => transactionHash ?? []);
    if (this.#targetUrl === undefined || hashes.length === 0) return undefined;
    const fresh = hashes.filter((hash) => !this.#costs.has(hash));
    for (const hash of this.#costs.keys()) if (!hashes.includes(hash)) this.#costs.delete(hash);
    try {
      for (const [hash, cost] of await costsOf(this.#targetUrl, fresh)) this.#costs.set(hash, cost);
    } catch {
      // the chain does not answer: what is known has to do
    }
    const costs = [...this.#costs.values()];
    return costs.length === 0 ? undefined : costs.reduce((sum, cost) => sum + cost, 0n) / BigInt(costs.length);
  }
}

async function costsOf(url: string, hashes: readonly string[]): Promise<[string, bigint][]> {
  if (hashes.length === 0) return [];
  const { targetProvider } = await import("../../sdk/runtime/target-chain.js");
  const provider = targetProvider(url);
  try {
    await provider._detectNetwork(); // where no chain answers, ethers would go on asking for ever
    const receipts = await Promise.all(hashes.map((hash) => provider.getTransactionReceipt(hash)));
    return receipts.flatMap((receipt) => (receipt ? [[receipt.hash, receipt.fee] as [string, bigint]] : []));
  } finally {
    provider.destroy();
  }
}

function pinOf(index: number, report: unknown): PinView {
  if (Array.isArray(report)) return { index, nodes: report.length };
  const { pinned_at: at, network, transaction_hash, block_number, reports } = Report.safeParse(report).data ?? {};
  return {
    index,
    at,
    network,
    blockNumber: block_number,
    transactionHash: transaction_hash,
    nodes: reports?.length ?? 0,
  };
}
