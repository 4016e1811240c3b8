import { z } from "zod";

/** What the calls of Ethereum's specification take. Nothing converts a param, or reads a number, before it was found to be one. */

/** The longest number: 32 bytes in hexadecimal digits, after 0x. */
const longest = 66;

const isText = (given: unknown, most: number) => typeof given === "string" && given.length <= most;
/** A text. zod's own limit of a length converts the length of an object that has one. */
const text = (most: number) =>
  z.custom<string>((given) => isText(given, most), `must be a text of at most ${most} characters`);

const quantity = z.custom<string | number>(
  (given) =>
    typeof given === "number"
      ? Number.isSafeInteger(given) && given >= 0
      : isText(given, longest) && /^(0x[\da-f]+|\d+)$/i.test(given as string),
  'must be a hexadecimal number of at most 64 digits, such as "0x5208"',
);
export type Quantity = z.output<typeof quantity>;

const hash = text(longest);
const address = text(42);
const data = z.string();
const list = <T extends z.ZodType>(of: T) => z.array(of).nullish();
const maybeQuantity = quantity.nullish();
const maybeHash = hash.nullish();
const maybeAddress = address.nullish();
const maybeData = data.nullish();
const maybeFlag = z.boolean().nullish();

const tags = z.enum(["latest", "pending", "earliest", "safe", "finalized"]);
/** One party makes the blocks and never replaces any, so each is final at once. */
const tag = tags.transform((named) => (named === "safe" || named === "finalized" ? "latest" : named));
const number = z.union([tag, quantity], 'must be the number of a block, such as "0x10", or "latest"');
const block = z
  .union(
    [number, z.object({ blockNumber: number }), z.object({ blockHash: hash, requireCanonical: maybeFlag })],
    'must be the number or hash of a block, or "latest"',
  )
  .nullish();

const authorization = z.object({
  chainId: quantity,
  address,
  nonce: quantity,
  yParity: maybeQuantity,
  v: maybeQuantity,
  r: maybeQuantity,
  s: maybeQuantity,
});
const transaction = z.object({
  from: maybeAddress,
  to: maybeAddress,
  value: maybeQuantity,
  data: maybeData,
  input: maybeData,
  nonce: maybeQuantity,
  type: maybeQuantity,
  chainId: maybeQuantity,
  gas: maybeQuantity,
  gasLimit: maybeQuantity,
  gasPrice: maybeQuantity,
  maxFeePerGas: maybeQuantity,
  maxPriorityFeePerGas: maybeQuantity,
  maxFeePerBlobGas: maybeQuantity,
  accessList: list(z.object({ address, storageKeys: list(hash) })),
  authorizationList: list(authorization),
  blobVersionedHashes: list(hash),
  blobs: list(data),
  commitments: list(data),
  proofs: list(data),
});
export type Transaction = z.output<typeof transaction>;

const filter = z.object({
  fromBlock: number.nullish(),
  toBlock: number.nullish(),
  blockHash: maybeHash,
  address: z.union([address, z.array(address)], "must be an address, or a list of them").nullish(),
  topics: list(z.union([maybeHash, z.array(maybeHash)], "must be a topic, a list of them, or null")),
});

const slots = z.record(hash, hash).nullish();
const account = z.object({
  balance: maybeQuantity,
  nonce: maybeQuantity,
  code: maybeData,
  state: slots,
  stateDiff: slots,
  movePrecompileToAddress: maybeAddress,
});
const stateOverrides = z.record(address, account).nullish();
const blockOverrides = z
  .object({
    number: maybeQuantity,
    difficulty: maybeQuantity,
    time: maybeQuantity,
    gasLimit: maybeQuantity,
    coinbase: maybeAddress,
    feeRecipient: maybeAddress,
    random: maybeHash,
    prevRandao: maybeHash,
    baseFee: maybeQuantity,
    baseFeePerGas: maybeQuantity,
    blobBaseFee: maybeQuantity,
    blockHash: slots,
  })
  .nullish();
const simulation = z.object({
  blockStateCalls: list(z.object({ blockOverrides, stateOverrides, calls: list(transaction) })),
  traceTransfers: maybeFlag,
  validation: maybeFlag,
  returnFullTransactions: maybeFlag,
});
export type Simulation = z.output<typeof simulation>;

const typedData = z.union([data, z.looseObject({})], "must be typed data, as an object or as JSON");
const subscribed = z.union([z.boolean(), filter], "must be a filter").nullish();

type Rules = z.ZodTuple;
const each = (rules: Rules, ...methods: string[]) => methods.map((method): [string, Rules] => [method, rules]);

/** The calls of Ethereum's specification that a node answers. Anvil's own (`anvil_`, `evm_`, …) are for the service only. */
export const standard: ReadonlyMap<string, Rules> = new Map([
  ...each(z.tuple([]), "web3_clientVersion", "net_listening", "net_peerCount", "net_version", "eth_blobBaseFee"),
  ...each(z.tuple([]), "eth_blockNumber", "eth_chainId", "eth_coinbase", "eth_config", "eth_gasPrice", "eth_syncing"),
  ...each(z.tuple([]), "eth_maxPriorityFeePerGas", "eth_protocolVersion"),
  ...each(z.tuple([]), "eth_newBlockFilter", "eth_newPendingTransactionFilter"),
  ...each(z.tuple([data]), "web3_sha3"),
  ...each(z.tuple([transaction, block, stateOverrides, blockOverrides]), "eth_call", "eth_estimateGas"),
  ...each(z.tuple([transaction, block, stateOverrides]), "eth_createAccessList"),
  ...each(z.tuple([simulation, block]), "eth_simulateV1"),
  ...each(z.tuple([quantity, number, list(z.number())]), "eth_feeHistory"),
  ...each(z.tuple([address, block]), "eth_getBalance", "eth_getCode", "eth_getTransactionCount"),
  ...each(z.tuple([address, z.array(quantity), block]), "eth_getProof"),
  ...each(z.tuple([address, quantity, block]), "eth_getStorageAt"),
  ...each(z.tuple([filter]), "eth_getLogs", "eth_newFilter"),
  ...each(z.tuple([hash, maybeFlag]), "eth_getBlockByHash"),
  ...each(z.tuple([number, maybeFlag]), "eth_getBlockByNumber"),
  ...each(z.tuple([block]), "eth_getBlockReceipts"),
  ...each(z.tuple([hash]), "eth_getTransactionByHash", "eth_getTransactionReceipt", "eth_getRawTransactionByHash"),
  ...each(z.tuple([hash]), "eth_getBlockTransactionCountByHash", "eth_getUncleCountByBlockHash"),
  ...each(z.tuple([number]), "eth_getBlockTransactionCountByNumber", "eth_getUncleCountByBlockNumber"),
  ...each(z.tuple([hash, quantity]), "eth_getTransactionByBlockHashAndIndex", "eth_getUncleByBlockHashAndIndex"),
  ...each(z.tuple([number, quantity]), "eth_getTransactionByBlockNumberAndIndex", "eth_getUncleByBlockNumberAndIndex"),
  ...each(z.tuple([text(longest)]), "eth_uninstallFilter", "eth_getFilterChanges", "eth_getFilterLogs"),
  ...each(z.tuple([text(longest), subscribed]), "eth_subscribe"),
  ...each(z.tuple([text(longest)]), "eth_unsubscribe"),
  ...each(z.tuple([data]), "eth_sendRawTransaction"),
  ...each(z.tuple([data, maybeQuantity]), "eth_sendRawTransactionSync"),
]);

/** Calls that sign, with the account of the caller's node. */
export const signing: ReadonlyMap<string, Rules> = new Map([
  ...each(z.tuple([transaction]), "eth_sendTransaction", "eth_signTransaction"),
  ...each(z.tuple([transaction, maybeQuantity]), "eth_sendTransactionSync"),
  ...each(z.tuple([address, data]), "eth_sign"),
  ...each(z.tuple([data, address, maybeData]), "personal_sign"),
  ...each(z.tuple([address, typedData]), "eth_signTypedData", "eth_signTypedData_v3", "eth_signTypedData_v4"),
]);
