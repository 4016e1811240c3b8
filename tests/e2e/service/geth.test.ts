import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { answersOf, balance, chainId, Ledger, rich } from "./geth/ledger";
import { realGeth } from "./geth/node";

/* The answers of a real geth, which tests/service/ledger/geth.test.ts compares with those of a ledger of the embedded service. */

jest.setTimeout(1_800_000); // the first time, geth is built

const file = join(__dirname, "geth/answers.json");

test("a real geth answers as it was recorded; RECORD_GETH=true records it", async () => {
  const geth = await realGeth(chainId, { [rich.address]: { balance: `0x${balance.toString(16)}` } });
  try {
    await geth.ready();
    const answers = await answersOf(await new Ledger(geth.url, geth.wss).begin());
    const lines = Object.entries(answers).map(
      ([title, answer]) => `${JSON.stringify(title)}: ${JSON.stringify(answer)}`,
    );
    if (process.env.RECORD_GETH) writeFileSync(file, `{\n${lines.join(",\n")}\n}\n`);
    expect(answers).toEqual(JSON.parse(readFileSync(file, "utf8")));
  } finally {
    await geth.end();
  }
});
