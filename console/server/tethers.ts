import {
  chainFor,
  type ConsortiumClient,
  Pins,
  type Targets,
  type TetherModel,
} from "pulumi-consortium/internal/console";
import { type TetherView, type Verdict } from "../protocol";

const mostPins = 50;
/** Number of recent pins that the average cost of one is taken from. */
const costsKept = 5;

/** The pins of tethers, and whether they are on the public chain. */
export class Tethers {
  readonly #pins = new Map<string, Pins>();

  constructor(
    private readonly client: ConsortiumClient,
    private readonly targets: Targets,
    private readonly factsOf: (id: string) => Promise<TetherModel>,
  ) {}

  /** Verifies one report on the public chain. */
  async verify(tether: string, index: number): Promise<Verdict> {
    const facts = await this.factsOf(tether);
    const pin = await this.#pinsOf(tether).pin(index);
    const network = pin.network ?? facts.network ?? "";
    const url = chainFor(facts, this.targets, pin.network);
    if (url === undefined) {
      const how = network ? `--target ${network}=https://…` : "--target mainnet=https://…";
      return { verified: false, text: `Not checked: start the console with ${how}, the chain to ask.` };
    }
    const verdict = await this.#pinsOf(tether).verify(index, url, facts.account);
    if (!verdict.verified) return { verified: false, text: verdict.reason };
    const { blockNumber, transactionHash, pinnedAt } = verdict;
    const when = pinnedAt.toISOString().slice(0, 19).replace("T", " ");
    return { verified: true, text: `Block ${blockNumber} of ${network}, ${when} UTC, transaction ${transactionHash}` };
  }

  /** The newest pins, and the cost of one. */
  async view(id: string): Promise<TetherView> {
    const facts = await this.factsOf(id);
    const pins = await this.#pinsOf(id).newest(facts.reports ?? 0, mostPins);
    const targetUrl = chainFor(facts, this.targets);
    const last = pins.slice(0, costsKept);
    const cost = targetUrl === undefined ? undefined : await this.#pinsOf(id).cost(last, targetUrl);
    return { pins, ...(cost !== undefined && { pinCostWei: cost.toString() }) };
  }

  /** A page of earlier pins. */
  async before(id: string, end: number): Promise<TetherView["pins"]> {
    const { reports = 0 } = await this.factsOf(id);
    return Number.isInteger(end) ? this.#pinsOf(id).newest(Math.min(end, reports), mostPins) : [];
  }

  #pinsOf(id: string): Pins {
    const pins = this.#pins.get(id) ?? new Pins(this.client, id);
    this.#pins.set(id, pins);
    return pins;
  }
}
