import { z } from "zod";
import { show } from "./responses";
import { description, name } from "../http/bodies";
import { resource } from "./resource";
import { newMembership } from "./memberships";

export const consortium = resource({
  kind: "consortium",
  parents: [],
  create: z.object({ name, description: description.optional() }),
  patch: z.object({ name: name.optional(), description: description.nullable().optional() }),
  filters: ["name"],
  limit: "consortia",
  make: (_making, body) => ({ fields: body }),
  made({ settings, store }, entity) {
    if (!settings.answers.foundingMembership) return;
    const owner = store.get("organization", entity.organization);
    store.create({
      ...{ kind: "membership", parent: entity.id, organization: entity.organization },
      fields: {
        ...newMembership(settings.limits.nodes, entity.organization, owner?.fields.name ?? ""),
        founding: true,
      },
    });
  },
  view: (context, entity, at) => show(context, entity, { owner: entity.organization, ...entity.fields }, at),
  blocker({ settings, store }, entity) {
    if (!settings.answers.refuseChildren) return undefined;
    const environments = store.children("environment", entity.id).length;
    const memberships = store.children("membership", entity.id).filter(({ fields }) => !fields.founding).length;
    if (environments + memberships === 0) return undefined;
    return `it still has ${environments} environment(s) and ${memberships} membership(s)`;
  },
});
