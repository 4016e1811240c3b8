import fc from "fast-check";
import { contract, endless, eth, returning } from "../ledgers";

/** Input of the precompile for powers, with numbers of so many digits. */
const modexp = (size: number) => {
  const word = (value: number) => value.toString(16).padStart(64, "0");
  const length = Math.min(4_096, size);
  return `0x${word(length)}${word(length)}${word(length)}${"ff".repeat(3 * length)}`;
};

/** One of some, each as often as its number says. */
const often = <T>(...some: readonly (readonly [weight: number, fc.Arbitrary<T>])[]): fc.Arbitrary<T> =>
  fc.oneof(...some.map(([weight, arbitrary]) => ({ weight, arbitrary })));

/** Messages of somebody who wants to stop a service: all that calls can ask for, at its worst. */
export function hostileMessages(accounts: readonly string[]): fc.Arbitrary<string> {
  const bomb = {
    memory: "0x63f000000060005260006000f3",
    calls: "0x5b600080808080305af15056", // calls itself, again and again
    logs: "0x5b61400060006000a0600056", // logs 16 kB, again and again
    revert: "0x62100000600080fd",
  };
  const gas = fc.constantFrom<unknown>(
    ...[undefined, undefined, null, "0x1c9c380", "0x1c9c381", "0xffffffffffff", `0x${"f".repeat(64)}`, 2 ** 53 - 1],
    ...["0XFFFFFFFF", "00000099999999", "-1", "", {}, [], true, 1e300],
  );
  const code = fc.oneof(
    fc.constantFrom(endless, ...Object.values(bomb)),
    fc.constantFrom(1_000, 100_000, 3_900_000, 2 ** 31 - 1).map(returning),
    fc.constant(`0x${"5b".repeat(60_000)}`),
  );
  const addressed = (many: number) =>
    Object.fromEntries(
      Array.from({ length: many }, (_, at) => [`0x${at.toString(16).padStart(40, "0")}`, { balance: "0x1" }]),
    );
  const overrides = often(
    [4, code.map((text) => ({ [contract]: { code: text } }))],
    [1, fc.constantFrom<object | null>({}, null, { [contract]: {} }, [1])],
    [1, fc.nat(400).map(addressed)],
  );
  const block = fc.constantFrom<unknown>(
    ...["latest", "pending", "earliest", "0x0", "0xffffffffff", { blockNumber: "0x1" }, 7],
  );
  const raised = fc.constantFrom<unknown>(
    ...[undefined, { gasLimit: "0xffffffffffffff" }, { number: "0xffffffffff" }, { time: "0x0" }],
  );
  const from = fc.constantFrom(...accounts, contract, undefined);
  const transaction = fc.record({
    from,
    to: fc.constantFrom(contract, null, undefined),
    gas,
    gasPrice: fc.constantFrom("0x0", "0xffffffffffff", undefined),
  });
  const far = fc.constantFrom("earliest", "0x0", "latest", "0xffffffffffffffff", undefined);
  const filter = fc.record({
    fromBlock: far,
    toBlock: far,
    topics: fc.nat(2_000).map((many) => Array<null>(many).fill(null)),
  });
  /** Calls with as much of one thing as fits into a request. */
  const digits = (many: number) => `0x${"f".repeat(many)}`;
  const huge = fc.tuple(fc.constantFrom(100, 66_000, 290_000), fc.nat(11)).map(([size, which]) => {
    const many = Math.floor(size / 70);
    const words = Array<string>(many).fill(digits(64));
    const from = accounts[0];
    return [
      eth("eth_call", { to: contract, data: digits(size) }, "latest"),
      eth("eth_call", { to: "0x0000000000000000000000000000000000000005", data: modexp(size) }, "latest"),
      eth("eth_estimateGas", { data: `0x${"5b".repeat(size >> 1)}` }),
      eth("eth_getBalance", digits(size), "latest"),
      eth("eth_getBlockByNumber", digits(size), false),
      eth("eth_getStorageAt", contract, digits(size), "latest"),
      eth("eth_getLogs", { address: Array<string>(many).fill(contract), topics: [words, words.slice(0, 100)] }),
      eth("eth_call", { to: contract, accessList: [{ address: contract, storageKeys: words }] }, "latest"),
      eth("eth_call", { to: contract, authorizationList: words.map(() => ({ address: contract })) }, "latest"),
      eth("eth_call", { to: contract, blobVersionedHashes: words, maxFeePerBlobGas: "0x1" }, "latest"),
      eth("eth_sendTransaction", { from, to: contract, data: digits(size), nonce: "0xffff", gasPrice: "0x0" }),
      eth("personal_sign", digits(size), from),
    ][which]!;
  });
  const nested = fc
    .constantFrom(10, 1_000, 100_000)
    .map((depth) => JSON.parse("[".repeat(depth) + "]".repeat(depth)) as unknown);
  const executing = fc.constantFrom("eth_call", "eth_estimateGas", "eth_createAccessList");
  const executed = fc
    .tuple(executing, transaction, block, overrides, raised)
    .map(([method, ...params]) => eth(method, ...params));
  const calls = fc.array(transaction, { maxLength: 40 });
  const simulated = fc
    .array(fc.record({ blockOverrides: raised, stateOverrides: overrides, calls }), { maxLength: 20 })
    .map((blockStateCalls) => eth("eth_simulateV1", { blockStateCalls }, "latest"));
  const sent = fc.tuple(transaction, code).map(([one, data]) => eth("eth_sendTransaction", { ...one, data }));
  const fees = fc
    .tuple(far, fc.nat(5_000))
    .map(([newest, many]) => eth("eth_feeHistory", "0xffffffffff", newest, Array(many).fill(50)));
  const proofs = fc
    .nat(5_000)
    .map((many) => eth("eth_getProof", contract, Array(many).fill(`0x${"0".repeat(64)}`), "latest"));
  const logs = fc
    .tuple(fc.constantFrom("eth_getLogs", "eth_newFilter"), filter)
    .map(([method, wanted]) => eth(method, wanted));
  const plain = fc
    .constantFrom("eth_newBlockFilter", "eth_newPendingTransactionFilter", "eth_chainId")
    .map((method) => eth(method));
  const subjects = fc.constantFrom("newHeads", "logs", "newPendingTransactions", "syncing");
  const subscribed = fc
    .tuple(subjects, fc.constantFrom<unknown>(undefined, {}, true))
    .map((params) => eth("eth_subscribe", ...params));
  const other = fc.constantFrom(
    ...["anvil_mine", "anvil_setBalance", "evm_setIntervalMining", "eth_sendRawTransaction", "web3_sha3"],
    ...["debug_traceCall", "debug_traceTransaction", "debug_traceBlockByNumber", "debug_storageRangeAt", "trace_call"],
    ...["trace_filter", "trace_replayTransaction", "ots_traceTransaction", "erigon_getHeaderByNumber"],
    ...["txpool_content", "anvil_dumpState", "anvil_nodeInfo", "evm_snapshot", "evm_increaseTime", "admin_peers"],
    ...["eth_fillTransaction", "eth_getAccount", "eth_getAccountInfo", "eth_signTypedData_v4", "eth_getWork"],
    "eth_getFilterLogs",
  );
  const anything = fc.constantFrom<unknown>(
    ...[undefined, "latest", contract, { to: contract }, accounts[0], "0xff", {}, 5],
  );
  const others = fc.constantFrom<unknown[]>([], ["latest", {}]);
  const strange = fc.tuple(other, anything, others).map(([method, first, rest]) => eth(method, first, ...rest));
  const deep = nested.map((params) => ({ ...eth("eth_call"), params }));
  const named = fc.anything({ maxDepth: 3 }).map((id) => ({ ...eth("eth_blockNumber"), id: id ?? null }));
  const some = (weight: number, ...all: fc.Arbitrary<object>[]) => all.map((one) => [weight, one] as const);
  const call = often<object>(
    [6, executed],
    ...some(2, sent, logs, subscribed, huge),
    [3, strange],
    ...some(1, simulated, fees, proofs, plain, deep, named),
  );
  const batch = fc
    .tuple(fc.array(call, { minLength: 1, maxLength: 5 }), fc.constantFrom(1, 15, 30, 75))
    .map(([some, times]) => Array.from({ length: times }, () => some).flat());
  const text = (value: unknown) => {
    try {
      return (
        JSON.stringify(value, (_key, inner: unknown) => (typeof inner === "bigint" ? String(inner) : inner)) ?? "null"
      );
    } catch {
      return "[".repeat(50_000); // nested too deeply to be written
    }
  };
  const noise = fc.oneof(fc.string(), fc.json(), fc.constantFrom("x".repeat(1_048_577), "[".repeat(500_000), "{"));
  return often([6, call.map(text)], [3, batch.map(text)], [1, noise]);
}
