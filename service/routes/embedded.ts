import type { FastifyInstance, FastifyRequest } from "fastify";
import { z } from "zod";
import type { Context } from "../http/context";
import { Refusal, ServiceError } from "../errors";
import type { FaultRule, Faults } from "../faults";
import { organizationOf } from "../http/authentication";
import { name, parse } from "../http/bodies";
import type { CallLog } from "../http/call-log";
import { send } from "../http/calls";
import { type Rights, screen } from "../ledger/screening";
import { acceptInvitation, invitationsTo } from "../store/sharing";
import { newTether, tetherState } from "../tether/tethering";
import { reach } from "./crud";
import { reads } from "./target-networks";

/** Actions that the hosted service offers only in its console, and tools for tests. All are limited to the key's organization. */
const prefix = "/embedded";

/** Calls with this header only observe: they are not logged, delayed or hit by faults. */
export const observerHeader = "consortium-observer";

interface Parts {
  log: CallLog;
  faults: Faults;
}

const newKey = z.object({ name });
const order = z.object({ environment: name.optional() });
/** A fault. `times` may be null, for always. `Faults.add` checks the rest. */
const given = z.looseObject({ kind: z.string(), route: z.string().optional() });
const most = 500;

export function embeddedRoutes(app: FastifyInstance, context: Context, parts: Parts): void {
  const { settings, backend } = context;
  app.get(prefix, quiet, (request) => {
    const { id, fields } = organizationOf(request);
    const { limits, timing } = settings;
    return { organization: { id, name: fields.name }, ledger: backend.state, limits, tether_hour: timing.tetherHour };
  });
  keys(app, context);
  tethers(app, context);
  faults(app, context, parts.faults);
  invitations(app, context);

  app.get(`${prefix}/calls`, quiet, (request) => {
    const { after = "0" } = request.query as { after?: string };
    if (!/^\d{1,15}$/.test(after)) throw new Refusal(400, "after must be a whole number from 0.");
    const { fields } = organizationOf(request);
    const { calls, count } = parts.log.after(Number(after));
    const own = calls.filter(({ organization }) => organization === fields.name);
    return { count, calls: own.slice(-most) };
  });

  const chain = `/consortia/:consortiumId/environments/:environmentId/rpc`;
  const limits = settings.callLimits;
  const only = { methods: reads, because: "needs an application credential and a node" };
  app.post(`${prefix}${chain}`, { ...quiet, bodyLimit: 65_536 }, async (request, reply) => {
    const [, , environment] = reach(context, request, ["consortium", "environment"]);
    const { ledger } = backend;
    if (!ledger.chain) throw new Refusal(501, "No ledger is attached: the nodes are simulated.");
    const reached = () => ledger.chain!(environment);
    const { profile } = (await reached()).spec;
    const rights: Rights = { limits, profile, socket: false, only, report: context.report };
    return send(reply, screen(request.body, rights), reached, rights);
  });
}

const quiet = { config: { quiet: true } };

function keys(app: FastifyInstance, { organizations, settings }: Context): void {
  const where = `${prefix}/api-keys`;
  app.get(where, quiet, (request) =>
    organizations.furtherKeys(organizationOf(request).id).map(({ id, createdAt, fields }) => {
      return { id, name: fields.name, created_at: new Date(createdAt).toISOString() };
    }),
  );
  app.post(where, quiet, (request, reply) => {
    const { name } = parse(newKey, request.body, settings.quirks.strictBodies);
    const { made, key } = organizations.makeKey(organizationOf(request).id, name);
    return reply.code(201).send({ id: made.id, name, created_at: new Date(made.createdAt).toISOString(), key });
  });
  app.delete(`${where}/:id`, quiet, (request, reply) => {
    const { id } = request.params as { id: string };
    if (organizations.revokeKey(organizationOf(request).id, id)) return reply.code(204).send();
    throw new Refusal(404, `There is no API key ${id} to revoke.`);
  });
}

function tethers(app: FastifyInstance, { store, settings }: Context): void {
  app.get(`${prefix}/tethers`, quiet, (request) =>
    store.children("tether", organizationOf(request).id).map((tether) => ({
      id: tether.id,
      environment: tether.fields.environmentName,
      state: tetherState(tether),
    })),
  );
  app.post(`${prefix}/tethers`, quiet, (request, reply) => {
    const { environment } = parse(order, request.body, settings.quirks.strictBodies);
    const tether = store.create(newTether(organizationOf(request).id, environment, {}));
    return reply.code(201).send({ id: tether.id, environment, state: tetherState(tether) });
  });
}

function invitations(app: FastifyInstance, context: Context): void {
  const where = `${prefix}/invitations`;
  const { store } = context;
  app.get(where, quiet, (request) =>
    invitationsTo(context, organizationOf(request)).map(({ id, parent, organization, fields }) => ({
      id,
      ...fields,
      consortium: { id: parent, name: store.get("consortium", parent)?.fields.name },
      from: store.get("organization", organization)?.fields.name,
    })),
  );
  app.post(`${where}/:id/accept`, quiet, (request, reply) => {
    const { id } = request.params as { id: string };
    const caller = organizationOf(request);
    const invitation = invitationsTo(context, caller).find((one) => one.id === id);
    if (!invitation) throw new Refusal(404, `The organization ${caller.fields.name} has no open invitation ${id}.`);
    try {
      const { id: membership, parent: consortium } = acceptInvitation(context, invitation, caller);
      return reply.code(201).send({ consortium, membership });
    } catch (error) {
      throw error instanceof ServiceError ? new Refusal(409, error.message) : error;
    }
  });
}

/** Faults over HTTP: only for calls of the key's organization, on existing routes, without effects on others. */
function faults(app: FastifyInstance, context: Context, rules: Faults): void {
  const where = `${prefix}/faults`;
  const routes = () =>
    [...rules.routes].filter((route) =>
      /^\/(consortia|tether|releases|idregistry|documentstore|dataexchange|authtoken|orgs|apikeys|memberships|regions|plans)/.test(
        route,
      ),
    );
  const shown = (request: FastifyRequest) =>
    rules.of(organizationOf(request).id).map(({ id, rule, seen, hits }) => ({ id, rule, seen, hits }));
  app.get(where, quiet, (request) => ({ routes: routes(), faults: shown(request) }));
  app.post(where, quiet, (request, reply) => {
    const { data } = given.safeParse(request.body);
    if (!data) throw new Refusal(400, "The body must be a fault with its kind.");
    const { times, ...rule } = data;
    if (rule.kind === "refuse")
      throw new Refusal(403, "This fault would hit all organizations: only startService() can add it.");
    if (rule.route !== undefined && !rules.routes.has(rule.route)) {
      throw new Refusal(400, `There is no route ${rule.route}; there are ${routes().join(", ")}.`);
    }
    const always = times === null ? { times: Infinity } : times === undefined ? {} : { times };
    try {
      rules.add({ ...rule, ...always } as FaultRule, organizationOf(request).id);
    } catch (error) {
      throw error instanceof ServiceError ? new Refusal(400, error.message) : error;
    }
    return reply.code(201).send(shown(request).at(-1));
  });
  for (const path of [where, `${where}/:id`]) {
    app.delete(path, quiet, (request, reply) => {
      const { id } = request.params as { id?: string };
      const taken = rules.take(organizationOf(request).id, id);
      if (id !== undefined && taken === 0) throw new Refusal(404, `There is no fault ${id} in force.`);
      return reply.code(204).send();
    });
  }
}
