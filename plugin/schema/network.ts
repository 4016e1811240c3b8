import { z } from "zod";
import { docOf, field } from "../../provider/core/field";
import { definitions } from "../../provider/resources";
import { Network } from "../../sdk/network/schema";
import { examplesOf } from "./examples";
import { type ResourceSpec } from "./model";
import { type Types } from "./types";

/* The component: a whole network in one resource. */

const { appCred, consortium, environment, membership, node, tetherService } = definitions;

const idOf = (title: string) => field(z.string(), `Id of the ${title}.`);

/** An output of a resource, which is there once the network is. */
const shown = (shape: z.ZodRawShape, key: string) => {
  const { [key]: schema } = shape as Record<string, z.ZodType>;
  return field((schema as z.ZodOptional<z.ZodType>).unwrap(), docOf(schema!)!);
};

const urls = node.outputs.shape.urls as z.ZodOptional<z.ZodObject>;

const byKey = (shape: z.ZodRawShape, id: string, description: string, doc: string) =>
  field(z.record(z.string(), z.object(shape).meta({ id, description })), doc);

const environmentOutputs = {
  id: idOf(environment.title),
  chainId: field(z.int(), "Chain id of the ledger."),
  nodes: byKey(
    { id: idOf(node.title), urls: field(urls.unwrap().meta({ id: "NodeUrls" }), docOf(urls)!) },
    "NetworkNodeOutputs",
    "What a node of a network shows.",
    "Nodes by key.",
  ),
  credentials: byKey(
    { username: shown(appCred.outputs.shape, "username") },
    "NetworkCredentialOutputs",
    "What a credential of a network shows; its password is in `passwords`.",
    "Credentials by key.",
  ),
  tether: field(
    z
      .object({ id: idOf(tetherService.title), account: shown(tetherService.outputs.shape, "account") })
      .meta({ id: "NetworkTetherOutputs", description: "What the tether of an environment shows." })
      .optional(),
    "The tether, where there is one.",
  ),
};

const consortiumOutputs = {
  id: idOf(consortium.title),
  members: byKey(
    { id: idOf(membership.title) },
    "NetworkMemberOutputs",
    "What a member of a network shows.",
    "Members by key.",
  ),
  environments: byKey(
    environmentOutputs,
    "NetworkEnvironmentOutputs",
    "What an environment of a network shows.",
    "Environments by key.",
  ),
};

const passwords = z.record(z.string(), z.record(z.string(), z.record(z.string(), z.string())));

/** Secrets are a property of their own: within others, components lose that they are secret. */
export const networkOutputs = z.object({
  consortia: byKey(
    consortiumOutputs,
    "NetworkConsortiumOutputs",
    "What a consortium of a network shows.",
    "Consortia by key. One that is defined without a key has the name of the network.",
  ),
  // Not marked as secret: with that, the class that Pulumi makes for Java does not compile. The component's host marks them.
  passwords: field(passwords, "Passwords by consortium, environment and credential; secret."),
});

export function networkSpec(types: Types): ResourceSpec {
  const inputs = Object.fromEntries(Object.entries(Network.shape).filter(([key]) => key !== "name"));
  const outputs = types.object("Network", networkOutputs.shape, { io: "output" });
  return {
    ...outputs,
    description: [
      "A whole network from one definition: consortium, members, environments with their nodes, credentials, and tethers. " +
        "Each part is a resource of its own, under a name made of keys, so that other entries can come, go and move without " +
        "touching it. Everything in the definition has to be known at preview: outputs of other resources cannot be part of it.",
      examplesOf("Network"),
    ].join("\n\n"),
    isComponent: true,
    inputProperties: types.properties("Network", inputs, { io: "input" }),
  };
}
