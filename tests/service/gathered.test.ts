import { Gathered } from "../../service/ledger/gathered";

type Sent = { id: number; method: string; params: unknown[] }[];

/** A chain that answers with the method, or with an error for "0xbad"; the batches that it got. */
function chain(answer = answerOf) {
  const sent: Sent[] = [];
  const gathered = new Gathered((batch) => {
    const calls = JSON.parse(batch) as Sent;
    sent.push(calls);
    return Promise.resolve(JSON.stringify(answer(calls)));
  });
  return { sent, ask: (body: unknown) => gathered.ask(Buffer.from(JSON.stringify(body))) };
}

const answerOf = (calls: Sent): unknown =>
  calls
    .map(({ id, method, params }) => {
      const said = params[0] === "0xbad" ? { error: { code: 3, message: "bad", data: "0x" } } : { result: method };
      return { jsonrpc: "2.0", id, ...said };
    })
    .reverse();

const eth = (id: unknown, method: string, ...params: unknown[]) => ({ jsonrpc: "2.0", id, method, params });

test("calls of the same moment are one batch, equal ones one call, and each has its own answer", async () => {
  const { sent, ask } = chain();
  const answers = await Promise.all([
    ask(eth(7, "eth_blockNumber")),
    ask(eth("seven", "eth_blockNumber")),
    ask(eth(7, "eth_getBalance", "0xbad", "latest")),
    ask({ jsonrpc: "2.0", id: 0, method: "eth_chainId" }),
  ]);
  expect(sent.map((batch) => batch.map(({ method }) => method))).toEqual([
    ["eth_blockNumber", "eth_getBalance", "eth_chainId"],
  ]);
  expect(answers).toEqual([
    '{"jsonrpc":"2.0","id":7,"result":"eth_blockNumber"}',
    '{"jsonrpc":"2.0","id":"seven","result":"eth_blockNumber"}',
    '{"jsonrpc":"2.0","id":7,"error":{"code":3,"message":"bad","data":"0x"}}',
    '{"jsonrpc":"2.0","id":0,"result":"eth_chainId"}',
  ]);
});

test("a call that comes after the batch has gone is asked anew", async () => {
  const { sent, ask } = chain();
  await ask(eth(1, "eth_blockNumber"));
  await ask(eth(2, "eth_blockNumber"));
  expect(sent).toHaveLength(2);
});

test.each<[string, unknown]>([
  ["a method that changes something", eth(1, "eth_sendTransaction", {})],
  ["a method that nobody knows", eth(1, "foo")],
  ["no version", { id: 1, method: "eth_blockNumber" }],
  ["no id", { jsonrpc: "2.0", method: "eth_blockNumber" }],
  ["an id that JavaScript cannot keep", eth(2 ** 60, "eth_blockNumber")],
  ["named parameters", { ...eth(1, "eth_blockNumber"), params: {} }],
  ["a batch", [eth(1, "eth_blockNumber")]],
  ["no call", null],
])("%s goes alone", (_what, body) => expect(chain().ask(body)).toBeUndefined());

test.each<[string, (calls: Sent) => unknown]>([
  ["one error for all", () => ({ jsonrpc: "2.0", id: null, error: { code: -32600, message: "no" } })],
  ["too few answers", () => []],
  ["an answer to something else", (calls) => calls.map(() => ({ jsonrpc: "2.0", id: 99, result: 1 }))],
])("%s is an error for each, and the next call is asked", async (_what, answer) => {
  let broken = true;
  const { ask } = chain((calls) => (broken ? answer(calls) : answerOf(calls)));
  const both = await Promise.allSettled([ask(eth(1, "eth_blockNumber")), ask(eth(2, "eth_chainId"))]);
  expect(both.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  broken = false;
  expect(await ask(eth(3, "eth_chainId"))).toContain('"result":"eth_chainId"');
});
