import { z } from "zod";
import { InvitationObject } from "../api";
import { Listed } from "../core/collection";
import { type Definition } from "../core/definition";
import { field } from "../core/field";
import { times } from "../core/times";
import { sameName } from "../core/values";
import { common, consortiumId, invitations, memberships, nameText, outputs } from "./fields";

export const invitation: Definition = {
  type: "Invitation",
  title: "invitation",
  doc:
    "Invites a business of another organization to a consortium, by e-mail. The business becomes a member when it " +
    "accepts; the run does not wait for that. An invitation that is gone is not sent again once the consortium has that member. " +
    "One that was declined or revoked, or has expired, is not sent again by itself: previews say so, and `pulumi up --replace` with its " +
    "URN sends another one.",
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
  place: invitations,
  steps: {
    states: {
      condition: (state) => (["declined", "revoked", "expired"].includes(state) ? "over" : "ready"),
      over: "nobody can accept it any more",
    },
    // A service may not list an invitation after it was accepted.
    async isServed(session, state) {
      const members = await new Listed(session, memberships(state)).staying(times.steadyAgeMs); // none if the consortium is gone, too
      return members.some(({ org_name: name }) => sameName(name, state.orgName));
    },
  },
};
