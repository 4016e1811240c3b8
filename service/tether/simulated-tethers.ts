import type { Context } from "../context";
import { networks, type Entity, type Network } from "../store/entities";
import { Refusal } from "../http/errors";
import { address, hash } from "../ledger/simulated-hashes";
import { blockHash, blockHeight } from "../ledger/simulated-ledger";
import { stateAt } from "../store/states-over-time";

/** What the public chains charge, in wei. */
export const costs = { deploy: 5_000_000_000_000_000n, pin: 100_000_000_000_000n };

/** How many overdue reports one look makes at most; those before are left out. */
const mostAtOnce = 10_000;

export const accountOf = (tether: Entity<"tether">) => address("tether", tether.id);

export const deployedNetworks = ({ fields }: Entity<"tether">) => networks.filter((net) => fields.deployments[net] > 0);

export function tetherState(tether: Entity<"tether">): string {
  const { active, activated, network } = tether.fields;
  if (active) return "active";
  if (activated) return "inactive";
  return network && tether.fields.deployments[network] > 0 ? "deployed" : "initial";
}

/** The environment it pins: the newest of its name, or else the organization's first one. */
export function boundEnvironment({ store }: Context, tether: Entity<"tether">): Entity<"environment"> | undefined {
  const name = tether.fields.environmentName;
  const own = store.all("environment").filter(({ organization }) => organization === tether.organization);
  return name === undefined ? own[0] : own.findLast(({ fields }) => fields.name === name);
}

export function pay(tether: Entity<"tether">, network: Network, wei: bigint): Entity<"tether">["fields"]["balances"] {
  const { balances } = tether.fields;
  const left = BigInt(balances[network]) - wei;
  if (left >= 0n) return { ...balances, [network]: String(left) };
  throw new Refusal(
    402,
    `The account ${accountOf(tether)} has no funds on ${network}: it owns ${balances[network]} wei and needs ${wei}.`,
  );
}

/** Makes the reports that are due by now: nothing runs in the background, whoever looks sees what has happened. */
export function caughtUp(context: Context, tether: Entity<"tether">): Entity<"tether"> {
  const { store, clock, settings } = context;
  const { active, interval, nextPin, network } = tether.fields;
  const now = clock();
  if (!active || !network || interval === undefined || nextPin === undefined || nextPin > now) return tether;

  const step = interval * settings.timing.tetherHour;
  const due = Math.floor((now - nextPin) / step) + 1;
  const environment = boundEnvironment(context, tether);
  const reports: Entity<"report">[] = [];
  let { fields } = tether;
  for (let index = Math.max(0, due - mostAtOnce); index < due; index++) {
    if (!environment || BigInt(fields.balances[network]) < costs.pin) break; // unpaid, so not pinned
    const at = nextPin + index * step;
    reports.push(report(context, tether, fields.reports, environment, at));
    fields = { ...fields, reports: fields.reports + 1, balances: pay({ ...tether, fields }, network, costs.pin) };
  }
  const next: Entity<"tether"> = { ...tether, changedAt: now, fields: { ...fields, nextPin: nextPin + due * step } };
  store.put([...reports, next]);
  return next;
}

function report(
  context: Context,
  tether: Entity<"tether">,
  index: number,
  environment: Entity<"environment">,
  at: number,
) {
  const height = blockHeight(context, environment, at);
  const states = context.store.listed("node", environment.id, at).map((node) => ({
    node_id: node.id,
    node_name: node.fields.name,
    state: stateAt(node, at),
    block_height: height,
    block_hash: blockHash(environment.id, height),
    state_root: hash("state", node.id, height),
    reported_at: new Date(at).toISOString(),
  }));
  const made: Entity<"report"> = {
    ...{ kind: "report", id: `${tether.id}:${index}`, parent: tether.id, organization: tether.organization },
    ...{ state: "active", createdAt: at, changedAt: at, revision: 0 },
    fields: { states },
  };
  return made;
}
