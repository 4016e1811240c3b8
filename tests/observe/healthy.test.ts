import { credentialsInOutputs } from "../../inventory/credentials";
import { LiveNetwork } from "../../inventory/live";
import { check } from "../../observe/check/checks";
import { observeNetwork } from "../../observe/check/observations";
import { ConsortiumClient, resolveSettings } from "../../provider/api";
import { populated, quick } from "../service/helpers";
import { until } from "../support/until";
import { result } from "../service/ledgers";
import { patiently } from "../support/jest/patience";

jest.setTimeout(patiently(600_000));

/** How often each ledger is looked at, without transactions and with some. */
const looks = Number(process.env.HEALTHY_LOOKS ?? 3);

test.each([
  ["raft", { provider: "quorum", consensus_type: "raft" }, true],
  ["ibft", { provider: "quorum", consensus_type: "ibft", block_period: 1 }, true],
  ["poa, idle before each look", { provider: "geth", consensus_type: "poa", block_period: 1 }, { idleAfter: 0 }],
])("finds no problem in a healthy ledger of %s, with and without transactions", async (_, environment, ledger) => {
  const { service, send, credential, paths } = await populated({ ledger, timing: quick }, environment);
  const { rpc } = (await send("GET", `${paths.node}/status`)).body.urls;
  const given = { apiKey: service.apiKey, baseUrl: service.baseUrl };
  const client = new ConsortiumClient(resolveSettings({ env: {}, given }));
  const live = new LiveNetwork(client, 0);
  const wrong = async () => {
    const results = check(await observeNetwork(client, { live, credentials: credentialsInOutputs(credential) }));
    return results.filter(({ outcome }) => outcome !== "ok");
  };
  const [from] = await result<string[]>(rpc, credential, "eth_accounts");
  const work = () =>
    result<string>(rpc, credential, "eth_sendTransaction", { from, to: from, value: "0x0", gasPrice: "0x0" });
  /** Fewer than one account may have waiting; the next ones follow when these are in blocks. */
  const batch = async () => {
    const hashes: string[] = [];
    while (isBusy && !isOver && hashes.length < 50) hashes.push(await work());
    await until(async () => isOver || !!(await result(rpc, credential, "eth_getTransactionReceipt", hashes.at(-1))));
  };
  let isBusy = false;
  let isOver = false;
  const traffic = (async () => {
    while (!isOver) await (isBusy ? batch() : new Promise((done) => setTimeout(done, 20)));
  })();
  try {
    for (let look = 1; look <= 2 * looks; look++) {
      isBusy = look % 2 === 0;
      if (isBusy) await work();
      expect({ look, isBusy, wrong: await wrong() }).toEqual({ look, isBusy, wrong: [] });
    }
  } finally {
    isOver = true;
    await traffic;
    await client.close();
  }
});
