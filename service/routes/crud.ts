import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import { organizationOf } from "../http/authentication";
import type { Context } from "../http/context";
import {
  type Entity,
  type FieldsOf,
  firstStart,
  firstState,
  isGoing,
  type ManagedKind,
  stateAt,
  type Wire,
} from "../store/entities";
import { changesIn, parse, unknownIn } from "../http/bodies";
import { soundsSecret } from "../http/call-log";
import { Refusal } from "../errors";
import { deleteObject } from "../store/deletion";
import { refuseMakingIn, refuseOthers, sees, sharedWith } from "../store/sharing";

export interface Making {
  context: Context;
  organization: Entity<"organization">;
  /** The consortium and the environment that contain the object. */
  consortium: Entity<"consortium">;
  environment: Entity<"environment">;
}

/** A change of an object: fields (null and undefined remove one), and a state. */
export interface Changed extends Partial<Pick<Entity, "state" | "due">> {
  fields: Wire;
}

/** The definition of one kind of object, from which `serve` creates its endpoints. */
export interface Resource<K extends ManagedKind = ManagedKind, Shape extends z.ZodRawShape = z.ZodRawShape> {
  kind: K;
  /** The kinds of the ids that come first in the path, outermost first. */
  parents: readonly ManagedKind[];
  create: z.ZodObject<Shape>;
  patch: z.ZodObject;
  /** Query parameters that filter a list by the field of that name. */
  filters?: readonly string[];
  limit?: "consortia" | "environments" | "nodes";
  /** Checks that zod cannot do; returns the fields to store. `once` is shown only in this answer. Default: the body. */
  make?(making: Making, body: z.output<z.ZodObject<Shape>>): { id?: string; fields: FieldsOf[K]; once?: object };
  made?(context: Context, entity: Entity<K>): void;
  /** The changes to store: fields, and a state if it sets one. Default: the body. */
  patched?(context: Context, entity: Entity<K>, body: Wire): Changed;
  changed?(context: Context, entity: Entity<K>): void;
  /** The object as the API shows it to a caller with this Host header. Default: its fields. */
  view?(context: Context, entity: Entity<K>, at: number, host?: string): Wire;
  /** Whether it can be reset to its first state. */
  resets?: boolean;
  /** Fields beyond the specification, accepted only with the setting `extended`. */
  extended?: readonly (keyof Shape)[];
  /** Why it cannot be deleted as it is. */
  blocker?(context: Context, entity: Entity<K>): string | undefined;
}

/** Checks the type of one row, and returns it as the common type of all rows. */
export const resource = <K extends ManagedKind, S extends z.ZodRawShape>(row: Resource<K, S>) =>
  row as unknown as Resource;

const labelOf = (kind: ManagedKind) => (kind === "credential" ? "application credential" : kind);

const oneOf = (kind: ManagedKind) => `${/^[aeio]/.test(labelOf(kind)) ? "An" : "A"} ${labelOf(kind)}`;

const paths: Record<ManagedKind, string> = {
  consortium: "/consortia",
  membership: "/memberships",
  environment: "/environments",
  node: "/nodes",
  credential: "/appcreds",
  zone: "/zones",
  configuration: "/configurations",
  service: "/services",
  invitation: "/invitations",
};

/** `/consortia/:consortiumId/environments`, say. */
const listPath = (row: Pick<Resource, "parents" | "kind">) =>
  [...row.parents.map((kind) => `${paths[kind]}/:${kind}Id`), paths[row.kind]].join("");
export const itemPath = (row: Pick<Resource, "parents" | "kind">) => `${listPath(row)}/:${row.kind}Id`;

/** Finds the objects of a path, from the organization down. Each must be inside the previous one. */
export function reach<const Kinds extends readonly ManagedKind[]>(
  context: Context,
  request: FastifyRequest,
  kinds: Kinds,
): [Entity<"organization">, ...{ -readonly [At in keyof Kinds]: Entity<Kinds[At]> }] {
  const organization = organizationOf(request);
  const params = request.params as Record<string, string>;
  const found: Entity[] = [organization];
  for (const kind of kinds) {
    const id = params[`${kind}Id`] ?? "";
    const entity = context.store.get(kind, id);
    const isThere = entity && (kind === "consortium" || entity.parent === found.at(-1)!.id);
    if (!isThere || !sees(context, organization.id, entity)) throw gone(context, kind, id);
    found.push(entity);
  }
  return found as never;
}

export function own<E extends Entity>(request: FastifyRequest, entity: E): E {
  refuseOthers(organizationOf(request).id, entity);
  return entity;
}

/** The endpoints of one kind of object: create, list, read, change, delete. */
export function serve(app: FastifyInstance, context: Context, row: Resource): void {
  const { settings, store, clock } = context;
  const within = (request: FastifyRequest): Entity[] => reach(context, request, row.parents);
  const target = (request: FastifyRequest) => reach(context, request, [...row.parents, row.kind]).at(-1)!;
  const ownTarget = (request: FastifyRequest) => own(request, target(request));
  const view = (request: FastifyRequest, entity: Entity, at = clock()): Wire => {
    const shown = viewOf(context, row, entity, at, request.headers.host);
    // details may be secret
    return entity.organization === organizationOf(request).id ? shown : { ...shown, details: undefined };
  };
  const specified = without(row, (row.extended ?? []) as readonly string[]);
  const rules = () => (settings.quirks.extended ? row : specified);
  const makingOf = (request: FastifyRequest, [, consortium, environment]: Entity[]) =>
    ({ context, organization: organizationOf(request), consortium, environment }) as Making;

  app.post(listPath(row), (request, reply) => {
    const parents = within(request);
    const body = parse(rules().create, request.body, settings.quirks.strictBodies);
    const parent = parents.at(-1)!;
    refuseMakingIn(organizationOf(request).id, row.kind, parent);
    if (isGoing(parent)) throw new Refusal(409, `The ${parent.kind} ${parent.id} is being deleted.`);
    refuseBeyondLimit(context, row, parent.id);
    const given = remembered(rules(), request.body);
    const making = makingOf(request, parents);
    refuseUnknownReferences(making, body);
    const { id, fields, once } = row.make?.(making, body) ?? { fields: body as never };
    const draft = {
      kind: row.kind,
      parent: parent.id,
      organization: making.organization.id,
      ...firstState(row.kind, clock(), settings),
      fields,
      id,
      ...(given ? { given } : {}),
    };
    const made = store.create(draft);
    row.made?.(context, made);
    return answer(context, reply, settings.quirks.created, { ...view(request, made), ...once }, once !== undefined);
  });

  app.get(listPath(row), (request) => {
    const parent = within(request).at(-1)!;
    if (row.kind === "credential") supported(settings.quirks.listCredentials, "Credentials cannot be listed");
    const at = clock() - settings.timing.listLag;
    const query = request.query as Record<string, unknown>;
    const filters = (row.filters ?? []).filter((name) => query[name] !== undefined);
    const organization = organizationOf(request).id;
    const shared = row.kind === "consortium" ? sharedWith(context, organization, at) : [];
    const found = [...store.listed(row.kind, parent.id, at), ...shared]
      .filter((entity) => row.kind === "consortium" || sees(context, organization, entity))
      .filter(({ fields }) => filters.every((name) => (fields as Record<string, unknown>)[name] === query[name]))
      .map((entity) => view(request, entity, at));
    return pageOf(context, request, found);
  });

  app.get(itemPath(row), (request) => {
    const entity = target(request);
    if (row.kind !== "node") supported(settings.quirks.getById || 404, `${oneOf(row.kind)} cannot be read by id`);
    return view(request, entity);
  });

  app.patch(itemPath(row), (request, reply: FastifyReply) => {
    supported(settings.quirks.patch, `${oneOf(row.kind)} cannot be changed`);
    const entity = ownTarget(request);
    const { patch } = rules();
    const body = parse(patch, changesIn(patch, request.body, view(request, entity)), true);
    refuseUnknownReferences(makingOf(request, within(request)), body);
    const isChange = Object.keys(body).length > 0;
    const changed = isChange
      ? change(entity, row.patched?.(context, entity as never, body) ?? { fields: body })
      : entity;
    if (isChange) row.changed?.(context, changed as never);
    return answer(context, reply, settings.quirks.updated, view(request, changed));
  });
  const change = (entity: Entity, { fields: body, ...states }: Changed) => {
    const changes = Object.entries(body).map(([name, value]) => [name, value === null ? undefined : value] as const);
    const fields = { ...entity.fields, ...Object.fromEntries(changes) } as FieldsOf[ManagedKind];
    return store.change(entity, { fields, ...states });
  };

  if (row.resets)
    app.put(`${itemPath(row)}/reset`, (request, reply) => {
      supported(settings.quirks.extended ? settings.quirks.reset : 404, `${oneOf(row.kind)} cannot be reset`);
      const entity = ownTarget(request);
      parse(z.object({}), request.body, settings.quirks.strictBodies);
      if (isGoing(entity)) throw new Refusal(409, `The ${labelOf(row.kind)} ${entity.id} is being deleted.`);
      const now = clock();
      const again = { ...firstState(row.kind, now, settings), firstStart: firstStart(entity, now) };
      const changed = store.change(entity, again);
      context.backend.removed?.([entity]); // as after a restart, its connections are closed
      return answer(context, reply, settings.quirks.updated, view(request, changed));
    });

  app.delete(itemPath(row), (request, reply) => {
    if (row.kind === "zone") supported(settings.quirks.deleteZones, "A zone cannot be deleted");
    const entity = ownTarget(request);
    const blocker = row.blocker?.(context, entity as never);
    if (blocker !== undefined)
      throw new Refusal(409, `The ${labelOf(row.kind)} ${entity.id} cannot be deleted: ${blocker}.`);
    const removed = isGoing(entity) ? entity : deleteObject(context, entity);
    return answer(context, reply, settings.quirks.deleted[row.kind], view(request, removed));
  });
}

/** The part of a list that `?limit=&skip=` asks for. Neither is in the specification. */
export function pageOf(context: Context, request: FastifyRequest, all: Wire[]): Wire[] {
  if (!context.settings.quirks.extended) return all;
  const { limit = `${all.length}`, skip = "0" } = request.query as { limit?: string; skip?: string };
  for (const [what, given] of Object.entries({ limit, skip }))
    if (!/^\d{1,9}$/.test(given)) throw new Refusal(400, `${what} must be a whole number from 0.`);
  return all.slice(Number(skip), Number(skip) + Number(limit));
}

function without({ create, patch }: Resource, fields: readonly string[]): Pick<Resource, "create" | "patch"> {
  const cut = <Rules extends z.ZodObject>({ shape }: Rules) =>
    z.object(Object.fromEntries(Object.entries(shape).filter(([name]) => !fields.includes(name))));
  return { create: cut(create), patch: cut(patch) };
}

/** Fields that refer to another object, and its required place. */
const references = {
  membership_id: ["membership", "consortium"],
  zone_id: ["zone", "environment"],
  node_config_id: ["configuration", "environment"],
} as const;

/** Refuses a reference to an object that does not exist there. */
function refuseUnknownReferences(making: Making, body: Wire): void {
  for (const [field, [kind, place]] of Object.entries(references)) {
    const id = body[field];
    if (typeof id !== "string") continue;
    const found = making.context.store.get(kind, id);
    const { organization } = making;
    if (found?.parent !== making[place].id || !sees(making.context, organization.id, found))
      throw new Refusal(400, `${field}: ${id} is not a ${kind} of this ${place}.`);
    if (kind === "membership") refuseOthers(organization.id, found);
    if (isGoing(found)) throw new Refusal(409, `The ${kind} ${id} is being deleted.`);
  }
}

/** Fields that only the service sets. */
const chosen = new RegExp(
  "^(_.*|id|state|owner|created_at|updated_at|org_id|node_list|urls|username|password|auth_type|provider|consensus_type" +
    "|accounts?|accountOwners|founding|verification_proof|first_user_account|hybrid_port_allocation)$",
);

/** Fields of a create without a meaning here. They are stored and shown, or refused, but never ignored. */
function remembered({ create }: Pick<Resource, "create">, body: unknown): Record<string, unknown> | undefined {
  const given = unknownIn(create, body);
  for (const name of Object.keys(given)) {
    if (chosen.test(name)) throw new Refusal(400, `The body is not valid: the service sets ${name} itself.`);
    if (soundsSecret.test(name))
      throw new Refusal(
        400,
        `The body is not valid: ${name} is not a field of the API and looks like a secret, so it is not stored.`,
      );
  }
  return Object.keys(given).length > 0 ? given : undefined;
}

/** Refuses a create beyond the quota, with 409: it depends on what exists, not on the request. */
function refuseBeyondLimit(context: Context, row: Resource, parent: string): void {
  if (!row.limit) return;
  const most = context.settings.limits[row.limit];
  if (context.store.children(row.kind, parent).length < most) return;
  const raise = `Whoever runs the service can raise it: consortium serve --limit-${row.limit} ${most + 1}.`;
  throw new Refusal(409, `The limit is reached: at most ${most} ${row.limit} are allowed here. ${raise}`);
}

/** Refuses calls that the settings switch off. */
export function supported(setting: true | number, what: string): void {
  if (setting !== true) throw new Refusal(setting, `${what} here.`);
}

/** An object as the API shows it: the common fields, and its own. */
export function show(context: Context, entity: Entity, fields: object, at: number): Wire {
  return withUnknownFields(context, {
    [context.settings.quirks.idField]: entity.id,
    state: stateAt(entity, at),
    _revision: String(entity.revision),
    created_at: new Date(entity.createdAt).toISOString(),
    ...fields,
  });
}

/** An object as its row shows it, with its unknown fields. */
export const viewOf = (context: Context, row: Resource, entity: Entity, at: number, host?: string): Wire => ({
  ...(row.view?.(context, entity as never, at, host) ?? show(context, entity, entity.fields, at)),
  ...entity.given,
});

/** Adds fields that no client knows, if the settings ask for them. */
export function withUnknownFields(context: Context, object: Wire): Wire {
  if (!context.settings.quirks.unknownFields) return object;
  return { description: null, x_plan: { tier: 2, renews: null }, x_labels: [], x_retired_at: null, ...object };
}

/** Answers a change, without a body if the settings or the status require it. */
export function answer(context: Context, reply: FastifyReply, status: number, body: Wire, always = false) {
  const silent = status === 204 || status === 205 || (context.settings.quirks.emptyBodies && !always);
  return silent ? reply.code(status).send() : reply.code(status).send(body);
}

/** The answer for an object that is unknown, deleted, or in another organization. */
export function gone(context: Context, what: string, id: string): Refusal {
  const status = context.settings.quirks.gone;
  const why = status === 403 ? "is not accessible" : status === 410 ? "is no longer there" : "was not found";
  return new Refusal(status, `The ${what} ${id} ${why}: it may have been deleted, or never have existed.`);
}
