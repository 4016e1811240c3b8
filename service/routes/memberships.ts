import { z } from "zod";
import { show } from "./responses";
import { name } from "../http/bodies";
import { ownedBy } from "../store/deletion";
import type { FieldsOf } from "../store/entities";
import { resource } from "./resource";

export const newMembership = (nodes: number, organization: string, orgName: string): FieldsOf["membership"] => ({
  org_name: orgName,
  org_id: organization,
  minimum_nodes: 0,
  maximum_nodes: nodes,
});

export const membership = resource({
  kind: "membership",
  parents: ["consortium"],
  create: z.object({ org_name: name }),
  patch: z.object({ org_name: name.optional() }),
  filters: ["org_name"],
  make: ({ context, organization }, body) => ({
    fields: newMembership(context.settings.limits.nodes, organization.id, body.org_name),
  }),
  view: (context, entity, at) => show(context, entity, { ...entity.fields, founding: undefined }, at),
  blocker(context, entity) {
    if (!context.settings.answers.refuseChildren) return undefined;
    const nodes = ownedBy(context, entity).filter(({ kind }) => kind === "node").length;
    return nodes > 0 ? `it still has ${nodes} node(s)` : undefined;
  },
});
