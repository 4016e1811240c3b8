import { z } from "zod";
import { type ConsortiumClient, DestinationObject, isApiError, MembershipObject } from "../api";
import { answerOr, briefly } from "../api/api-error";
import { paths } from "../api/paths";
import { type Definition, type Props } from "../core/definition";
import { field } from "../core/field";
import { creating } from "../core/lifecycle/create";
import { deleting } from "../core/lifecycle/delete";
import { UserError } from "../errors";
import { common, consortiumId, destinations, idIn, idOf, lowerCase, nameText, optionalText, parentId } from "./fields";

const needsMember = ["idRegistryId", "testCertificate"] as const;

/** Prepares a destination: verifies its member, and registers it with an id registry of the environment. */
async function register(client: ConsortiumClient, inputs: Props): Promise<void> {
  const { idRegistryId: registry, testCertificate, membershipId } = inputs;
  const member = idIn(inputs, "membershipId");
  if (testCertificate === true) await verify(client, idIn(inputs, "consortiumId"), member);
  if (typeof registry !== "string") return;
  // A conflict means that it is registered already; otherwise the PUT says what is missing.
  await answerOr(client.postAgain(paths.identity(registry), { membership_id: membershipId }), undefined, "conflict");
}

async function verify(client: ConsortiumClient, consortium: string, member: string): Promise<void> {
  const list = await client.list(paths.memberships(consortium), MembershipObject);
  const found = list.find(({ id }) => id === member);
  if (found?.verification_proof !== undefined) return;
  const path = `${paths.item(paths.memberships(consortium), member)}/verify`;
  try {
    await client.postAgain(path, { test_certificate: true });
  } catch (error) {
    if (!isApiError(error, "missing", "unsupported")) throw error;
    throw new UserError(
      "unsupported",
      `Verify the membership ${member} in the console, then leave testCertificate out: this service cannot (${briefly(error)}).`,
    );
  }
}

export const destination: Definition = {
  type: "Destination",
  title: "destination",
  doc:
    "Receives a member's documents or messages: a name in its `documentstore` or `dataexchange` service. The member must be " +
    "verified, and registered with an id registry of the environment.",
  inputs: z.strictObject({
    consortiumId: consortiumId(),
    environmentId: field(optionalText("environmentId"), "Id of the service's environment.", {
      argument: "environment",
      default: "the service's environment",
      parent: "path",
      onChange: "ignore", // the service cannot move to another one
    }),
    serviceId: field(
      parentId("the service", "serviceId:, serviceType: and consortiumId:", "service"),
      "Id of the service that it belongs to.",
      { argument: "service", onChange: "replace", parent: "path" },
    ),
    serviceType: field(
      parentId("the type of the service", 'serviceType:, such as "documentstore"', "service"),
      "Type of that service: `documentstore` or `dataexchange`.",
      { onChange: "replace", parent: "path", normal: lowerCase },
    ),
    // In a path, these two are folders.
    name: field(
      nameText("name").refine((text) => text !== "." && text !== "..", 'name must not be "." or ".."'),
      "Name of the destination, which is also its id.",
      {
        default: "the name of the resource",
        onChange: "replace",
      },
    ),
    kaleidoManaged: field(
      z.boolean({ error: "kaleidoManaged must be true or false" }).default(true),
      "Whether the service keeps the keys of the destination.",
      { default: "`true`" },
    ),
    membershipId: field(optionalText("membershipId"), "Id of the membership that owns the service.", {
      argument: "membership",
      default: "the service's membership, if the service is given as a resource",
      visibility: "program",
      onChange: "ignore",
    }),
    idRegistryId: idOf("idRegistry", "the `idregistry` service with which the membership is registered first", {
      default: "it is registered already",
      computed: false,
      visibility: "program",
      onChange: "ignore",
    }),
    testCertificate: field(
      z.boolean({ error: "testCertificate must be true or false" }).optional(),
      "Whether the membership is verified first with a test certificate of the service, unless it is verified.",
      { default: "`false`", visibility: "program", onChange: "ignore" },
    ),
    ...common(),
  }),
  outputs: z.object({
    uri: field(z.string().optional(), "Address that others send to."),
    setupComplete: field(z.boolean().optional(), "Whether everything that it depends on exists."),
  }),
  wire: DestinationObject,
  naming: ["name"],
  place: destinations,
  steps: {
    create: creating(
      () => destination,
      async ({ session, inputs }, send) => {
        await register(session.client, inputs);
        return send();
      },
    ),
    delete: deleting(() => destination, { goesWith: "its service" }),
    rules(known, given) {
      const needing = needsMember.find((key) => known[key] !== undefined && known[key] !== false);
      if (needing === undefined || "membershipId" in given) return [];
      return [
        {
          property: "membershipId",
          reason: `membershipId is required with ${needing}: give the id of the member`,
        },
      ];
    },
  },
};
