import {
  credentialsFor,
  type EnvironmentModel,
  environmentsOf,
  mayAnswer,
  type NetworkModel,
  overHttp,
  type PlacedCredential,
} from "pulumi-consortium/internal/console";
import { type EnvironmentView } from "../protocol";
import type { Embedded } from "./embedded";
import { type Ask, LedgerHistory } from "./ledger-history";
import type { Stacks } from "./stacks";

/** How long a node may take to answer. */
const patienceMs = 10_000;

/** The ledgers of all environments: asked through the embedded service, or through a node that a stack's credential opens. */
export class Ledgers {
  readonly #histories = new Map<string, LedgerHistory>();

  constructor(
    private readonly embedded: Embedded | undefined,
    private readonly stacks: Stacks,
    private readonly periodMs: number,
  ) {}

  /** Records the heights of all nodes. */
  note(model: NetworkModel): void {
    const at = Math.round(Date.now() / 1000);
    const environments = environmentsOf(model);
    for (const environment of environments) {
      const history = this.#histories.get(environment.id) ?? new LedgerHistory(this.periodMs);
      this.#histories.set(environment.id, history);
      history.note(environment, at);
    }
    const there = new Set(environments.map(({ id }) => id));
    for (const id of this.#histories.keys()) if (!there.has(id)) this.#histories.delete(id);
  }

  /** @param consortium the id of its consortium */
  async view(consortium: string, environment: EnvironmentModel): Promise<EnvironmentView> {
    const history = this.#histories.get(environment.id)!;
    const { embedded } = this;
    const node = embedded ? undefined : openedBy(environment, this.stacks.credentials);
    if (!environment.nodes.some(({ state }) => mayAnswer(state)))
      return history.view("Blocks appear after a node has started.");
    if (embedded && embedded.about.ledger !== "on")
      return history.view("This service simulates its nodes, so there are no blocks.");
    if (!embedded && !node) {
      return history.view(
        "Reading blocks from a node needs a credential: start the console with a stack that has one, such as --stack dev.",
      );
    }
    const provider = node && (await overHttp(node.url, node.credential, undefined, patienceMs));
    const ask: Ask = (method, params) =>
      provider?.send(method, params) ?? embedded!.rpc(consortium, environment.id, method, params);
    try {
      await history.read(ask);
      return history.view();
    } catch (error) {
      return history.view(`Could not read the blocks: ${(error as Error).message}`);
    } finally {
      provider?.destroy();
    }
  }
}

/** The address of a node that may answer, and a credential of its member. */
function openedBy(
  environment: EnvironmentModel,
  credentials: readonly PlacedCredential[],
): { url: string; credential: PlacedCredential } | undefined {
  for (const node of environment.nodes) {
    const [credential] = credentialsFor(environment, node, credentials);
    if (credential && mayAnswer(node.state) && node.urls?.rpc) return { url: node.urls.rpc, credential };
  }
  return undefined;
}
