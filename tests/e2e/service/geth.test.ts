import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { answersOf, balance, chainId, Ledger, rich } from "./geth/ledger";
import { realGeth } from "./geth/node";

/* The answers of a real geth, which tests/service/ledger/geth.test.ts compares with those of a ledger of the embedded service. */

jest.setTimeout(1_800_000); // the first time, geth is built

const file = join(__dirname, "geth/answers.json");

/** What a geth of its own answers, and whether it made a block of each transaction: a busy one makes empty ones, too. */
async function asked(): Promise<{ answers: Awaited<ReturnType<typeof answersOf>>; isRegular: boolean }> {
  const geth = await realGeth(chainId, { [rich.address]: { balance: `0x${balance.toString(16)}` } });
  try {
    await geth.ready();
    const ledger = await new Ledger(geth.url, geth.wss).begin();
    const answers = await answersOf(ledger);
    let isRegular = true;
    for (let block = Number(await ledger.call("eth_blockNumber")); block > 0; block--) {
      const count = await ledger.call("eth_getBlockTransactionCountByNumber", `0x${block.toString(16)}`);
      isRegular &&= count !== "0x0";
    }
    return { answers, isRegular };
  } finally {
    await geth.end();
  }
}

test("a real geth answers as it was recorded; RECORD_GETH=true records it", async () => {
  let { answers, isRegular } = await asked();
  while (!isRegular) ({ answers, isRegular } = await asked());
  const lines = Object.entries(answers).map(([title, answer]) => `${JSON.stringify(title)}: ${JSON.stringify(answer)}`);
  if (process.env.RECORD_GETH) writeFileSync(file, `{\n${lines.join(",\n")}\n}\n`);
  expect(answers).toEqual(JSON.parse(readFileSync(file, "utf8")));
});
