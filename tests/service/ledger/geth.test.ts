import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Answer, differences, without } from "../../e2e/service/geth/differences";
import { answersOf, balance, chainId, Ledger, rich } from "../../e2e/service/geth/ledger";
import { basic } from "../helpers";
import { ledgered } from "../ledgers";

/*
 * A ledger gets the same calls as a real geth, whose answers are recorded (tests/e2e/service/geth.test.ts). The answers are equal, except
 * for the differences in the table in docs/reference/embedded-service.md.
 */

const root = join(__dirname, "../../..");

test("answers equal geth's, except for the differences in the table", async () => {
  const prefunded = { [rich.address]: { balance: `${balance}` } };
  const { credential, urls } = await ledgered(
    { answers: { quorumLedger: { hardFork: "london", gasPriceEnabled: true, transactionSize: 131_072 } } },
    { provider: "quorum", consensus_type: "raft", chain_id: chainId, prefunded_accounts: prefunded },
  );
  const headers = basic(credential.username, credential.password);
  const here = await answersOf(await new Ledger(urls.rpc, urls.wss, headers).begin());
  const recorded = readFileSync(join(root, "tests/e2e/service/geth/answers.json"), "utf8");
  const there = JSON.parse(recorded) as Record<string, Answer>;
  expect(Object.keys(here)).toEqual(Object.keys(there));
  const used = new Set<string>();
  const [own, other]: Record<string, Answer>[] = [{}, {}];
  for (const title of Object.keys(there))
    [own![title], other![title]] = without([here[title]!, there[title]!], { title, body: () => "" }, used);
  expect(own).toEqual(other);
  const page = readFileSync(join(root, "docs/reference/embedded-service.md"), "utf8");
  const [, table = ""] = page.split("| what | geth 1.17 | here |");
  const rows = table.split("\n\n")[0]!.split("\n").slice(2);
  expect(rows.map((row) => row.slice(2).split(" | ")[0])).toEqual(Object.keys(differences));
  expect([...used].sort()).toEqual(Object.keys(differences).sort());
});
