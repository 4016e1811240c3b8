import { hasFork, headerFields, type Profile } from "../profiles";
import { ethers } from "./ethers";
import type { Block, Made, Sealed, Sealer } from "./ledger-data";

type Fields = Record<string, unknown>;
/** What a client writes into a header, besides what the execution yields. */
type Own = Record<"miner" | "difficulty" | "mixHash" | "nonce" | "extraData", string>;

const roots = ["parentHash", "sha3Uncles", "miner", "stateRoot", "transactionsRoot", "receiptsRoot", "logsBloom"];
const counts = ["difficulty", "number", "gasLimit", "gasUsed", "timestamp"];
const later = [
  ...["baseFeePerGas", "withdrawalsRoot", "blobGasUsed", "excessBlobGas", "parentBeaconBlockRoot", "requestsHash"],
];
const order = [...roots, ...counts, "extraData", "mixHash", "nonce", ...later];
const quantities = new Set([...counts, "baseFeePerGas", "blobGasUsed", "excessBlobGas"]);

const bytesOf = (quantity: string) => {
  const digits = quantity.slice(2).replace(/^0+/, "");
  return `0x${digits.length % 2 === 0 ? "" : "0"}${digits}`;
};
function hashOf(header: Fields): string {
  const fields = order
    .filter((name) => typeof header[name] === "string")
    .map((name) => (quantities.has(name) ? bytesOf(header[name] as string) : (header[name] as string)));
  return ethers().keccak256(Buffer.from(ethers().encodeRlp(fields).slice(2), "hex")); // bytes are hashed twice as quickly
}

/** A signature as headers have it: 65 bytes, without 0x. */
function signature(digest: string, { secretKey }: Sealer): string {
  const { r, s, yParity } = new (ethers().SigningKey)(secretKey).sign(digest);
  return `${r.slice(2)}${s.slice(2)}0${yParity}`;
}

const zeros = (bytes: number) => "00".repeat(bytes);
const none = { miner: `0x${zeros(20)}`, mixHash: `0x${zeros(32)}`, nonce: `0x${zeros(8)}` };
const vanity = zeros(32);
const seal = 65;
/** "Istanbul practical byzantine fault tolerance": how clients recognize such a header. */
const istanbul = "0x63746963616c2062797a616e74696e65206661756c7420746f6c6572616e6365";
/** Clique repeats its signers after this many blocks. */
const epoch = 30_000;

type Form = (header: Fields, number: number, by: Sealer) => Own;

/** The header of each protocol, as its client writes it. There is one sealer; the first block is not signed. */
const forms: Readonly<Record<Profile["consensus"], Form>> = {
  clique(header, number, by) {
    const own = { ...none, difficulty: number === 0 ? "0x1" : "0x2" };
    const begin = `0x${vanity}${number % epoch === 0 ? by.address.slice(2) : ""}`;
    const signed = number === 0 ? zeros(seal) : signature(hashOf({ ...header, ...own, extraData: begin }), by);
    return { ...own, extraData: `${begin}${signed}` };
  },
  ibft(header, number, by) {
    const own = { ...none, difficulty: "0x1", mixHash: istanbul };
    // without the seals of the others, the hash is that of the header as it is shown
    const extra = (signed: string) =>
      `0x${vanity}${ethers()
        .encodeRlp([[by.address], `0x${signed}`, []])
        .slice(2)}`;
    if (number === 0) return { ...own, extraData: extra(zeros(seal)) };
    const digest = ethers().keccak256(hashOf({ ...header, ...own, extraData: extra("") }));
    return { ...own, extraData: extra(signature(digest, by)) };
  },
  ibft2(_header, number, by) {
    const miner = number === 0 ? none.miner : by.address;
    const extraData = ethers().encodeRlp([`0x${vanity}`, [by.address], "0x", `0x${zeros(4)}`, []]);
    return { ...none, miner, difficulty: "0x1", mixHash: istanbul, extraData };
  },
  raft(header, number, by) {
    if (number === 0) return { ...none, difficulty: "0x0", extraData: `0x${vanity}` };
    const own = { ...none, miner: by.address, difficulty: "0x20000" };
    const signed = signature(hashOf({ ...header, ...own, extraData: "0x" }), by);
    const raftId = "0x31"; // "1"
    return {
      ...own,
      extraData: `0x${vanity}${ethers()
        .encodeRlp([raftId, `0x${signed}`])
        .slice(2)}`,
    };
  },
};

const without = (fields: Fields, names: readonly string[]): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)));
/** Fields that only the engine adds. */
const added = ["blockTimestamp"];
export const shownTransaction = <T extends Fields>(one: T): T => without(one, added) as T;
const shownReceipt = <T extends Fields>(one: T, profile: Profile | undefined): T => {
  const hasBlobs = !profile || hasFork(profile.hardFork, "cancun");
  return without(one, hasBlobs ? added : [...added, "blobGasUsed", "blobGasPrice"]) as T;
};

/** The fields of later hard forks, which the engine's first block has. */
const unknownTo = ({ hardFork }: Profile) =>
  headerFields("prague").filter((name) => !headerFields(hardFork).includes(name));
const withoutLater = (fields: Fields, profile: Profile | undefined): Fields =>
  profile ? without(fields, unknownTo(profile)) : fields;

/**
 * Seals a block that an engine has made: writes its header as the client does that the ledger imitates, since the engine cannot. The hash
 * is that of this header, and all its results have it.
 *
 * @param parent the sealed block before it; undefined for the first one
 */
export function sealed(
  { block, receipts, raws, stateRoot }: Made,
  parent: Sealed | undefined,
  profile: Profile | undefined,
  by: Sealer | undefined,
): Sealed {
  const number = Number(block.number);
  const header = {
    ...withoutLater(block, profile),
    ...(stateRoot === undefined ? {} : { stateRoot }),
    ...(parent ? { parentHash: parent.block.hash } : {}),
  };
  const own = profile && by ? forms[profile.consensus](header, number, by) : undefined;
  const hash = hashOf({ ...header, ...own });
  const before = (parent?.block.totalDifficulty as string | undefined) ?? "0x0";
  const total = own && { totalDifficulty: `0x${(BigInt(before) + BigInt(own.difficulty)).toString(16)}` };
  const inIt = <T extends Fields>(one: T): T => ({ ...one, blockHash: hash });
  return {
    block: {
      ...(header as Block),
      ...own,
      ...total,
      hash,
      transactions: block.transactions.map((one) => shownTransaction(inIt(one))),
    },
    receipts: receipts.map((one) => ({ ...shownReceipt(inIt(one), profile), logs: one.logs.map(inIt) })),
    raws,
    made: block.hash,
  };
}

/** A block that does not exist yet, after another one. It is not sealed, and no engine has made it. */
export function unsealed(block: Block, parent: Sealed, profile: Profile | undefined): Sealed {
  const [next] = following([block], parent, profile);
  const transactions = next!.transactions.map((one) => shownTransaction({ ...one, blockHash: next!.hash }));
  return { block: { ...next!, transactions }, receipts: [], raws: [], made: "" };
}

export function following(blocks: readonly Block[], parent: Sealed, profile: Profile | undefined): Block[] {
  const { difficulty, mixHash, totalDifficulty } = parent.block;
  let { hash: parentHash } = parent.block;
  return blocks.map((block) => {
    const own = profile ? { difficulty, mixHash, totalDifficulty } : {};
    const header = { ...(withoutLater(block, profile) as Block), parentHash, ...own };
    parentHash = hashOf(header);
    return { ...header, hash: parentHash };
  });
}

const notInHeaders = ["transactions", "uncles", "size", "totalDifficulty", "withdrawals"];
export const headerOf = (block: Block): Fields => without(block, notInHeaders);

/** The root of a state, by the proof of any account in it. */
export const rootOf = (proof: readonly string[]): string | undefined =>
  proof[0] === undefined ? undefined : ethers().keccak256(proof[0]);
