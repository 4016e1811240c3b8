import { type Clock, type ConsortiumClient, isApiError, systemClock } from "../provider/api";
import { briefly } from "../provider/api/api-error";
import { conditionOf } from "../provider/api/states";
import { newSession } from "../provider/core/session";
import { groupBy } from "../provider/plain";
import { type Found, listed, readOrganization } from "../provider/resources/tree";
import { type NetworkModel } from "./model";
import { driftOf } from "./drift";
import { idOf, modelOf, type Row } from "./rows";
import { onlyOf, type StackRead, withStacks } from "./stack";
import { asked, isAbout, type ObservedTether, observeTether } from "./tethers";

interface LiveOptions {
  /** Id or name of the one consortium to look at. Default: all. */
  consortium?: string;
  /** Ids of the tethers to look at: the API has no list of them. */
  tethers?: readonly string[];
  /** Whether to ask every node that may answer for its addresses and height: one request each. Default: no. */
  nodeStatus?: boolean;
  /** Whether unanswered questions become `unseen` in the model instead of errors. The list of consortia must be answered. Default: no. */
  partial?: boolean;
  /** Stacks to compare with: see `withStacks`. Their objects in other consortia than the chosen one are ignored. Default: none. */
  stacks?: readonly StackRead[];
  /** Whether to ask what the plan allows, once for each client. Default: no, so the starter plan's limits apply. */
  plan?: boolean;
}

/**
 * The organization of a key as the service shows it. All callers share one client with its limit of requests, and each thing is
 * requested only once while its answer is recent enough.
 */
export class LiveNetwork {
  readonly #session;
  /** Answers other than lists, and when each was requested. */
  readonly #responseCache = new Map<string, { at: number; answer: Promise<unknown> }>();

  /** @param maxAgeMs maximum age of an answer */
  constructor(
    readonly client: ConsortiumClient,
    private readonly maxAgeMs = 2_000,
    private readonly clock: Clock = systemClock,
  ) {
    this.#session = newSession(client, { clock });
  }

  async look({
    consortium,
    tethers = [],
    nodeStatus = false,
    partial = false,
    plan = false,
    stacks = [],
  }: LiveOptions = {}): Promise<NetworkModel> {
    const unseen = new Map<string, string>();
    const failed = (id: string, error: unknown): void => {
      if (!partial || !isApiError(error)) throw error;
      unseen.set(id, unseen.get(id) ?? briefly(error));
    };
    const looking = { maxAgeMs: this.maxAgeMs, failed: ({ id }: Found, error: unknown) => failed(id, error) };
    const [found, pinning, told = {}] = await Promise.all([
      readOrganization(this.#session, looking, consortium),
      Promise.all(tethers.map((id) => this.tether(id, partial))),
      plan ? this.client.limits().catch(() => undefined) : undefined,
    ]);
    const all = (await listed(this.#session, "consortium", {}, this.maxAgeMs))!; // as it was listed above
    const rows = await Promise.all(
      found.flatMap(rowsOf).map(async (row) => {
        const { id, kind } = row;
        const status =
          nodeStatus && kind === "node" ? await this.#status(row, (error) => failed(id, error), partial) : {};
        return { ...row, props: { ...row.props, ...status }, unseen: unseen.get(id) };
      }),
    );
    const nodes = rows.filter(({ kind }) => kind === "node");
    const bound = pinning.map(({ row, report }): Row => {
      const environmentId = nodes.find(({ id }) => isAbout(report, id))?.props.environmentId;
      return { ...row, props: { ...row.props, environmentId } };
    });
    const live = modelOf(withDrift([...rows, ...bound], stacks), { source: "live" });
    const models = stacks.map((one) => (consortium === undefined ? one.model : onlyOf(one.model, live)));
    const model = models.length === 0 ? live : withStacks(live, models);
    const owners = new Set(all.map(({ props }) => props.owner));
    return {
      ...model,
      ...(owners.size === 1 && { organization: all[0]?.props.owner }),
      // The limit of consortia applies to the organization, whichever of them are shown.
      limits: model.limits.map((one) => ({
        ...one,
        ...(one.kind === "consortia" && { used: all.length }),
        most: told[one.kind] ?? one.most,
      })),
    };
  }

  /** A tether service and its newest report. @param partial whether unanswered questions become `unseen` instead of errors */
  tether(id: string, partial = false): Promise<ObservedTether> {
    const failed = (error: unknown): void => {
      if (!partial || !isApiError(error)) throw error;
    };
    return this.#once(`tether ${id} ${partial}`, () => observeTether(this.client, id, failed));
  }

  /** A node's status, except in states where it has none. */
  async #status({ id, props }: LiveRow, failed: (error: unknown) => void, partial: boolean): Promise<Row["props"]> {
    if (!mayAnswer(props.state)) return {};
    const { consortiumId = "", environmentId = "" } = props as Record<string, string>;
    const isLax = !partial || conditionOf(props.state) !== "ready";
    const status = await asked(
      this.#once(`${consortiumId}/${environmentId}/${id}/status`, () =>
        this.client.getNodeStatus(consortiumId, environmentId, id),
      ),
      // A node that has just started, or is stopped, may not answer.
      (error) => (isLax && isApiError(error, "server", "unavailable")) || failed(error),
    );
    const { urls, geth, block_height: blockHeight } = status ?? {};
    return { urls, blockHeight, publicAddress: geth?.public_address, validators: geth?.validators };
  }

  /** The answer of `ask`, or its recent answer for this key. */
  #once<T>(key: string, ask: () => Promise<T>): Promise<T> {
    const oldest = this.clock.now() - this.maxAgeMs;
    // A console runs for days, so answers about deleted objects must not accumulate.
    for (const [old, { at }] of this.#responseCache) if (at < oldest) this.#responseCache.delete(old);
    const known = this.#responseCache.get(key);
    if (known) return known.answer as Promise<T>;
    const entry = { at: this.clock.now(), answer: ask() };
    this.#responseCache.set(key, entry);
    entry.answer.catch(() => this.#responseCache.get(key) === entry && this.#responseCache.delete(key));
    return entry.answer;
  }
}

/** Each row with how it differs from the stacks that have it. */
function withDrift(rows: readonly Row[], stacks: readonly StackRead[]): Row[] {
  const known = groupBy(
    stacks.flatMap((stack) => stack.rows.filter(({ id, state }) => id !== undefined && state !== undefined)),
    keyOf,
  );
  return rows.map((row) => {
    const drift = (known.get(keyOf(row)) ?? []).flatMap(({ kind, state }) =>
      driftOf(kind, state!, row.props, row.lacked),
    );
    return { ...row, drift: [...new Set(drift)] };
  });
}

const keyOf = (row: Row): string => `${row.kind} ${idOf(row)}`;

/** Whether a node may answer: not pending, failed or being deleted. */
export const mayAnswer = (state: unknown): boolean => ["ready", "stopped", "unknown"].includes(conditionOf(state));

type LiveRow = Row & { id: string };

const rowsOf = ({ kind, id, place, props, lacked, inside, unlisted }: Found): LiveRow[] => [
  { kind, id, props: { ...place, ...props }, lacked, ...(unlisted && { unlisted }) },
  ...inside.flatMap(rowsOf),
];
