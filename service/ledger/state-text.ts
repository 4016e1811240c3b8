import { ServiceError } from "../errors";

/** A block or a transaction in a state. */
interface Piece {
  number: number;
  /** A transaction's. */
  hash: string;
  /** A block's: the hash of the one before. */
  parent: string;
  json: Buffer;
}

/** Splits a state that an engine dumped into what comes before the blocks, each block, and each transaction. */
export function taken(dump: Buffer) {
  const at = dump.indexOf('"best_block_number":');
  const from = dump.indexOf('"blocks":[', at);
  const until = dump.lastIndexOf('],"transactions":[');
  const end = dump.lastIndexOf('],"historical_states"');
  if (at < 0 || from < 0 || until < from || end < until)
    throw new ServiceError("The engine dumps its state in an unknown format.");
  const blocks = pieces(dump.subarray(from, until), '{"header":{"parentHash":"').map((json): Piece => {
    const { header } = JSON.parse(json.toString()) as { header: { number: string; parentHash: string } };
    return { json, number: Number(header.number), parent: header.parentHash, hash: "" };
  });
  const transactions = pieces(dump.subarray(until, end), '{"info":{"transaction_hash":"').map((json): Piece => {
    type Mined = { info: { transaction_hash: string }; block_number: number };
    const { info, block_number: number } = JSON.parse(json.toString()) as Mined;
    return { json, number, hash: info.transaction_hash, parent: "" };
  });
  blocks.sort((one, other) => one.number - other.number);
  return { begin: dump.subarray(0, at), blocks, transactions };
}

/** Splits a list into its objects. Nothing that users choose can look like `begin`: all of that is hexadecimal. */
function pieces(list: Buffer, begin: string): Buffer[] {
  const found: Buffer[] = [];
  for (let at = list.indexOf(begin); at >= 0;) {
    const next = list.indexOf(begin, at + 1);
    found.push(list.subarray(at, next < 0 ? undefined : next - 1)); // without the comma between them
    at = next;
  }
  return found;
}

/** What comes before the blocks in a state without accounts. */
export const nothing = Buffer.from('{"block":null,"accounts":{},"best_block_number":null');
const comma = Buffer.from(",");
const joined = (list: readonly Piece[]) => list.flatMap(({ json }, index) => (index === 0 ? [json] : [comma, json]));

/** A state that an engine can load. */
export function stateOf(begin: Buffer, blocks: readonly Piece[], transactions: readonly Piece[]): Buffer {
  const [one, two, three] = [',"blocks":[', '],"transactions":[', '],"historical_states":null}'].map((text) =>
    Buffer.from(text),
  );
  return Buffer.concat([begin, one!, ...joined(blocks), two!, ...joined(transactions), three!]);
}
