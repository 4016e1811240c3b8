import type { FastifyInstance } from "fastify";
import { z } from "zod";
import type { Base } from "../context";
import { Refusal } from "../errors";
import { admittedToService, servicePath } from "../http/authentication";
import { details, name, optional } from "../http/bodies";
import { type Entity, firstStart } from "../store/entities";
import { resource, show } from "./crud";
import { portOf, smallest } from "./nodes";

/** Utility services are there once in an environment, for all of its members; each member may have others. */
const types = {
  idregistry: "utility",
  ipfs: "member",
  documentstore: "member",
  dataexchange: "member",
  hdwallet: "member",
} as const;

type ServiceType = keyof typeof types;
export const typeOf = ({ fields }: Entity<"service">) => types[fields.service as ServiceType];

export const service = resource({
  kind: "service",
  parents: ["consortium", "environment"],
  create: z.object({
    service: z.enum(Object.keys(types) as [ServiceType]),
    membership_id: name,
    name: name.optional(),
    zone_id: optional,
    size: optional,
    details: details.optional(),
  }),
  patch: z.object({ name: name.optional(), size: optional, details: details.optional() }).partial(),
  filters: ["name", "service"],
  make(making, body) {
    const { context, environment } = making;
    const same = context.store
      .children("service", environment.id)
      .find(({ fields }) => fields.service === body.service);
    if (same && typeOf(same) === "utility")
      throw new Refusal(
        409,
        `The environment has a utility service of the type ${body.service} already: ${same.id}. Its members share it.`,
      );
    return { fields: { ...body, size: body.size ?? smallest, ...portOf(making, body.zone_id) } };
  },
  view(context, entity, at, host) {
    const urls = { http: `${context.origin(host)}/services/${entity.parent}/${entity.id}` };
    const started = firstStart(entity, at) === undefined ? {} : { urls };
    return show(context, entity, { size: smallest, ...entity.fields, service_type: typeOf(entity), ...started }, at);
  },
  resets: true,
});

/** The addresses of services: nothing answers there but this. */
export function serviceEndpoints(app: FastifyInstance, { store }: Base): void {
  for (const path of [servicePath, `${servicePath}/*`])
    app.all(path, (request, reply) => {
      const { id, fields } = admittedToService(store, request, reply, (one) => typeOf(one) === "utility");
      throw new Refusal(501, `No ${fields.service} stands behind the service ${id}: this service only manages it.`);
    });
}
