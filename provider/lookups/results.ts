import { z } from "zod";
import { type Definition } from "../core/definition";
import { field, metaOf } from "../core/field";
import { isReadable } from "../core/state";
import { definitions } from "../resources";

/* The results of lookups. A service may leave out any field, and text can be anything. */

const properties = ({ inputs, outputs }: Definition): Record<string, z.ZodType> => ({
  ...inputs.shape,
  ...outputs.shape,
});

/** A property of a resource in a lookup, without metadata about arguments. */
const found = (schema: z.ZodType): z.ZodType => {
  const text = schema instanceof z.ZodEnum ? z.string() : schema;
  return field(text.optional(), metaOf(schema).doc);
};

const pick = (definition: Definition, keys: readonly string[]): Record<string, z.ZodType> =>
  Object.fromEntries(keys.map((key) => [key, found(properties(definition)[key]!)]));

/** Properties that the service's list shows. */
const listed = (definition: Definition): string[] =>
  Object.entries(properties(definition)).flatMap(([key, schema]) => (isReadable(metaOf(schema)) ? [key] : []));

/** One object of a list. */
export const itemOf = (definition: Definition, what = definition.type) =>
  z
    .object({
      id: field(z.string(), "The service's id (`_id`), as in the `id` of the resource."),
      ...pick(definition, listed(definition)),
    })
    .meta({ id: `${what}Result`, description: `Properties of each \`${what}\` that the service lists.` });

const { node } = definitions;
export const nodeStatusResult = z
  .object({
    ...pick(
      node,
      Object.keys(node.outputs.shape).filter((key) => !listed(node).includes(key)),
    ),
    blockHeight: field(z.int().optional(), "Number of the latest block that the node knows."),
  })
  .meta({ id: "NodeStatusResult", description: "Data that a node reports about itself." });

export const releaseResult = z
  .object({
    id: field(z.string(), "The service's id (`_id`): what `releaseId` of an `Environment` takes."),
    provider: field(z.string().optional(), "Client that it is for, such as `quorum`."),
    version: field(z.string().optional(), "Version of the software."),
    releaseStatus: field(z.string().optional(), "Status, in the service's own words."),
  })
  .meta({ id: "ReleaseResult", description: "A release of the software that environments run." });

export const tetherAccountResult = z
  .object({
    account: field(z.string().optional(), "Address on the public chain, 0x and 40 hex digits."),
    balanceWei: field(z.string().optional(), "Balance in wei, decimal text."),
  })
  .meta({ id: "TetherAccountResult", description: "The account that pays for a tether's pins." });

export const tetherBalanceResult = z
  .object({
    network: field(z.string(), "Public chain of the account."),
    balanceWei: field(z.string().optional(), "Balance in wei, decimal text."),
  })
  .meta({ id: "TetherBalanceResult", description: "Balance of a tether service on one network." });

const nodeReport = z
  .looseObject({
    nodeId: field(z.string().optional(), "Id of the node."),
    nodeName: field(z.string().optional(), "Name of the node."),
    environmentId: field(z.string().optional(), "Id of its environment."),
    state: field(z.string().optional(), "State of the node."),
    blockHeight: field(z.int().optional(), "Number of the latest block."),
    blockHash: field(z.string().optional(), "Hash of that block."),
    stateRoot: field(z.string().optional(), "Root of the ledger's state at that block."),
    reportedAt: field(z.string().optional(), "Time of the report."),
  })
  .meta({
    id: "NodeReport",
    description:
      "Data that one node reported about itself. The fields are undocumented, so any of them may be missing.",
  });

export const tetherReportResult = z
  .looseObject({
    index: field(z.int(), "Place in the ordered list of reports, from 0."),
    pinnedAt: field(z.string().optional(), "Time of the pin."),
    network: field(z.string().optional(), "Public chain that it is pinned to."),
    chainId: field(z.int().optional(), "Chain id of that chain."),
    contractAddress: field(z.string().optional(), "Address of the contract that holds the pin."),
    transactionHash: field(z.string().optional(), "Hash of the transaction that pinned it."),
    blockNumber: field(z.int().optional(), "Number of the block with that transaction."),
    contractIndex: field(
      z.int().optional(),
      "Place in the contract: another network has another contract, and counts from 0 again.",
    ),
    hash: field(z.string().optional(), "Hash of all reports of the nodes, as pinned to the public chain."),
    reports: field(z.array(nodeReport), "One for each node."),
    report: field(z.unknown(), "The report exactly as the service shows it: `verifyReport` takes it."),
  })
  .meta({ id: "TetherReportResult", description: "One report of a tether service, and where it is pinned." });
