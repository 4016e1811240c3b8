import { z } from "zod";
import { InvitationObject } from "../api";
import { type Definition } from "../core/definition";
import { field } from "../core/field";
import { adopt, consortiumId, customTimeouts, extra, invitations, nameText, output } from "./fields";

export const invitation: Definition = {
  type: "Invitation",
  title: "invitation",
  doc:
    "Invites a business of another organization to a consortium, by e-mail. Its membership comes about when it accepts, which " +
    "nobody waits for.",
  inputs: z.strictObject({
    consortiumId: consortiumId(),
    orgName: field(nameText("orgName"), "Name of the business.", { default: "the name of the resource" }),
    email: field(
      z
        .string({ error: "email is required: give the address as text" })
        .regex(/^[^\s@]+@[^\s@]+$/, "email must be an address, such as ops@example.com"),
      "Address that the invitation goes to.",
    ),
    adopt: adopt(),
    extra: extra(),
    customTimeouts: customTimeouts(),
  }),
  outputs: z.object({ state: output.state(), revision: output.revision(), createdAt: output.createdAt() }),
  wire: InvitationObject,
  naming: ["orgName"],
  isReadyAtOnce: true,
  place: invitations,
};
