import { z } from "zod";
import { type ConsortiumClient, NodeObject } from "../api";
import { answerOr } from "../api/api-error";
import { NodeStatusObject } from "../api/wire";
import { type Definition, type Props } from "../core/definition";
import { field } from "../core/field";
import { limits } from "../constants";
import {
  common,
  consortiumId,
  environmentId,
  idIn,
  idOf,
  membershipId,
  nameText,
  nodes,
  optionalText,
  outputs,
} from "./fields";

/** The part of the status that the node's object shows: if the status call fails, the node need not wait for it. */
async function inNode(client: ConsortiumClient, state: Props, id: string): Promise<Partial<NodeStatusObject>> {
  const node = client.getNode(idIn(state, "consortiumId"), idIn(state, "environmentId"), id);
  const shown = await answerOr(node, undefined, "missing", "unsupported", "invalid");
  return NodeStatusObject.pick({ urls: true }).parse({ urls: shown?.urls });
}

/** If none is given, the service chooses one. */
const chosen = { default: "the service chooses", computed: true };

export const node: Definition = {
  type: "Node",
  title: "node",
  doc: `A blockchain node that one member runs in an environment. An environment has at most ${limits.nodes} nodes.`,
  inputs: z.strictObject({
    consortiumId: consortiumId(),
    environmentId: environmentId(),
    membershipId: membershipId("Id of the membership that owns it."),
    name: field(nameText("name"), "Name of the node.", { default: "the name of the resource" }),
    role: field(optionalText("role"), "Role in the consensus.", {
      ...chosen,
      seen: ["validator"],
      onChange: "replace",
    }),
    size: field(optionalText("size"), "Size of the machine.", { ...chosen, seen: ["small"], onChange: "restart" }),
    zoneId: idOf("zone", "the environment's zone that it runs in", { onChange: "replace" }),
    kmsId: idOf("kms", "the configuration of its key management", { onChange: "restart" }),
    opsmetricId: idOf("opsmetric", "the configuration of its metrics", { onChange: "restart" }),
    backupId: idOf("backup", "the configuration of its backups", { onChange: "restart" }),
    networkingId: idOf("networking", "the configuration of its networking", { onChange: "restart" }),
    nodeConfigId: idOf("nodeConfig", "the configuration of the client, such as its gas price", {
      onChange: "restart",
    }),
    bafId: idOf("baf", "the configuration of its application firewall", { onChange: "restart" }),
    databaseType: field(
      optionalText("databaseType"),
      "Database that its client keeps the ledger in. The service decides which values are allowed.",
      {
        ...chosen,
        onChange: "replace",
      },
    ),
    ...common(),
  }),
  outputs: outputs({
    provider: field(z.string().optional(), "Client that it runs, from its environment."),
    consensusType: field(z.string().optional(), "Consensus protocol, from its environment."),
    urls: field(
      z
        .object({
          rpc: field(z.string().optional(), "Address for JSON-RPC over HTTPS."),
          wss: field(z.string().optional(), "Address for WebSocket."),
        })
        .optional(),
      "Runtime endpoints: `rpc` (JSON-RPC over HTTPS) and `wss` (WebSocket). They require an AppCred of the same member and environment.",
      { visibility: "elsewhere" },
    ),
    nodeKey: field(z.string().optional(), "Identifier of the node on the blockchain network, hex.", {
      visibility: "elsewhere",
    }),
    publicAddress: field(z.string().optional(), "Address of the node's own account, hex.", { visibility: "elsewhere" }),
    validators: field(z.array(z.string()).optional(), "Addresses of the validators that it knows.", {
      visibility: "elsewhere",
    }),
    userAccounts: field(z.array(z.string()).optional(), "Accounts that the node holds for its users.", {
      visibility: "elsewhere",
    }),
    firstUserAccount: field(z.string().optional(), "First account that the node holds for its users."),
    hybridPortAllocation: field(z.number().int().optional(), "Port that a hybrid deployment gives it."),
  }),
  timeouts: { create: 1800, update: 1800, delete: 1800 },
  wire: NodeObject,
  naming: ["name"],
  place: nodes,
  steps: {
    cautions: ({ environmentId }, stopped) =>
      stopped.has(String(environmentId))
        ? [
            "its environment is paused: the node starts when the environment is resumed (`paused: false`), and `pulumi up` waits for it",
          ]
        : [],
    /** The list does not show the endpoints, and a node that has just started may not know them yet. */
    details: {
      outputs: ["urls"],
      waiting: "starting its endpoints",
      async read(client, id, state) {
        const answer = client.getNodeStatus(idIn(state, "consortiumId"), idIn(state, "environmentId"), id);
        const notYet = ["missing", "conflict", "invalid", "server", "unavailable"] as const;
        const status = (await answerOr(answer, undefined, ...notYet)) ?? (await inNode(client, state, id));
        const { urls, geth, quorum } = status;
        if (!urls?.rpc && !urls?.wss) return undefined;
        const own = geth ?? quorum; // by the client, on some services
        return {
          urls: { ...(urls.rpc && { rpc: urls.rpc }), ...(urls.wss && { wss: urls.wss }) },
          nodeKey: status.id,
          publicAddress: own?.public_address,
          validators: own?.validators,
          userAccounts: status.user_accounts,
        };
      },
    },
  },
};
