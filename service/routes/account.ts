import type { FastifyInstance, FastifyRequest } from "fastify";
import { z } from "zod";
import type { Context } from "../http/context";
import { Refusal } from "../errors";
import { organizationOf } from "../http/authentication";
import { name, parse } from "../http/bodies";
import { idOfKey } from "../store/organizations";
import { membership } from "./consortia";
import { gone, pageOf, viewOf, withUnknownFields } from "./crud";

/** The one plan here. Its limits are those of the service. */
const plan = "starter";
/** The one region here. */
const region = "local";
/** A value that clients must not keep or show. It gives no access. */
export const dummySecret = "no-client-may-keep-this";

const planLimits = ({ settings: { limits } }: Context) => ({
  consortia: { per: { org: limits.consortia } },
  environments: { per: { consortium: limits.environments } },
  nodes: { per: { environment: limits.nodes } },
});

/** The organization of the key, and its limits. Other clients of the API request these first. */
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
    const { id } = organizationOf(request);
    const own = context.store.all("membership").filter(({ fields }) => fields.org_id === id);
    const shown = own.map((entity) => viewOf(context, membership, entity, at));
    return pageOf(context, request, shown);
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
