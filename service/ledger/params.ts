import { z } from "zod";
import { Unfit } from "./failures";
import type { Profile } from "../profiles";

/*
 * The params of the calls in Ethereum's specification: the chain can read all that pass. Params are checked before any conversion.
 * Errors name the argument, as geth's do.
 */

const matching = (pattern: RegExp, most: number, message: string) =>
  z.custom<string>((given) => typeof given === "string" && given.length <= most && pattern.test(given), message);
const small = (...rules: Parameters<typeof matching>) => matching(...rules).transform((given) => given.toLowerCase());

const word = 66;
const hexOf = (most: number, size: string) =>
  small(
    /^0x(0|[1-9a-f][\da-f]*)$/i,
    most,
    `must be a hexadecimal number of at most ${size} without leading zeros, such as "0x5208"`,
  );
const quantity = hexOf(word, "64 digits");
const number64 = hexOf(18, "64 bits");
const hash = small(/^0x[\da-f]{64}$/i, word, "must be a hash: 0x and 64 hexadecimal digits");
const address = small(/^0x[\da-f]{40}$/i, 42, "must be an address: 0x and 40 hexadecimal digits");
const bytes = /^(0x([\da-f]{2})*)?$/i;
const data = small(bytes, Infinity, "must be bytes: 0x and an even number of hexadecimal digits").transform(
  (given) => given || "0x",
);
const text = (most: number) => matching(/^/, most, `must be a text of at most ${most} characters`);
/** A storage key of an account; leading zeros are optional. */
const slot = matching(/^(0x)?[\da-f]+$/i, word, "must be a storage key of at most 64 hexadecimal digits").transform(
  (given) => `0x${given.toLowerCase().replace(/^0x/, "").padStart(64, "0")}`,
);

/** An optional value, which may be null. */
const maybe = <T extends z.ZodType>(rules: T) => rules.nullish().transform((given) => given ?? undefined);
const list = <T extends z.ZodType>(of: T) => maybe(z.array(of));
const maybeQuantity = maybe(quantity);
const maybeNumber = maybe(number64);
const maybeHash = maybe(hash);
const maybeAddress = maybe(address);
const maybeData = maybe(data);
const maybeFlag = maybe(z.boolean("must be true or false"));

const tags = z.enum(["latest", "pending", "earliest", "safe", "finalized"]);
/** A single party makes blocks and never replaces them, so each is final at once. */
const isFinal = (block: unknown) => block === "safe" || block === "finalized";
const newest = <T>(block: T) => (isFinal(block) ? "latest" : block);
const tag = tags.transform(newest);
const number = z.union([tag, number64], 'must be the number of a block, such as "0x10", or "latest"');
const block = z
  .union(
    [
      number,
      hash.transform((blockHash) => ({ blockHash })),
      z.strictObject({ blockNumber: number }).transform(({ blockNumber }) => blockNumber),
      z.strictObject({ blockHash: hash, requireCanonical: maybeFlag }),
    ],
    'must be the number or hash of a block, or "latest"',
  )
  .nullish()
  .transform((given) => given ?? "latest");

/** Fields of clients with private transactions. A private transaction must not become public. */
const ofPrivate = ["privateFor", "privateFrom", "privacyGroupId", "privacyFlag", "restriction", "mandatoryFor"];
const unknownField = (keys: readonly string[]): string => {
  const name = keys.find((key) => ofPrivate.includes(key));
  return name === undefined
    ? `unknown field ${keys.map((key) => key.slice(0, 64)).join(", ")}`
    : `${name}: this service has no private transactions. Without this field, everybody on the ledger can read the transaction`;
};
const transaction = z
  .strictObject(
    {
      from: maybeAddress,
      to: maybeAddress,
      value: maybeQuantity,
      data: maybeData,
      input: maybeData,
      nonce: maybeNumber,
      type: maybeNumber,
      chainId: maybeQuantity,
      gas: maybeNumber,
      gasLimit: maybeNumber,
      gasPrice: maybeQuantity,
      maxFeePerGas: maybeQuantity,
      maxPriorityFeePerGas: maybeQuantity,
      accessList: list(z.object({ address, storageKeys: list(hash).transform((keys) => keys ?? []) })),
    },
    {
      error: (issue) =>
        issue.code === "unrecognized_keys" ? unknownField(issue.keys) : "must be a transaction object",
    },
  )
  .transform(({ data, ...others }) => withoutGaps({ ...others, input: others.input ?? data, data }));
export type Transaction = Partial<z.output<typeof transaction>>;

const withoutGaps = <T extends object>(value: T): T =>
  Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as T;

const most = { topics: 4, addresses: 1_000, percentiles: 100, proofs: 1_024 };
const topic = z.union([hash, z.array(maybeHash)], "must be a topic, a list of them, or null").nullish();
const end = z.union([tags, number64], 'must be the number of a block, such as "0x10", or "latest"');
const criteria = z
  .object({
    fromBlock: maybe(end),
    toBlock: maybe(end),
    blockHash: maybeHash,
    address: maybe(z.union([address, z.array(address)], "must be an address, or a list of them")),
    topics: list(topic),
  })
  .superRefine(({ fromBlock, toBlock, blockHash, topics, address }, context) => {
    if (blockHash !== undefined && (fromBlock ?? toBlock) !== undefined)
      context.addIssue("cannot specify both BlockHash and FromBlock/ToBlock, choose one or the other");
    if ((topics?.length ?? 0) > most.topics) context.addIssue(`topics: exceed max topics: at most ${most.topics}`);
    if (Array.isArray(address) && address.length > most.addresses)
      context.addIssue(`address: exceed max addresses: at most ${most.addresses}`);
    if (fromBlock === "pending" || toBlock === "pending") context.addIssue("pending logs are not supported");
  })
  .transform(withoutGaps);
/** The logs of blocks that there are. */
const filter = criteria.transform(({ fromBlock, toBlock, ...others }) =>
  withoutGaps({ ...others, fromBlock: newest(fromBlock), toBlock: newest(toBlock) }),
);
/** The logs of blocks to come: those of a range that has none can never be reported. */
const watched = criteria.superRefine(({ fromBlock = "latest", toBlock = "latest" }, context) => {
  const [from, to] = [fromBlock, toBlock].map((block) => (block === "earliest" ? 0 : Number(block)));
  const isNew = fromBlock === "latest" && toBlock === "latest";
  const isOpen = from! >= 0 && toBlock === "latest";
  if (!isNew && !isOpen && !(from! <= to!)) context.addIssue("invalid block range params");
});

const slots = maybe(z.record(hash, hash));
const account = z.object({
  balance: maybeQuantity,
  nonce: maybeNumber,
  code: maybeData,
  state: slots,
  stateDiff: slots,
  movePrecompileToAddress: z.null("is not supported here").optional(),
});
const stateOverrides = maybe(
  z.record(address, account).superRefine((accounts, context) => {
    for (const [address, { state, stateDiff }] of Object.entries(accounts))
      if (state && stateDiff) context.addIssue(`account ${address} has both 'state' and 'stateDiff'`);
  }),
);
const blockOverrides = maybe(
  z.object({
    number: maybeQuantity,
    difficulty: maybeQuantity,
    time: maybeNumber,
    gasLimit: maybeNumber,
    coinbase: maybeAddress,
    feeRecipient: maybeAddress,
    random: maybeHash,
    prevRandao: maybeHash,
    baseFee: maybeQuantity,
    baseFeePerGas: maybeQuantity,
    blobBaseFee: maybeQuantity,
    blockHash: slots,
  }),
);
const few = (count: number, what: string) => `must be at most ${count} ${what}`;
const simulation = z.object({
  blockStateCalls: list(z.object({ blockOverrides, stateOverrides, calls: list(transaction) })),
  traceTransfers: maybeFlag,
  validation: maybeFlag,
  returnFullTransactions: maybeFlag,
});
export type Simulation = z.output<typeof simulation>;

const typedData = z.union(
  [matching(/^/, Infinity, ""), z.looseObject({})],
  "must be typed data, as an object or as JSON",
);
const decimal = matching(/^\d{1,4}$/, 4, "").transform(Number);
const count = z.union([number64, decimal, z.number().int().min(0).max(1_024)], "must be a number of blocks");
const flag = z.boolean("must be true or false");
const slotsOf = z.array(slot, "must be a list of storage keys").max(most.proofs, few(most.proofs, "storage keys"));
const percentiles = z
  .array(z.number(), "must be a list of percentiles")
  .max(most.percentiles, few(most.percentiles, "percentiles"))
  .superRefine((all, context) => {
    const shown = (at: number) => `#${at}:${all[at]!.toFixed(6)}`;
    all.forEach((one, at) => {
      if (one < 0 || one > 100) context.addIssue(`${ofPercentile}: ${one.toFixed(6)}`);
      if (at > 0 && one < all[at - 1]!) context.addIssue(`${ofPercentile}: ${shown(at - 1)} >= ${shown(at)}`);
    });
  });

const trace = maybe(
  z.strictObject({
    tracer: maybe(z.literal("callTracer", "must be callTracer; without it, the answer has struct logs")),
    tracerConfig: maybe(z.strictObject({ onlyTopCall: maybeFlag, withLog: maybeFlag })),
    enableMemory: maybeFlag,
    disableStack: maybeFlag,
    disableStorage: maybeFlag,
    enableReturnData: maybeFlag,
    limit: maybe(z.number().int().min(0)),
    timeout: maybe(text(32)),
    reexec: maybe(z.number()),
  }),
);

type Rules = z.ZodTuple;
const each = (rules: Rules, ...methods: string[]) => methods.map((method): [string, Rules] => [method, rules]);

/** The calls of Ethereum's specification that a node answers. Anvil's own calls (`anvil_`, `evm_`, …) are for the service only. */
export const standard: ReadonlyMap<string, Rules> = new Map([
  ...each(z.tuple([]), "web3_clientVersion", "net_listening", "net_peerCount", "net_version", "eth_blobBaseFee"),
  ...each(z.tuple([]), "eth_blockNumber", "eth_chainId", "eth_coinbase", "eth_gasPrice", "eth_syncing"),
  ...each(z.tuple([]), "eth_maxPriorityFeePerGas", "eth_protocolVersion", "eth_hashrate", "eth_mining"),
  ...each(z.tuple([]), "eth_newBlockFilter"),
  ...each(z.tuple([maybeFlag]), "eth_newPendingTransactionFilter"),
  ...each(z.tuple([data]), "web3_sha3"),
  ...each(z.tuple([transaction, block, stateOverrides, blockOverrides]), "eth_call", "eth_estimateGas"),
  ...each(z.tuple([transaction, block, stateOverrides]), "eth_createAccessList"),
  ...each(z.tuple([simulation, block]), "eth_simulateV1"),
  ...each(z.tuple([count, number, percentiles]), "eth_feeHistory"),
  ...each(z.tuple([address, block]), "eth_getBalance", "eth_getCode", "eth_getTransactionCount"),
  ...each(z.tuple([address, slotsOf, block]), "eth_getProof"),
  ...each(z.tuple([address, slot, block]), "eth_getStorageAt"),
  ...each(z.tuple([filter]), "eth_getLogs"),
  ...each(z.tuple([watched]), "eth_newFilter"),
  ...each(z.tuple([hash, flag]), "eth_getBlockByHash"),
  ...each(z.tuple([number, flag]), "eth_getBlockByNumber"),
  ...each(z.tuple([block]), "eth_getBlockReceipts"),
  ...each(z.tuple([hash, trace]), "debug_traceTransaction"),
  ...each(z.tuple([hash]), "eth_getTransactionByHash", "eth_getTransactionReceipt", "eth_getRawTransactionByHash"),
  ...each(z.tuple([hash]), "eth_getBlockTransactionCountByHash", "eth_getUncleCountByBlockHash"),
  ...each(z.tuple([number]), "eth_getBlockTransactionCountByNumber", "eth_getUncleCountByBlockNumber"),
  ...each(z.tuple([hash, number64]), "eth_getTransactionByBlockHashAndIndex", "eth_getUncleByBlockHashAndIndex"),
  ...each(z.tuple([number, number64]), "eth_getTransactionByBlockNumberAndIndex", "eth_getUncleByBlockNumberAndIndex"),
  ...each(z.tuple([text(word)]), "eth_uninstallFilter", "eth_getFilterChanges", "eth_getFilterLogs"),
  ...each(z.tuple([text(word)]), "eth_unsubscribe"),
  ...each(z.tuple([data]), "eth_sendRawTransaction"),
]);

/** Calls of one protocol: who may seal blocks. */
export const ofConsensus: Readonly<Record<Profile["consensus"], ReadonlyMap<string, Rules>>> = {
  clique: new Map([
    ...each(z.tuple([block]), "clique_getSigners"),
    ...each(z.tuple([hash]), "clique_getSignersAtHash"),
  ]),
  ibft: new Map([
    ...each(z.tuple([block]), "istanbul_getValidators"),
    ...each(z.tuple([hash]), "istanbul_getValidatorsAtHash"),
  ]),
  ibft2: new Map(each(z.tuple([number]), "ibft_getValidatorsByBlockNumber")),
  raft: new Map(),
};

const kind = z.string();
/** The kinds of subscriptions. The service always has all blocks, so `syncing` never changes. */
export const subscriptions: ReadonlyMap<unknown, Rules> = new Map([
  ...each(z.tuple([kind]), "newHeads", "syncing"),
  ...each(z.tuple([kind, watched]), "logs"),
  ...each(z.tuple([kind, maybeFlag]), "newPendingTransactions"),
]);

/** Calls that sign, with the account of the caller's node. */
export const signing: ReadonlyMap<string, Rules> = new Map([
  ...each(z.tuple([transaction]), "eth_sendTransaction", "eth_signTransaction"),
  ...each(z.tuple([address, data]), "eth_sign"),
  ...each(z.tuple([data, address, maybe(text(1_024))]), "personal_sign"),
  ...each(z.tuple([address, typedData]), "eth_signTypedData", "eth_signTypedData_v3", "eth_signTypedData_v4"),
]);

/** Problems in geth's words for the whole call, with their code. */
const ofPercentile = "invalid reward percentile";
const whole: readonly [begin: string, code: number][] = [
  ["pending logs are not supported", -32_602],
  ["invalid block range params", -32_602],
  [ofPercentile, -32_000],
  ["account 0x", -32_000],
];

/** The first problem of params, with the argument's number, in geth's words. */
export function whyInvalid({ issues: [issue] }: z.ZodError, params: readonly unknown[], rules: Rules): Unfit {
  const { code, path, message } = issue!;
  const [at, ...fields] = path.map(String);
  const [, known] = whole.find(([begin]) => message.startsWith(begin)) ?? [];
  if (known !== undefined) return new Unfit(message, known);
  const missing = at === undefined && code === "too_small" ? params.length : at;
  if (missing === undefined) return new Unfit(`too many arguments, want at most ${rules.def.items.length}`, -32_602);
  if (fields.length === 0 && (params[Number(missing)] ?? undefined) === undefined)
    return new Unfit(`missing value for required argument ${missing}`, -32_602);
  const why = [...fields.map((field) => field.slice(0, 64)), message].join(": ");
  return new Unfit(`invalid argument ${missing}: ${why}`, -32_602);
}
