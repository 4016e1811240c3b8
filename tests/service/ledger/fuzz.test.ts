import fc from "fast-check";
import type WebSocket from "ws";
import { treeOf } from "../../../tools/lib/processes.mjs";
import { built, serveJson } from "../child";
import { basic, build } from "../helpers";
import { until } from "../../support/until";
import { blockNumber, result, webSocket } from "../ledgers";
import { hostileMessages } from "./hostile";

/*
 * By default, a short run. The full run: FUZZ_CALLS=2000 npx jest tests/service/ledger/fuzz, with FUZZ_SEED for a run
 * as it was. docs/service.md states the bounds.
 */
const messages = Number(process.env.FUZZ_CALLS ?? 80);
const seed = Number(process.env.FUZZ_SEED ?? Date.now() % 2 ** 31);
/** Seconds between blocks, and the most memory in MiB of the service and of a chain. */
const period = 3;
const bound = { service: 1_024, chain: 1_024 };

jest.setTimeout(120_000 + messages * 3_000);
beforeAll(built, 120_000);

test("whatever a stranger and two members send, the service survives, and the others' blocks continue", async () => {
  const start = ["--node-start", "0", "--environment-start", "0", "--tether", "tether0001"];
  const { child, ready, send } = await serveJson(start);
  const consensus = { provider: "geth", consensus_type: "poa", block_period: period };
  const { paths, membership, credential } = await build(send, consensus);
  const elsewhere = await build(send, consensus);
  const status = async (path: string) => (await send("GET", `${path}/status`)).body;
  const { urls } = await status(paths.node);
  const other = { urls: (await status(elsewhere.paths.node)).urls, credential: elsewhere.credential };
  const further = async () => (await send("POST", `${paths.environment}/appcreds`, { membership_id: membership })).body;
  const [second, bystander] = [await further(), await further()];
  const accounts = await result<string[]>(urls.rpc, credential, "eth_accounts");

  // a member of the same chain and one of another chain; both must get their blocks in time
  const others = [
    { url: urls.rpc, pair: bystander },
    { url: other.urls.rpc, pair: other.credential },
  ];
  const begun = await Promise.all(others.map(({ url, pair }) => blockNumber(url, pair)));
  const timeOf = async ({ url, pair }: (typeof others)[0], number: number) => {
    type Block = { timestamp: string };
    const at = `0x${number.toString(16)}`;
    return Number((await result<Block>(url, pair, "eth_getBlockByNumber", at, false)).timestamp);
  };
  const longest = async (place: (typeof others)[0], first: number) => {
    let last = first;
    await until(async () => (last = await blockNumber(place.url, place.pair)) > first); // a quick run ends before a block is due
    const numbers = Array.from({ length: last - first + 1 }, (_, at) => first + at);
    const times = await Promise.all(numbers.map((number) => timeOf(place, number)));
    return Math.max(...times.map((time, at) => (times[at + 1] ?? Math.floor(Date.now() / 1_000)) - time));
  };

  const most = { service: 0, chain: 0 };
  const measure = setInterval(() => {
    const [service, ...below] = treeOf(ready.pid);
    const chains = below.filter(({ command }) => /^\S*anvil /.test(command));
    most.service = Math.max(most.service, (service?.rss ?? 0) / 1_048_576);
    most.chain = Math.max(most.chain, ...chains.map(({ rss }) => rss / 1_048_576));
  }, 500).unref();

  let opening: Promise<WebSocket> | undefined;
  const open = async () => {
    const { status, socket } = await webSocket(urls.wss, second);
    expect(status).toBe(101);
    socket.on("error", () => undefined).once("close", () => (opening = undefined));
    return socket;
  };
  const post = async (url: string, body: string, headers: Record<string, string> = {}) => {
    const signal = AbortSignal.timeout(70_000);
    const answer = await fetch(url, { method: "POST", body, headers, signal }).catch(() => undefined);
    if (!answer) return expect(body.length).toBeGreaterThan(300_000); // too long: its connection ends
    const text = await answer.text();
    expect([200, 400, 401, 403, 413, 429]).toContain(answer.status);
    expect(() => JSON.parse(text) as unknown).not.toThrow();
  };
  const ways = [
    (text: string) => post(urls.rpc, text, basic(credential.username, credential.password)),
    (text: string) => post(`${ready.url}/target/rinkeby`, text),
    (text: string) => post(urls.rpc, text),
    async (text: string) => {
      const socket = await (opening ??= open());
      socket.send(text);
    },
  ];
  const sent = fc.sample(fc.tuple(hostileMessages(accounts), fc.constantFrom(0, 0, 1, 2, 3, 3)), {
    seed,
    numRuns: messages,
  });
  const next = async (): Promise<void> => {
    for (let one = sent.pop(); one; one = sent.pop()) await ways[one[1]]!(one[0]);
  };
  await Promise.all(Array.from({ length: 6 }, next));
  clearInterval(measure);
  const gaps = await Promise.all(others.map((place, at) => longest(place, begun[at]!)));
  (await opening)?.terminate();
  console.info(`seed ${seed}: ${messages} messages; longest time without a block ${gaps.join(", ")} s`, most);
  expect(child.exitCode ?? child.signalCode).toBeNull();
  expect((await send("GET", "/consortia")).status).toBe(200);
  const funded = await send("POST", "/embedded/tether/tether0001/fund", { network: "rinkeby", wei: "5" });
  expect(funded.status).toBe(200);
  for (const gap of gaps) expect(gap).toBeLessThanOrEqual(2 * period);
  expect([most.service < bound.service, most.chain < bound.chain, most]).toEqual([true, true, most]);
});
