import type { FastifyInstance, FastifyRequest } from "fastify";
import { z } from "zod";
import type { Context } from "../context";
import { Refusal } from "../errors";
import { organizationOf } from "../http/authentication";
import { name, parse } from "../http/bodies";
import type { Limits } from "../settings/settings";
import { idOfKey } from "../store/organizations";
import { membership } from "./consortia";
import { gone, pageOf, withUnknownFields } from "./crud";

/** The one plan here. Its limits are those of the service. */
const plan = "starter";
/** The one region here. */
export const region = "local";
/** What a client must neither keep nor show. It opens nothing. */
export const dummySecret = "no-client-may-keep-this";

/** The limits of a plan, and what each counts in. */
const per = { consortia: "org", environments: "consortium", nodes: "environment" } as const satisfies Partial<
  Record<keyof Limits, string>
>;

/** `{ consortia: { per: { org: 2 } }, … }` */
const planLimits = ({ settings }: Context) =>
  Object.fromEntries(
    Object.entries(per).map(([what, scope]) => [what, { per: { [scope]: settings.limits[what as keyof typeof per] } }]),
  );

/** Whose key it is, and what that organization may have. Other clients of the API ask this before anything else. */
export function accountRoutes(app: FastifyInstance, context: Context): void {
  const { settings, organizations, tokens } = context;
  const shown = (id: string, fields: object) =>
    withUnknownFields(context, { [settings.quirks.idField]: id, ...fields });

  app.get("/orgs", (request) => {
    const { id, fields, createdAt } = organizationOf(request);
    const created_at = new Date(createdAt).toISOString();
    return [shown(id, { name: fields.name, plan, created_at, cognito_client_secret: dummySecret })];
  });

  app.get("/apikeys", (request) => {
    const { id: org_id } = organizationOf(request);
    const { name, apiKey } = organizations.list().find(({ id }) => id === org_id)!;
    const further = organizations.furtherKeys(org_id).map(({ id, fields }) => shown(id, { org_id, name: fields.name }));
    return [shown(idOfKey(apiKey) ?? org_id, { org_id, name }), ...further];
  });

  app.get("/regions", (request) => [shown(region, { net_host: request.hostname, state: "live" })]);

  app.get("/plans/:plan", (request) => {
    const asked = (request.params as { plan: string }).plan;
    if (asked !== plan) throw gone(context, "plan", asked);
    return shown(plan, { name: plan, limits: planLimits(context) });
  });

  app.get("/memberships", (request) => {
    const at = context.clock() - settings.timing.listLag;
    const own = ownMemberships(context, organizationOf(request).id).map((entity) => ({
      ...membership.view(context, entity, at),
      ...entity.given,
    }));
    return pageOf(context, request, own);
  });

  const login = z.object({ apikey: name });
  app.post("/authtoken", (request: FastifyRequest) => {
    const { apikey } = parse(login, request.body, settings.quirks.strictBodies);
    const { id } = organizationOf(request);
    if (organizations.ofKey(apikey)?.id !== id)
      throw new Refusal(401, "apikey is not the API key of this call's organization.");
    return { token: tokens.of(apikey, id, planLimits(context)) };
  });
}

/** The memberships of an organization, in all consortia. */
const ownMemberships = ({ store }: Context, organization: string) =>
  store.all("membership").filter(({ fields }) => fields.org_id === organization);
