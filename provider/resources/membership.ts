import { z } from "zod";
import { MembershipObject } from "../api";
import { type Definition } from "../core/definition";
import { field } from "../core/field";
import { deleting } from "../core/lifecycle/delete";
import { common, consortiumId, memberships, nameText, outputs } from "./fields";

export const membership: Definition = {
  type: "Membership",
  title: "membership",
  doc: "The membership of one business in a consortium. It owns nodes and credentials.",
  inputs: z.strictObject({
    consortiumId: consortiumId(),
    orgName: field(nameText("orgName"), "Name of the business.", { default: "the name of the resource" }),
    ...common(),
  }),
  outputs: outputs({
    orgId: field(z.string().optional(), "Id of the organization that it represents."),
    minimumNodes: field(z.number().int().optional(), "Minimum number of nodes that it must own in an environment."),
    maximumNodes: field(z.number().int().optional(), "Maximum number of nodes that it may own in an environment."),
  }),
  wire: MembershipObject,
  naming: ["orgName"],
  isNamedById: true,
  shownLater: ["state", "createdAt"],
  place: memberships,
  steps: {
    delete: deleting(() => membership, {
      // "The creating organization is the default founding member" (spec, section 1).
      foundedWith: ({ org_id: organization }, { owner }) => typeof organization === "string" && organization === owner,
      emptiedMs: 120_000, // nodes are removed in minutes
    }),
  },
};
