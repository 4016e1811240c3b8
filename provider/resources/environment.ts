import { z } from "zod";
import { EnvironmentObject } from "../api";
import { answerOr } from "../api/api-error";
import { conditionOf } from "../api/states";
import { type Definition, type Props } from "../core/definition";
import { field } from "../core/field";
import { creating } from "../core/lifecycle/create";
import { type Change } from "../core/lifecycle/change";
import { deleting } from "../core/lifecycle/delete";
import { updating } from "../core/lifecycle/update";
import { times } from "../core/times";
import { consensusOf, isMeant, limits, lossWarnings, otherPrefix } from "../constants";
import { isUnknown, unknown } from "../core/values";
import { common, consortiumId, description, environments, listed, nameText, objectOf, outputs } from "./fields";
import { nodesIn } from "./inside";
import { renamedNodes } from "./losses";

const providers = Object.keys(consensusOf);
const consensusTypes = [...new Set(Object.values(consensusOf).flat())];

/** The case of an address is only a checksum (EIP-55). */
const plainAddress = (address: string): string => address.toLowerCase().replace(/^0x/, "");

/** Accounts by address, in the one form that every service accepts: without 0x, balances as decimal text. */
const accounts = (value: unknown): unknown =>
  value &&
  Object.fromEntries(
    Object.entries(value as Record<string, { balance: string }>).map(([address, { balance }]) => [
      plainAddress(address),
      { balance: BigInt(balance).toString() },
    ]),
  );

/** Values that follow from several inputs. */
const bodyOf = ({ prefundedAccounts, multiRegion, testFeatures }: Props): Props => ({
  ...(prefundedAccounts !== undefined && { prefunded_accounts: accounts(prefundedAccounts) }),
  ...((multiRegion !== undefined || testFeatures !== undefined) && {
    test_features: {
      ...(testFeatures as Props | undefined),
      ...(multiRegion === true && { multi_region: true }),
    },
  }),
});

const make: Parameters<typeof creating>[1] = async (collection, send) => {
  const object = await send(bodyOf(collection.inputs));
  collection.startEmpty(object.id, "nodes", "appcreds", "configurations", "services");
  return object;
};

/** Test features, except the one with an argument of its own. */
const otherFeatures = (value: unknown): unknown => {
  const others = Object.entries((value ?? {}) as Props).filter(([name]) => name !== "multi_region");
  return Object.fromEntries(others);
};

const isMultiRegion = ({ multiRegion, testFeatures }: Props): unknown => {
  if (multiRegion === true) return true;
  return isUnknown(testFeatures) ? unknown : (testFeatures as Props | undefined)?.multi_region === true;
};

/** An upgrade cannot be undone. */
async function refuseOlder({ collection, id, inputs, keys }: Change): Promise<void> {
  if (!keys.includes("releaseId")) return;
  const item = await collection.listed(id, times.waitingAgeMs);
  if (!item) return;
  const [from, to] = [collection.shown(item).releaseId, inputs.releaseId];
  const releases = await answerOr(collection.session.client.listReleases(), [], "missing", "unsupported", "denied");
  const [now, wanted] = [from, to].map((id) => releases.find((release) => release.id === id)?.version);
  if (now === undefined || wanted === undefined || wanted.localeCompare(now, "en", { numeric: true }) >= 0) return;
  throw collection.error(
    "cannot-change",
    `set releaseId: "${String(from)}" or a newer one, or leave it out. Release ${String(to)} (${wanted}) is older than ${String(from)} ` +
      `(${now}), the release that it runs, and a ledger cannot be downgraded. Nothing was changed.`,
  );
}

const balanceText = "balance must be a whole number of wei, as text";
const accountText = `each account must be { balance }, or the balance alone: ${balanceText}`;
const balance = z.string({ error: balanceText }).regex(/^(\d+|0x[0-9a-fA-F]+)$/, balanceText);
const account = z.strictObject({ balance });

export const environment: Definition = {
  type: "Environment",
  title: "environment",
  doc: `A blockchain network: one ledger, with a client and a consensus protocol. A consortium has at most ${limits.environments} environments.`,
  inputs: z.strictObject({
    consortiumId: consortiumId(),
    provider: field(
      listed("provider", providers),
      "Client that the nodes run: `quorum`, `geth`, `pantheon` (Besu), `fabric` or `corda`.",
      { known: providers, onChange: "replace" },
    ),
    consensusType: field(
      listed("consensusType", consensusTypes),
      "Consensus protocol: `raft` or `ibft` with `quorum`; `poa` with `geth`; `ibft` or `poa` with `pantheon`.",
      { known: consensusTypes, onChange: "replace" },
    ),
    name: field(nameText("name"), "Name of the environment.", { default: "the name of the resource" }),
    description: description(),
    chainId: field(
      z.int({ error: "chainId must be a whole number" }).min(1, "chainId must be at least 1").optional(),
      "Chain id of the ledger.",
      { default: "the service chooses one", onChange: "replace", computed: true },
    ),
    releaseId: field(
      z.string({ error: "releaseId must be text" }).min(1, "releaseId must not be empty").optional(),
      "Release of the service's software that it runs. An upgrade takes minutes for each node and cannot be undone.",
      {
        default: "the service chooses the newest",
        computed: "moving",
      },
    ),
    paused: field(
      z.boolean({ error: "paused must be true or false" }).optional(),
      "Whether it is paused: it makes no blocks, and its nodes do not answer. `false` resumes it, even if the service has paused it. A new environment always starts running; the next update pauses it.",
      {
        default: "the service pauses it when it is idle, and leaves it so",
        computed: true,
        normal: (value) => value === true,
        action: {
          sent: (value) => ({ state: value === true ? "paused" : "live" }),
          shown: ({ state }) => (typeof state === "string" ? conditionOf(state) === "stopped" : undefined),
        },
      },
    ),
    blockPeriod: field(
      z
        .int({ error: "blockPeriod must be a whole number of seconds" })
        .min(1, "blockPeriod must be at least 1")
        .optional(),
      "Seconds between blocks.",
      { default: "the service chooses, by the consensus protocol", onChange: "replace", computed: true },
    ),
    prefundedAccounts: field(
      z
        .record(
          z
            .string()
            .regex(
              /^(0x)?[0-9a-fA-F]{40}$/,
              "prefundedAccounts must be named by addresses: 40 hex digits, with or without 0x",
            ),
          z.union([account, balance.transform((wei) => ({ balance: wei }))], { error: accountText }).pipe(account),
          { error: "prefundedAccounts must be an object of addresses, each with its balance" },
        )
        .refine(
          (given) => new Set(Object.keys(given).map(plainAddress)).size === Object.keys(given).length,
          "prefundedAccounts names one address twice, in two spellings",
        )
        .optional(),
      "Accounts with a balance from the first block, by address: each an object with its `balance`, or just the balance, in wei as text. They are not read back.",
      { default: "none", onChange: "replace", visibility: "writeOnly", normal: accounts },
    ),
    multiRegion: field(
      z.boolean({ error: "multiRegion must be true or false" }).optional(),
      "Whether its nodes may be in several regions.",
      { default: "`false`", onChange: "replace", visibility: "program", normal: (_, inputs) => isMultiRegion(inputs) },
    ),
    testFeatures: field(
      objectOf("testFeatures", "features").optional(),
      "Experimental features, by the service's own names. They are not read back.",
      { default: "none", onChange: "replace", visibility: "program", normal: otherFeatures },
    ),
    ...common(),
  }),
  outputs: outputs({
    region: field(z.string().optional(), "Region it runs in."),
    initialDelay: field(
      z.number().int().optional(),
      "Hours after its creation in which the service does not pause it.",
    ),
    idleHours: field(z.number().int().optional(), "Hours without a transaction after which the service may pause it."),
    enableTether: field(z.boolean().optional(), "Whether a tether service is enabled for it."),
  }),
  timeouts: { create: 1800, update: 1800, delete: 1800 },
  wire: EnvironmentObject,
  naming: ["name"],
  isNamedById: true,
  shownLater: ["state", "createdAt", "chainId"],
  place: environments,
  steps: {
    create: creating(() => environment, make),
    update: updating(() => environment, refuseOlder),
    delete: deleting(() => environment, { inside: nodesIn, warning: () => lossWarnings.deleteEnvironment }),
    rules({ provider, consensusType }) {
      const allowed = typeof provider === "string" ? consensusOf[provider] : undefined;
      if (!allowed || typeof consensusType !== "string" || allowed.includes(consensusType) || isMeant(consensusType))
        return [];
      const other = providers.find((name) => consensusOf[name]!.includes(consensusType));
      const instead = other === undefined ? "" : `, or provider: "${other}"`;
      const reason = `${String(provider)} runs ${allowed.join(" or ")}, not ${consensusType}: choose one of these${instead}. If the service has it, and it is meant, write "${otherPrefix}${consensusType}".`;
      return [{ property: "consensusType", reason }];
    },
    cautions: ({ paused }) =>
      paused === true ? ["paused: a new environment starts running; the next `pulumi up` pauses it"] : [],
    losses: renamedNodes,
    states: { condition: (state) => (state === "initializing" ? "empty" : undefined) },
  },
};
