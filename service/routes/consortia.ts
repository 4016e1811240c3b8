import { randomBytes } from "node:crypto";
import type { FastifyInstance } from "fastify";
import { z } from "zod";
import type { Context } from "../http/context";
import { Refusal } from "../errors";
import { description, email, name, optional, parse } from "../http/bodies";
import { ownedBy } from "../store/deletion";
import { newMembership, ofOthers } from "../store/sharing";
import { isGoing } from "../store/entities";
import { answer, itemPath, own, reach, resource, show, viewOf } from "./crud";

export const consortium = resource({
  kind: "consortium",
  parents: [],
  create: z.object({ name, description: description.optional() }),
  patch: z.object({ name: name.optional(), description: description.nullable().optional() }),
  filters: ["name"],
  limit: "consortia",
  made({ settings, store }, entity) {
    if (!settings.quirks.foundingMembership) return;
    const owner = store.get("organization", entity.organization);
    store.create({
      kind: "membership",
      parent: entity.id,
      organization: entity.organization,
      fields: {
        ...newMembership(settings, entity.organization, owner?.fields.name ?? ""),
        founding: true,
      },
    });
  },
  view: (context, entity, at) => show(context, entity, { owner: entity.organization, ...entity.fields }, at),
  blocker(context, entity) {
    const { settings, store } = context;
    const others = ofOthers(context, entity, "membership");
    if (!settings.quirks.refuseChildren) return others && `it still has ${others}`;
    // objects that are being deleted do not block: other clients delete all objects, then the consortium, once each
    const environments = store.children("environment", entity.id).filter((one) => !isGoing(one)).length;
    const memberships = store
      .children("membership", entity.id)
      .filter((one) => !isGoing(one) && !one.fields.founding).length;
    if (environments + memberships === 0) return undefined;
    return `it still has ${environments} environment(s) and ${memberships} membership(s)`;
  },
});

export const membership = resource({
  kind: "membership",
  parents: ["consortium"],
  create: z.object({ org_name: name }),
  patch: z.object({ org_name: name.optional() }),
  filters: ["org_name"],
  make: ({ context, organization }, body) => ({
    fields: newMembership(context.settings, organization.id, body.org_name),
  }),
  view: (context, entity, at) => show(context, entity, { ...entity.fields, founding: undefined }, at),
  blocker(context, entity) {
    if (!context.settings.quirks.refuseChildren) return undefined;
    const owned = ownedBy(context, entity);
    const found = (["node", "configuration", "service"] as const)
      .map((kind) => ({ kind, count: owned.filter((one) => one.kind === kind).length }))
      .filter(({ count }) => count > 0);
    if (found.length === 0) return undefined;
    return `it still has ${found.map(({ kind, count }) => `${count} ${kind}(s)`).join(" and ")}`;
  },
});

/** Verifies a membership. This service accepts only its own test certificate. */
export function verification(app: FastifyInstance, context: Context): void {
  const { store, settings } = context;
  const certificate = z.object({ test_certificate: z.boolean().optional() });
  app.post(`${itemPath(membership)}/verify`, (request, reply) => {
    const found = own(request, reach(context, request, ["consortium", "membership"])[2]);
    const { test_certificate } = parse(certificate, request.body, settings.quirks.strictBodies);
    if (!test_certificate)
      throw new Refusal(400, "test_certificate must be true: this service supports no other certificate.");
    const verified = found.fields.verification_proof
      ? found
      : store.setFields("membership", found.id, { verification_proof: randomBytes(16).toString("hex") });
    return answer(context, reply, settings.quirks.updated, viewOf(context, membership, verified, context.clock()));
  });
}

/** Invites another organization to become a member. `acceptInvitation` makes it one. */
export const invitation = resource({
  kind: "invitation",
  parents: ["consortium"],
  create: z.object({ org_name: name, email }),
  patch: z.object({ org_name: name.optional(), email: email.optional() }),
  filters: ["org_name", "email"],
});

/** Zones of a consortium, or of an environment, where nodes and services refer to them. */
const zones = (parents: readonly ["consortium"] | readonly ["consortium", "environment"]) =>
  resource({
    kind: "zone",
    parents,
    create: z.object({
      name: name.optional(),
      region: name,
      cloud: name,
      type: name.default("kaleido"),
      bridge_id: optional,
    }),
    patch: z.object({ name: name.optional() }),
    filters: ["name", "region", "cloud"],
    blocker({ settings, store }, { id, parent }) {
      if (!settings.quirks.refuseChildren) return undefined;
      const user = [...store.children("node", parent), ...store.children("service", parent)].find(
        (one) => one.fields.zone_id === id && !isGoing(one),
      );
      return user && `the ${user.kind} ${user.id} is in it`;
    },
  });

export const consortiumZone = zones(["consortium"]);
export const environmentZone = zones(["consortium", "environment"]);
