import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { answer } from "./responses";
import { organizationOf } from "../http/authentication";
import { changesIn, parse, unknownIn } from "../http/bodies";
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
  const view = (entity: Entity, at = clock()) => ({
    ...row.view(context, entity as never, at),
    ...entity.given,
  });

  app.post(listPath(row), (request, reply) => {
    const parents = within(request);
    const body = parse(row.create, request.body, settings.answers.strictBodies);
    const parent = parents.at(-1)!;
    if (parent.state === "deleting") throw new Refusal(409, `The ${parent.kind} ${parent.id} is being deleted.`);
    allow(context, row, parent.id);
    const given = remembered(row, request.body);
    const organization = organizationOf(request);
    const [, consortium, environment] = parents;
    const { id, fields, once } = row.make({ context, organization, consortium, environment } as Making, body);
    const made = store.create({
      kind: row.kind,
      parent: parent.id,
      organization: organization.id,
      ...firstState(row.kind, clock(), settings.timing),
      ...{ fields, id },
      ...(given ? { given } : {}),
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

/** What an object has of the service, and nobody gives it. */
const chosen = new RegExp(
  "^(_.*|id|state|owner|created_at|updated_at|org_id|node_list|urls|username|password|auth_type|provider|consensus_type" +
    "|accounts?|accountOwners|founding)$",
);
const secret = /passw|secret|token|credential|private|api_?key/i;

/** Fields of a create that mean nothing here: they are kept and shown, unless that would be wrong; none is ignored. */
function remembered({ create, kind }: Resource, body: unknown): Record<string, unknown> | undefined {
  const given = unknownIn(create, body);
  for (const name of Object.keys(given)) {
    if (chosen.test(name)) throw new Refusal(400, `The body is not valid: ${name} is for the service to choose.`);
    if (secret.test(name))
      throw new Refusal(400, `The body is not valid: this service has no use for the ${name} of a ${labelOf(kind)}.`);
  }
  if (isDeeper(given, mostNested)) throw new Refusal(400, "The body is not valid: it is nested too deeply.");
  return Object.keys(given).length > 0 ? given : undefined;
}

const mostNested = 32;

const isDeeper = (value: unknown, levels: number): boolean =>
  typeof value === "object" &&
  value !== null &&
  (levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1)));

/** Quotas are a matter of what is there, not of the request as such: 409 rather than 400. */
function allow(context: Context, row: Resource, parent: string): void {
  if (!row.limit) return;
  const most = context.settings.limits[row.limit];
  if (context.store.children(row.kind, parent).length < most) return;
  const raise = `Whoever runs the service can raise it: consortium serve --limit-${row.limit} ${most + 1}.`;
  throw new Refusal(409, `The limit is reached: at most ${most} ${row.limit} are allowed here. ${raise}`);
}

/** Refuses what the settings say this service does not offer. */
export function supported(setting: true | number, what: string): void {
  if (setting !== true) throw new Refusal(setting, `${what} here.`);
}
