import type { FastifyReply } from "fastify";
import type { Context } from "../context";
import type { Entity, Wire } from "../store/entities";
import { Refusal } from "../errors";
import { stateAt } from "../store/states-over-time";

/** What every object of the API carries, around the fields of its kind. */
export function show(context: Context, entity: Entity, fields: object, at: number): Wire {
  return withUnknownFields(context, {
    [context.settings.answers.idField]: entity.id,
    state: stateAt(entity, at),
    _revision: String(entity.revision),
    created_at: new Date(entity.createdAt).toISOString(),
    ...fields,
  });
}

/** With the fields that nobody knows, where the settings want them. */
export function withUnknownFields(context: Context, object: Wire): Wire {
  if (!context.settings.answers.unknownFields) return object;
  return { description: null, x_plan: { tier: 2, renews: null }, x_labels: [], x_retired_at: null, ...object };
}

/** Answers a change; the body is left out where the settings or the status want none. */
export function answer(context: Context, reply: FastifyReply, status: number, body: Wire, always = false) {
  const silent = status === 204 || status === 205 || (context.settings.answers.emptyBodies && !always);
  return silent ? reply.code(status).send() : reply.code(status).send(body);
}

/** What a request to an object gets that is unknown, deleted, or another organization's. */
export function gone(context: Context, what: string, id: string): Refusal {
  const status = context.settings.answers.gone;
  const why = status === 403 ? "is not accessible" : status === 410 ? "is no longer there" : "was not found";
  return new Refusal(status, `The ${what} ${id} ${why}: it may have been deleted, or never have been.`);
}
