import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { answersOf, balance, chainId, Forgotten, Ledger, rich } from "./geth/ledger";
import { realGeth } from "./geth/node";

/* The answers of a real geth, which tests/service/ledger/geth.test.ts compares with those of a ledger of the embedded service. */

jest.setTimeout(1_800_000); // the first time, geth is built

const file = join(__dirname, "geth/answers.json");

/** What a geth of its own answers. undefined: it did not make a block of each transaction. A busy one also makes empty ones, or too few. */
async function asked(): Promise<Awaited<ReturnType<typeof answersOf>> | undefined> {
  const geth = await realGeth(chainId, { [rich.address]: { balance: `0x${balance.toString(16)}` } });
  try {
    await geth.ready();
    const ledger = await new Ledger(geth.url, geth.wss).begin();
    const answers = await answersOf(ledger);
    for (let block = Number(await ledger.call("eth_blockNumber")); block > 0; block--)
      if ((await ledger.call("eth_getBlockTransactionCountByNumber", `0x${block.toString(16)}`)) === "0x0")
        return undefined;
    return answers;
  } catch (error) {
    if (error instanceof Forgotten) return undefined;
    throw error;
  } finally {
    await geth.end();
  }
}

test("a real geth answers as it was recorded; RECORD_GETH=true records it", async () => {
  let answers = await asked();
  while (!answers) answers = await asked();
  const lines = Object.entries(answers).map(([title, answer]) => `${JSON.stringify(title)}: ${JSON.stringify(answer)}`);
  if (process.env.RECORD_GETH) writeFileSync(file, `{\n${lines.join(",\n")}\n}\n`);
  expect(answers).toEqual(JSON.parse(readFileSync(file, "utf8")));
});
