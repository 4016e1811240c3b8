import { Wallet } from "ethers";
import { Refusal } from "../../../service/errors";
import { Engine } from "../../../service/ledger/engine";
import { LedgerData } from "../../../service/ledger/ledger-data";
import { isAlive } from "../../../tools/lib/processes.mjs";
import { until } from "../../support/until";
import { blockNumber, chainsBelow, eth, ledgered, result, rpc } from "../ledgers";

const raft = { provider: "quorum", consensus_type: "raft" };

const processes = () => chainsBelow(process.pid);

/** A ledger with a transaction, and its answers about it. */
async function used() {
  const made = await ledgered({}, raft);
  const { urls, credential, paths, send } = made;
  const [from] = await result<string[]>(urls.rpc, credential, "eth_accounts");
  const to = `0x${"7".repeat(40)}`;
  const pay = () => result<string>(urls.rpc, credential, "eth_sendTransaction", { from, to, value: "0x7" });
  const receipt = (hash: string) => result<object | null>(urls.rpc, credential, "eth_getTransactionReceipt", hash);
  const status = async () => (await send("GET", `${paths.node}/status`)).body;
  const log = async () => (await send("GET", `${paths.node}/logs/geth`)).text;
  return { ...made, from, to, pay, receipt, status, log };
}

/** Calls wait while there is no chain. Calls in progress fail. */
const settled = (answer: () => Promise<unknown>) =>
  until(() =>
    answer().then(
      () => true,
      () => false,
    ),
  );

test("killed watchers: the service survives, and each ledger continues with all its answers", async () => {
  const { credential, urls, pay, receipt, log, send, paths, membership } = await used();
  const other = { provider: "geth", consensus_type: "poa", name: "other", block_period: 1 };
  const made = (await send("POST", `${paths.consortium}/environments`, other)).body._id;
  const elsewhere = `${paths.consortium}/environments/${made}`;
  const pair = (await send("POST", `${elsewhere}/appcreds`, { membership_id: membership })).body;
  const node = (await send("POST", `${elsewhere}/nodes`, { membership_id: membership })).body._id;
  const { rpc: url } = (await send("GET", `${elsewhere}/nodes/${node}/status`)).body.urls;
  await until(async () => (await blockNumber(url, pair)) > 0);
  const hash = await pay();
  const before = await receipt(hash);
  const { watchers, chains } = processes();
  expect([watchers.length, chains.length]).toEqual([4, 2]);
  for (const pid of watchers) process.kill(pid, "SIGKILL");
  await until(() => !chains.some(isAlive));
  await settled(() => receipt(hash));
  expect(await receipt(hash)).toEqual(before);
  expect(await receipt(await pay())).toMatchObject({ status: "0x1" });
  await settled(() => blockNumber(url, pair));
  const height = await blockNumber(url, pair);
  await until(async () => (await blockNumber(url, pair)) > height);
  expect(await log()).toMatch(
    /Restarting the ledger \S+: it ended with SIGKILL.*runs again, at block 1: nothing is lost/s,
  );
  expect(processes().chains).toHaveLength(2);
  expect(await blockNumber(urls.rpc, credential)).toBe(2);
});

test("a node's log has no logs, output or revert data of contracts", async () => {
  const { credential, urls, from, log, status } = await used();
  const text = Buffer.from("\nBlock Number: 424242\nImported block number=424242").toString("hex");
  // copies its input, logs it, and reverts with it if it was sent no money
  const code = "366000600037366000a034601257366000fd5b00";
  const size = (code.length / 2).toString(16);
  const init = `60${size}600c60003960${size}6000f3${code}`;
  type Receipt = { contractAddress: string; status: string; logs: { data: string }[] };
  const sent = async (call: object) => {
    const hash = await result<string>(urls.rpc, credential, "eth_sendTransaction", { from, gas: "0x30000", ...call });
    return result<Receipt>(urls.rpc, credential, "eth_getTransactionReceipt", hash);
  };
  const { contractAddress: to } = await sent({ data: `0x${init}` });
  const logged = await sent({ to, value: "0x1", data: `0x${text}` });
  expect(logged).toMatchObject({ status: "0x1", logs: [{ data: `0x${text}` }] });
  expect(await sent({ to, data: `0x${text}` })).toMatchObject({ status: "0x0" });
  const failed = await rpc(urls.rpc, credential, eth("eth_call", { to, data: `0x${text}` }, "latest"));
  expect(failed.body).toMatchObject({ error: { data: `0x${text}` } });
  const word = (value: number) => value.toString(16).padStart(64, "0");
  const print = `0x41304fac${word(32)}${word(text.length / 2)}${text.padEnd(128, "0")}`; // log(string)
  const printed = await sent({ to: "0x000000000000000000636F6e736F6c652e6c6f67", data: print });
  expect(printed).toMatchObject({ status: "0x1" });
  expect(await log()).not.toContain("424242");
  expect((await status()).block_height).toBe(4);
});

test("blocks come at the requested period", async () => {
  const { credential, urls } = await ledgered({}, { provider: "quorum", consensus_type: "ibft", block_period: 2 });
  const first = await blockNumber(urls.rpc, credential);
  const begun = performance.now();
  await until(async () => (await blockNumber(urls.rpc, credential)) >= first + 3);
  const took = (performance.now() - begun) / 1_000;
  const last = await blockNumber(urls.rpc, credential);
  expect(last - first).toBeLessThanOrEqual(took / 2 + 1); // no more often than that, whatever the machine does
});

/** A ledger, and somebody with own keys who sends signed transactions. */
async function payer(answers: object = {}, more: (address: string) => object = () => ({})) {
  const sender = Wallet.createRandom();
  const { credential, urls } = await ledgered({ answers }, { ...raft, ...more(sender.address) });
  const ask = (method: string, ...params: unknown[]) => result<string | null>(urls.rpc, credential, method, ...params);
  const chainId = Number(await ask("eth_chainId"));
  const usual = { type: 0, gasPrice: 0, gasLimit: 21_000, to: sender.address, chainId };
  const pay = async (nonce: number, fields: object = {}) => {
    const raw = await sender.signTransaction({ ...usual, nonce, ...fields });
    return rpc(urls.rpc, credential, eth("eth_sendRawTransaction", raw));
  };
  const hashOf = async (sent: ReturnType<typeof pay>) => ((await sent).body as { result: string }).result;
  const mined = (hash: string) => until(async () => (await ask("eth_getTransactionReceipt", hash)) !== null);
  return { address: sender.address, ask, pay, hashOf, mined };
}

test("an unrecorded transaction is in no block, and the one that it would have replaced gets its receipt", async () => {
  const rich = (address: string) => ({ prefunded_accounts: { [address]: { balance: `${10n ** 18n}` } } });
  const { address, ask, pay, hashOf, mined } = await payer({ quorumLedger: { gasPriceEnabled: true } }, rich);
  const unrecorded = async (sent: () => ReturnType<typeof pay>) => {
    jest.spyOn(LedgerData.prototype, "record").mockRejectedValueOnce(new Refusal(507, "The disk is full."));
    expect(await sent()).toMatchObject({ status: 507 });
    jest.restoreAllMocks();
  };
  const waits = await hashOf(pay(1));
  await unrecorded(() => pay(1, { gasPrice: 1 }));
  await unrecorded(() => pay(2));
  const first = await hashOf(pay(0));
  for (const hash of [first, waits]) await mined(hash);
  expect(await ask("eth_getTransactionCount", address, "pending")).toBe("0x2");
});

test("nobody sees a block before it is recorded, nor one that cannot be", async () => {
  const { address, ask, pay } = await payer();
  const seen = () => Promise.all([ask("eth_blockNumber"), ask("eth_getTransactionCount", address, "latest")]);
  expect(await pay(0)).toMatchObject({ status: 200 });
  const before = await seen();

  let refuse = (_error: Error) => {};
  const late = new Promise<void>((_done, fail) => (refuse = fail));
  late.catch(() => undefined);
  const mined = jest.spyOn(Engine.prototype, "made");
  jest.spyOn(LedgerData.prototype, "record").mockReturnValueOnce(late);
  const sent = pay(1);
  await until(() => mined.mock.results.length > 0);
  await mined.mock.results[0]!.value;
  const answers: unknown[] = [];
  const asked = seen().then((answer) => answers.push(answer));
  await ask("web3_clientVersion"); // needs no engine
  expect(answers).toEqual([]);
  refuse(new Refusal(507, "The disk is full."));
  expect(await sent).toMatchObject({ status: 507 });
  await asked;
  expect(answers).toEqual([before]);
  jest.restoreAllMocks();
  expect(await pay(1)).toMatchObject({ status: 200 });
});

test("a nonce of a block that was recorded when the engine ended is used: another transaction with it gets no hash", async () => {
  const { pay, hashOf, mined } = await payer();
  for (const nonce of [0, 1]) {
    jest.spyOn(Engine.prototype, "made").mockRejectedValueOnce(new Error("it ended"));
    await mined(await hashOf(pay(nonce)));
    const message = `nonce too low: next nonce ${nonce + 1}, tx nonce ${nonce}`;
    expect((await pay(nonce, { gasLimit: 21_001 })).body).toMatchObject({ error: { message } });
    jest.restoreAllMocks();
  }
});
