import type { FastifyInstance, FastifyRequest } from "fastify";
import { z } from "zod";
import type { Base } from "../context";
import type { Context } from "../http/context";
import { Refusal } from "../errors";
import { admitted, organizationOf, servicePath } from "../http/authentication";
import { details, name, optional, parse } from "../http/bodies";
import { deleteObject, identitiesIn } from "../store/deletion";
import { refuseOthers, sees } from "../store/sharing";
import { type Entity, firstStart, isUtility, stateAt } from "../store/entities";
import { answer, gone, resource, show, withUnknownFields } from "./crud";
import { refusePaused } from "./environments";
import { portOf, smallest } from "./nodes";

export const service = resource({
  kind: "service",
  parents: ["consortium", "environment"],
  create: z.object({
    service: name,
    membership_id: name,
    name: name.optional(),
    zone_id: optional,
    size: optional,
    details: details.optional(),
  }),
  patch: z
    .object({
      name: name.optional(),
      size: optional,
      details: details.nullish().transform((given) => given ?? undefined),
    })
    .partial(),
  filters: ["name", "service"],
  make(making, body) {
    const { context, environment } = making;
    refusePaused(environment);
    const same = context.store
      .children("service", environment.id)
      .find(({ fields }) => fields.service === body.service);
    if (same && isUtility(same))
      throw new Refusal(
        409,
        `The environment already has a utility service of the type ${body.service}: ${same.id}. Its members share it.`,
      );
    return { fields: { ...body, size: body.size ?? smallest, ...portOf(making, body.zone_id) } };
  },
  view(context, entity, at, host) {
    const urls = { http: `${context.origin(host)}/services/${entity.parent}/${entity.id}` };
    const started = firstStart(entity, at) === undefined ? {} : { urls };
    const { size = smallest } = entity.fields;
    const service_type = isUtility(entity) ? "utility" : "member";
    return show(context, entity, { ...entity.fields, size, service_type, ...started }, at);
  },
  resets: true,
});

/** The addresses of services. Nothing runs behind them. */
export function serviceEndpoints(app: FastifyInstance, { store }: Base): void {
  for (const path of [servicePath, `${servicePath}/*`])
    app.all(path, (request, reply) => {
      const { id, fields } = admitted("service", store, request, reply).found;
      throw new Refusal(501, `No ${fields.service} runs behind the service ${id}: this service only manages it.`);
    });
}

type Service = Entity<"service">;

/** An organization uses its own services, and the utility services of environments that it shares. */
function mayUse(base: Base, organization: string, service: Service): boolean {
  const environment = base.store.get("environment", service.parent);
  const consortium = environment && base.store.get("consortium", environment.parent);
  if (!consortium || !sees(base, organization, consortium)) return false;
  return service.organization === organization || isUtility(service);
}

/** Finds the service of a path that names its type. Refuses one that is not started. */
function reachService(context: Context, request: FastifyRequest, type: string): Service {
  const { serviceId } = request.params as { serviceId: string };
  const found = context.store.get("service", serviceId);
  if (found?.fields.service !== type || !mayUse(context, organizationOf(request).id, found))
    throw gone(context, type, serviceId);
  const state = stateAt(found, context.clock());
  if (state !== "started") throw new Refusal(409, `The service ${serviceId} does not answer: it is ${state}.`);
  return found;
}

const registration = z.object({ membership_id: name });

/** Registers a verified membership with an id registry. */
export function identityRoutes(app: FastifyInstance, context: Context): void {
  const { store, settings } = context;
  app.post("/idregistry/:serviceId/identity", (request, reply) => {
    const registry = reachService(context, request, "idregistry");
    const { membership_id } = parse(registration, request.body, settings.quirks.strictBodies);
    const membership = store.get("membership", membership_id);
    if (membership?.parent !== store.get("environment", registry.parent)!.parent)
      throw new Refusal(400, `membership_id: ${membership_id} is not a membership of this consortium.`);
    refuseOthers(organizationOf(request).id, membership);
    if (membership.fields.verification_proof === undefined)
      throw new Refusal(409, `The membership ${membership_id} is not verified: POST to its /verify first.`);
    if (isRegistered(context, registry.parent, membership_id))
      throw new Refusal(409, `The membership ${membership_id} is already registered.`);
    const { organization } = membership;
    const { id: parent } = registry;
    const draft = { kind: "identity", parent, organization, due: undefined, fields: { membership_id } } as const;
    store.create(draft);
    return answer(context, reply, settings.quirks.updated, withUnknownFields(context, { membership_id }));
  });
}

const isRegistered = (base: Base, environment: string, membership: string) =>
  identitiesIn(base, environment, membership).length > 0;

/** Fields that clients may send back unchanged. */
const shownToo = { uri: z.unknown().optional(), setup_complete: z.unknown().optional() };
const destination = z.object({ name: optional, kaleido_managed: z.boolean().optional(), ...shownToo });

/** Destinations of a member's documents and messages. Clients PUT them under a name. */
export function destinationRoutes(app: FastifyInstance, context: Context): void {
  const { store, settings, clock } = context;
  const view = (of: Service, { fields }: Entity<"destination">) => {
    const { service: type, membership_id: member } = of.fields;
    const place = `${type}/m/${member}/e/${of.parent}/s/${of.id}/d/${encodeURIComponent(fields.name)}`;
    return withUnknownFields(context, { ...fields, uri: `kld://${place}`, setup_complete: true });
  };
  const named = ({ params }: FastifyRequest) => (params as { name: string }).name;
  const find = (of: Service, wanted: string) =>
    store.children("destination", of.id).find(({ fields }) => fields.name === wanted);
  const existing = (of: Service, wanted: string) => {
    const found = find(of, wanted);
    if (!found) throw gone(context, "destination", wanted);
    return found;
  };

  for (const type of ["documentstore", "dataexchange", "app2app"] as const) {
    const list = `/${type}/:serviceId/destinations`;
    const target = (request: FastifyRequest) => reachService(context, request, type);

    app.get(list, (request) => {
      const of = target(request);
      return store.listed("destination", of.id, clock() - settings.timing.listLag).map((one) => view(of, one));
    });

    app.get(`${list}/:name`, (request) => {
      const of = target(request);
      return view(of, existing(of, named(request)));
    });

    app.put(`${list}/:name`, (request, reply) => {
      const of = target(request);
      const given = parse(destination, request.body, settings.quirks.strictBodies);
      const wanted = parse(z.object({ name }), { name: named(request) }, true).name;
      if (given.name !== undefined && given.name !== wanted)
        throw new Refusal(400, `name: the body says ${given.name}, the path says ${wanted}.`);
      belongs(context, of);
      const known = find(of, wanted);
      const kaleido_managed = given.kaleido_managed ?? known?.fields.kaleido_managed ?? true;
      const { organization, id: parent } = of;
      const fields = { name: wanted, kaleido_managed };
      const put = known
        ? store.change(known, { fields })
        : store.create({ kind: "destination", parent, organization, due: undefined, fields });
      return answer(context, reply, settings.quirks.updated, view(of, put));
    });

    app.delete(`${list}/:name`, (request, reply) => {
      const of = target(request);
      const found = existing(of, named(request));
      deleteObject(context, found);
      return answer(context, reply, settings.quirks.deleted.destination, view(of, found));
    });
  }
}

/** Refuses a destination unless its member is verified and registered. */
function belongs(context: Context, { parent, fields: { membership_id: id } }: Service): void {
  const proof = context.store.get("membership", id)?.fields.verification_proof;
  if (proof === undefined)
    throw new Refusal(409, `The membership ${id} is not verified: POST to its /verify, then register it.`);
  if (isRegistered(context, parent, id)) return;
  throw new Refusal(
    409,
    `The membership ${id} is not registered: POST to /idregistry/{service id}/identity of an id registry of this environment.`,
  );
}
