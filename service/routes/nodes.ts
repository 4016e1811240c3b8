import type { FastifyInstance, FastifyRequest } from "fastify";
import { z } from "zod";
import type { Context } from "../http/context";
import { Refusal } from "../errors";
import { name, optional } from "../http/bodies";
import { accountsOfChain, runtimeOf } from "../store/ledgers";
import { firstStart, stateAt } from "../store/entities";
import { itemPath, type Making, reach, resource, show } from "./crud";
import { refusePaused, startWaiting } from "./environments";

/** Picks an account of the chain that no other member ever had: the member's own unused one, or a new one. */
function accountFor({ context: { store }, environment }: Making, membership: string): number {
  const nodes = store.children("node", environment.id).map(({ fields }) => fields);
  const owners = [...(environment.fields.accountOwners ?? [])];
  const used = new Set(nodes.map(({ account = 0 }) => account));
  const own = [...owners.keys()].filter((index) => owners[index] === membership);
  const free = own.find((index) => !used.has(index));
  if (free !== undefined) return free;
  const index = owners.length < accountsOfChain ? owners.length : own[0];
  if (index === undefined)
    throw new Refusal(
      409,
      `The limit is reached: this ledger has ${accountsOfChain} accounts, and earlier nodes have used them all.`,
    );
  owners[index] = membership;
  store.put([{ ...environment, fields: { ...environment.fields, accountOwners: owners } }]);
  return index;
}

/** Fields of a node that can be changed. A reset makes the change take effect. */
const changing = {
  size: optional,
  kms_id: optional,
  opsmetric_id: optional,
  backup_id: optional,
  networking_id: optional,
  node_config_id: optional,
  baf_id: optional,
};

export const smallest = "small";

/** Allocates a separate port for each node and service in a zone that is bridged to other networks. */
export function portOf({ context: { store }, environment }: Making, zone: string | undefined) {
  if (zone === undefined || store.get("zone", zone)?.fields.bridge_id === undefined) return {};
  const all = [...store.children("node", environment.id), ...store.children("service", environment.id)];
  const used = new Set(all.map(({ fields }) => fields.hybrid_port_allocation));
  let hybrid_port_allocation = 40_000;
  while (used.has(hybrid_port_allocation)) hybrid_port_allocation++;
  return { hybrid_port_allocation };
}

export const node = resource({
  kind: "node",
  parents: ["consortium", "environment"],
  create: z.object({
    membership_id: name,
    name: name.optional(),
    role: optional,
    zone_id: optional,
    database_type: optional,
    ...changing,
  }),
  patch: z.object({ name: name.optional(), ...changing }).partial(),
  filters: ["name"],
  limit: "nodes",
  make(making, body) {
    refusePaused(making.environment);
    const { provider, consensus_type } = making.environment.fields;
    const account = accountFor(making, body.membership_id);
    const chosen = { role: body.role ?? "validator", size: body.size ?? smallest, ...portOf(making, body.zone_id) };
    return { fields: { ...body, ...chosen, provider, consensus_type, ...(account ? { account } : {}) } };
  },
  made(context, { parent }) {
    startWaiting(context, parent);
    context.backend.ledger.prepare?.(context.store.get("environment", parent)!);
  },
  view(context, entity, at, host) {
    const first_user_account = context.backend.ledger.accountOf(entity);
    const rpc = runtimeOf(context, entity, host);
    const started = { first_user_account, urls: { rpc, wss: rpc.replace(/^http/, "ws") } };
    const { extended, emptyUrls } = context.settings.quirks;
    const starting = emptyUrls ? { urls: { wss: "" } } : {};
    const { size = smallest } = entity.fields;
    const fields = { ...entity.fields, size, account: undefined, first_user_account: undefined };
    if (!extended) return show(context, entity, { ...fields, size: undefined }, at);
    return show(context, entity, { ...fields, ...(firstStart(entity, at) === undefined ? starting : started) }, at);
  },
  resets: true,
  extended: ["role", "zone_id", "database_type", ...(Object.keys(changing) as (keyof typeof changing)[])],
});

/** The clients of each provider that have a log. */
const logsOf = { quorum: ["geth", "constellation"], geth: ["geth"], pantheon: ["geth", "pantheon"] };

/** Endpoints that only nodes have: status and logs. */
export function nodeRoutes(app: FastifyInstance, context: Context): void {
  const target = (request: FastifyRequest) => reach(context, request, ["consortium", "environment", "node"]);

  app.get(`${itemPath(node)}/status`, async (request) => {
    const [, , environment, entity] = target(request);
    const state = stateAt(entity, context.clock());
    if (state !== "started") throw new Refusal(409, `The node ${entity.id} has no status yet: it is ${state}.`);
    refusePaused(environment);
    return context.backend.ledger.status(environment, entity, request.headers.host);
  });

  app.get(`${itemPath(node)}/logs/:client`, async (request) => {
    const [, , environment, entity] = target(request);
    const { client } = request.params as { client: string };
    const clients = logsOf[environment.fields.provider];
    if (!clients.includes(client))
      throw new Refusal(400, `There is no log of ${client} here: use ${clients.join(" or ")}.`);
    const { maxlines = "100" } = request.query as { maxlines?: string };
    if (!/^[1-9]\d{0,5}$/.test(maxlines)) throw new Refusal(400, "maxlines must be a whole number from 1 to 999999.");
    const lines = await context.backend.ledger.log(environment, entity, client);
    return lines.slice(-Number(maxlines));
  });
}
