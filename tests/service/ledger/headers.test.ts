import {
  concat,
  dataSlice,
  decodeRlp,
  encodeRlp,
  keccak256,
  recoverAddress,
  stripZerosLeft,
  toBeHex,
  toQuantity,
} from "ethers";
import type { Profile } from "../../../service/profiles";
import { matching, newFolder } from "../helpers";
import { until } from "../../support/until";
import { eth, ledgered, result, rpc, webSocket } from "../ledgers";

/* The headers of each client, as its tools read them: the hash follows from them, and a signer can be recovered. */

type Header = Record<string, string>;
type Block = Header & { number: string; hash: string; parentHash: string };

const number = (value: string) => {
  const short = stripZerosLeft(toBeHex(BigInt(value)));
  return short === "0x00" ? "0x" : short;
};
const roots = ["parentHash", "sha3Uncles", "miner", "stateRoot", "transactionsRoot", "receiptsRoot", "logsBloom"];
const fieldsOf = (block: Header): string[] => [
  ...roots.map((name) => block[name]!),
  ...["difficulty", "number", "gasLimit", "gasUsed", "timestamp"].map((name) => number(block[name]!)),
  ...["extraData", "mixHash", "nonce"].map((name) => block[name]!),
];
const hashOf = (block: Header) => keccak256(encodeRlp(fieldsOf(block)));

/** The account that signed a hash: 65 bytes, of which the last one is 0 or 1. */
const signer = (digest: string, signature: string) =>
  recoverAddress(digest, concat([dataSlice(signature, 0, 64), toBeHex(27 + Number(dataSlice(signature, 64)), 1)]));
const extra = ({ extraData }: Header) => dataSlice(extraData!, 32);
const vanity = ({ extraData }: Header) => dataSlice(extraData!, 0, 32);

/** Who sealed a block, by its header alone. */
const authors: Record<Profile["consensus"], (block: Header) => string> = {
  clique: (block) => {
    const end = block.extraData!.length / 2 - 1 - 65;
    const unsigned = { ...block, extraData: dataSlice(block.extraData!, 0, end) };
    return signer(hashOf(unsigned), dataSlice(block.extraData!, end));
  },
  ibft: (block) => {
    const [validators, seal] = decodeRlp(extra(block)) as [string[], string];
    const unsigned = { ...block, extraData: concat([vanity(block), encodeRlp([validators, "0x", []])]) };
    return signer(keccak256(hashOf(unsigned)), seal);
  },
  ibft2: (block) => (decodeRlp(block.extraData!) as [string, string[]])[1][0]!,
  raft: (block) => signer(hashOf({ ...block, extraData: "0x" }), (decodeRlp(extra(block)) as string[])[1]!),
};

const nobody = `0x${"0".repeat(40)}`;
/** Logs a word while it is deployed. */
const logging = `0x7f${"ab".repeat(32)}60206000a1`;

test.each<[string, string, Profile["consensus"], string, string[]]>([
  ["quorum", "raft", "raft", "", ["0x0", "0x20000", "0x20000"]],
  ["quorum", "ibft", "ibft", "istanbul_getValidators", ["0x1", "0x1", "0x1"]],
  ["geth", "poa", "clique", "clique_getSigners", ["0x1", "0x2", "0x2"]],
  ["pantheon", "ibft", "ibft2", "ibft_getValidatorsByBlockNumber", ["0x1", "0x1", "0x1"]],
  ["pantheon", "poa", "clique", "clique_getSigners", ["0x1", "0x2", "0x2"]],
])("%s, %s", async (provider, consensus_type, consensus, sealers, difficulties) => {
  const period = consensus_type === "raft" ? {} : { block_period: 1 };
  const { credential, urls } = await ledgered({ dataDir: newFolder() }, { provider, consensus_type, ...period });
  const ask = <T>(method: string, ...params: unknown[]) => result<T>(urls.rpc, credential, method, ...params);
  const { socket, messages } = await webSocket(urls.wss, credential);
  socket.send(JSON.stringify([eth("eth_subscribe", "newHeads"), eth("eth_subscribe", "logs", {})]));
  await until(() => messages.length === 1);
  const filter = await ask<string>("eth_newBlockFilter");
  const [from] = await ask<[string]>("eth_accounts");
  type Receipt = { blockHash: string; blockNumber: string; logs: { blockHash: string }[]; transactionHash: string };
  const receipts: Receipt[] = [];
  while (receipts.length < 2) {
    const hash = await ask<string>("eth_sendTransaction", { from, data: logging });
    const receipt = () => ask<Receipt | null>("eth_getTransactionReceipt", hash);
    await until(async () => (await receipt()) !== null);
    receipts.push((await receipt())!);
  }
  const height = Number(receipts[1]!.blockNumber);
  const blocks: Block[] = [];
  for (let at = 0; at <= height; at++) blocks.push(await ask<Block>("eth_getBlockByNumber", toQuantity(at), false));

  const sealer = await ask<string>("eth_coinbase");
  for (const [at, block] of blocks.entries()) {
    expect([at, hashOf(block)]).toEqual([at, block.hash]);
    expect(block.parentHash).toBe(blocks[at - 1]?.hash ?? `0x${"0".repeat(64)}`);
    expect(await ask("eth_getBlockByHash", block.hash, false)).toEqual(block);
    const { accountProof } = await ask<{ accountProof: string[] }>("eth_getProof", from, [], { blockHash: block.hash });
    expect(keccak256(accountProof[0]!)).toBe(block.stateRoot);
    if (at > 0) expect(authors[consensus](block).toLowerCase()).toBe(sealer);
  }
  expect(blocks.slice(0, 3).map(({ difficulty }) => difficulty)).toEqual(difficulties.slice(0, blocks.length));
  const total = blocks.reduce((sum, { difficulty }) => sum + BigInt(difficulty!), 0n);
  expect(BigInt(blocks.at(-1)!.totalDifficulty!)).toBe(total);
  if (consensus === "clique") {
    expect(blocks.slice(1).map(({ extraData }) => extraData!.length)).toEqual(blocks.slice(1).map(() => 2 + 2 * 97));
    expect(extra(blocks[0]!).slice(0, 42)).toBe(sealer); // the first block names the signers
    expect(blocks.map(({ miner }) => miner)).toEqual(blocks.map(() => nobody));
  }
  // web3.py takes more than 32 bytes for a mistake, unless it is told of proof of authority
  expect(blocks.slice(1).filter(({ extraData }) => extraData!.length <= 2 + 2 * 32)).toEqual([]);
  if (sealers !== "") {
    expect(await ask(sealers, "latest")).toEqual([sealer]);
    await expect(ask(sealers, "0xffffff")).rejects.toThrow("unknown block");
  }

  for (const { blockHash, blockNumber, logs, transactionHash } of receipts) {
    expect(blockHash).toBe(blocks[Number(blockNumber)]!.hash);
    expect(logs.map((log) => log.blockHash)).toEqual([blockHash]);
    expect(await ask("eth_getLogs", { blockHash })).toEqual(logs);
    expect(await ask("eth_getTransactionByHash", transactionHash)).toMatchObject({ blockHash });
    expect(await ask("eth_getTransactionCount", from, { blockHash })).toBe(
      toQuantity(receipts.findIndex((one) => one.blockHash === blockHash) + 1),
    );
  }
  expect((await ask<string[]>("eth_getFilterChanges", filter)).slice(0, height)).toEqual(
    blocks.slice(1).map(({ hash }) => hash),
  );
  type Told = { params: { result: { hash?: string; blockHash?: string } } };
  const told = () => messages.slice(1).map((message) => (message as unknown as Told).params.result);
  await until(() => told().filter((one) => one.blockHash !== undefined).length === 2);
  const heads = told().flatMap(({ blockHash, hash }) => (blockHash === undefined ? [hash] : []));
  expect(heads.slice(0, height)).toEqual(blocks.slice(1).map(({ hash }) => hash));
  socket.terminate();

  // what people ran into
  const sent = async (more: object) => JSON.stringify((await rpc(urls.rpc, credential, asked(more))).body);
  const asked = (more: object) => eth("eth_sendTransaction", { from, to: from, ...more });
  const [priced, large] = [{ gasPrice: "0xf4610900" }, { data: `0x${"00".repeat(70_000)}` }];
  const isQuorum = provider === "quorum";
  for (const time of [1, 2]) {
    expect([time, await sent(priced)]).toEqual([time, matching(isQuorum ? /Gas price not 0/ : /"result":"0x/)]);
    expect([time, await sent(large)]).toEqual([time, matching(isQuorum ? /oversized data/ : /"result":"0x/)]);
  }
  const viems = Array.from({ length: 150 }, (_, id) => ({ ...eth("eth_getBalance", from, "latest"), id }));
  const { body } = await rpc(urls.rpc, credential, viems);
  expect((body as { result?: string }[]).filter((one) => one.result !== undefined)).toHaveLength(150);
  // what contracts see of it
  const coinbase = { [nobody]: { code: "0x4160005260206000f3" } };
  expect(await ask("eth_call", { to: nobody }, "latest", coinbase)).toBe(`0x${sealer.slice(2).padStart(64, "0")}`);
  expect((await rpc(urls.rpc, credential, eth("eth_call", {}, { blockHash: keccak256("0x") }))).body).toMatchObject({
    error: { message: "header for hash not found" },
  });
});
