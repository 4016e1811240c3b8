import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { answer } from "./responses";
import { organizationOf } from "../http/authentication";
import { changesIn, parse } from "../http/bodies";
import type { Context } from "../context";
import type { Entity } from "../store/entities";
import { Refusal } from "../errors";
import { deleteObject } from "../store/deletion";
import { itemPath, labelOf, listPath, reach, type Making, type Resource } from "./resource";
import { firstState } from "../store/states-over-time";

/** The endpoints of one kind of object: create, list, read, change, delete. */
export function serve(app: FastifyInstance, context: Context, row: Resource): void {
  const { settings, store, clock } = context;
  const within = (request: FastifyRequest) => reach(context, request, row.parents);
  const target = (request: FastifyRequest) => reach(context, request, [...row.parents, row.kind]).at(-1)!;
  const view = (entity: Entity, at = clock()) => row.view(context, entity as never, at);

  app.post(listPath(row), (request, reply) => {
    const parents = within(request);
    const body = parse(row.create, request.body, settings.answers.strictBodies);
    const parent = parents.at(-1)!;
    if (parent.state === "deleting") throw new Refusal(409, `The ${parent.kind} ${parent.id} is being deleted.`);
    allow(context, row, parent.id);
    const organization = organizationOf(request);
    const [, consortium, environment] = parents;
    const { id, fields, once } = row.make({ context, organization, consortium, environment } as Making, body);
    const made = store.create({
      kind: row.kind,
      parent: parent.id,
      organization: organization.id,
      ...firstState(row.kind, clock(), settings.timing),
      ...{ fields, id },
    });
    row.made?.(context, made);
    return answer(context, reply, settings.answers.created, { ...view(made), ...once }, once !== undefined);
  });

  app.get(listPath(row), (request) => {
    const parent = within(request).at(-1)!;
    if (row.kind === "credential") supported(settings.answers.listCredentials, "Credentials cannot be listed");
    const at = clock() - settings.timing.listLag;
    const query = request.query as Record<string, unknown>;
    const filters = (row.filters ?? []).filter((name) => query[name] !== undefined);
    return store
      .listed(row.kind, parent.id, at)
      .filter(({ fields }) => filters.every((name) => (fields as Record<string, unknown>)[name] === query[name]))
      .map((entity) => view(entity, at));
  });

  app.get(itemPath(row), (request) => {
    const entity = target(request);
    if (row.kind !== "node") supported(settings.answers.getById || 404, `A ${labelOf(row.kind)} cannot be read by id`);
    return view(entity);
  });

  app.patch(itemPath(row), (request, reply: FastifyReply) => {
    supported(settings.answers.patch, `A ${labelOf(row.kind)} cannot be changed`);
    const entity = target(request);
    const body = parse(row.patch, changesIn(request.body, view(entity)), true);
    const given = Object.entries(body).map(([name, value]) => [name, value === null ? undefined : value] as const);
    const changed = given.length > 0 ? store.setFields(row.kind, entity.id, Object.fromEntries(given)) : entity;
    return answer(context, reply, settings.answers.updated, view(changed));
  });

  app.delete(itemPath(row), (request, reply) => {
    const entity = target(request);
    const blocker = row.blocker?.(context, entity as never);
    if (blocker !== undefined)
      throw new Refusal(409, `The ${labelOf(row.kind)} ${entity.id} cannot be deleted: ${blocker}.`);
    const removed = entity.state === "deleting" ? entity : deleteObject(context, entity);
    return answer(context, reply, settings.answers.deleted[row.kind], view(removed));
  });
}

/** Quotas are a matter of what is there, not of the request as such: 409 rather than 400. */
function allow(context: Context, row: Resource, parent: string): void {
  if (!row.limit) return;
  const most = context.settings.limits[row.limit];
  if (context.store.children(row.kind, parent).length < most) return;
  throw new Refusal(409, `The limit is reached: at most ${most} ${row.limit} are allowed here.`);
}

/** Refuses what the settings say this service does not offer. */
export function supported(setting: true | number, what: string): void {
  if (setting !== true) throw new Refusal(setting, `${what} here.`);
}
