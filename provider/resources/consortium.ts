import { z } from "zod";
import { ConsortiumObject, InvitationObject, MembershipObject } from "../api";
import { Listed } from "../core/collection";
import { type Definition } from "../core/definition";
import { field } from "../core/field";
import { sameName } from "../core/values";
import { limits, lossWarnings } from "../constants";
import { common, consortia, consortiumId, description, invitations, memberships, nameText, outputs } from "./fields";

export const consortium: Definition = {
  type: "Consortium",
  title: "consortium",
  doc: `A business network that several organizations run together. An organization owns at most ${limits.consortia} consortia.`,
  inputs: z.strictObject({
    name: field(nameText("name"), "Name of the consortium.", { default: "the name of the resource" }),
    description: description(),
    ...common(),
  }),
  outputs: outputs({
    owner: field(z.string().optional(), "Id of the organization that owns it."),
  }),
  wire: ConsortiumObject,
  naming: ["name"],
  shownLater: ["owner", "state", "createdAt"],
  place: consortia,
  emptyWhenMade: ["environments"],
  owner: "owner",
  replaceWarning: lossWarnings.replaceConsortium,
};

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
  emptyingMs: 120_000, // nodes are removed in minutes
  shownLater: ["state", "createdAt"],
  place: memberships,
  // "The creating organization is the default founding member" (spec, section 1).
  foundedWith: (membership, consortium) =>
    typeof membership.org_id === "string" && membership.org_id === consortium.owner,
};

export const invitation: Definition = {
  type: "Invitation",
  title: "invitation",
  doc:
    "Invites a business of another organization to a consortium, by e-mail. The business becomes a member when it " +
    "accepts; the run does not wait for that. An invitation that is gone is not sent again once the consortium has that member.",
  inputs: z.strictObject({
    consortiumId: consortiumId(),
    orgName: field(nameText("orgName"), "Name of the business.", { default: "the name of the resource" }),
    email: field(
      z
        .string({ error: "email is required: give the address as text" })
        .regex(/^[^\s@]+@[^\s@]+$/, "email must be an address, such as ops@example.com"),
      "Address that the invitation is sent to.",
    ),
    ...common(),
  }),
  outputs: outputs({}),
  wire: InvitationObject,
  naming: ["orgName"],
  isReadyAtOnce: true,
  place: invitations,
  // A service may not list an invitation after it was accepted.
  async isServed(session, state) {
    const members = (await new Listed(session, memberships(state)).siblings(10_000)) ?? [];
    return members.some(({ org_name: name }) => sameName(name, state.orgName));
  },
};
