import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { type AddressInfo } from "node:net";
import { Notes, type Seen } from "../../cli/probe/notes";
import { questions } from "../../cli/probe/questions";
import { type Removal, World } from "../../cli/probe/world";
import { resolveSettings } from "../../provider/api/settings";
import { atEnd } from "../service/helpers";

const saidBy = async (question: string, world: World): Promise<string> => {
  const answer = await questions.find((one) => one.question === question)!.ask(world);
  return typeof answer === "string" ? answer : answer.said;
};

/* What `consortium probe` concludes from answers. With a service: probe.test.ts. */

type Call = (...params: never[]) => unknown;

/** The answer to a question, and what it keeps, at a node that answers these calls, and undefined to others. */
async function asked(question: string, calls: Record<string, Call>, accounts?: unknown) {
  let looks = 0;
  const world = {
    node: {},
    answers: {},
    waitMs: 1_000,
    path: () => "/node",
    ask: () => Promise.resolve({ body: { user_accounts: accounts } }),
    askNode: (method: string, params: never[] = []) =>
      Promise.resolve({ result: calls[method]?.(...params), why: "no reason" }),
    until: async (look: () => Promise<{ value?: unknown }>) => {
      for (;;) {
        const { value } = await look();
        if (value !== undefined || ++looks === 3) return { value, ms: 1 };
      }
    },
  } as unknown as World;
  return [await saidBy(question, world), world.answers.quorumLedger];
}

type Told = Partial<{ status: number; form: string; body: object; listed: object }>;

/** The answer to a question where every call is answered like this, and what it keeps. */
async function told(question: string, { status = 200, form = "JSON", body = {}, listed = {} }: Told) {
  const seen = { status, form, body, ok: status < 300 };
  const answers = {};
  const world = {
    answers,
    started: true,
    path: () => "/one",
    in: () => "/all",
    id: () => "c1",
    ask: () => Promise.resolve(seen),
    mustCreate: () => Promise.resolve(seen),
    listed: () => Promise.resolve(listed),
    client: { listMemberships: () => Promise.resolve([{ id: "m1" }]) },
  } as unknown as World;
  return [await saidBy(question, world), answers];
}

test.each<[string, Told, string, object]>([
  ["urls in a node", { body: { urls: { wss: "wss:" } } }, "from the start", { emptyUrls: false }],
  ["publicAddress in its status", { body: { geth: { public_address: "" } } }, "in geth", { quorumStatus: false }],
  ["publicAddress in its status", { body: { geth: {} } }, "nowhere", {}],
  ["publicAddress in its status", { status: 503 }, "HTTP 503", {}],
  ["Autopause is called", {}, "none is shown", {}],
  ["Credentials are listed", { status: 399 }, "no (HTTP 399)", {}],
  ["Credentials are listed", { status: 400 }, "no (HTTP 400)", { listCredentials: 400 }],
  ["Credentials are listed", { status: 599 }, "no (HTTP 599)", { listCredentials: 599 }],
  ["Credentials are listed", { status: 600 }, "no (HTTP 600)", {}],
  ["?limit= and ?skip= of lists", { status: 400, body: [] }, "refused (HTTP 400)", {}],
  ["Something that does not exist", { status: 403 }, "403, JSON", { gone: 403, plainErrors: false }],
  ["Something that does not exist", { status: 400 }, "400, JSON", { plainErrors: false }],
])("%s: %j is %s", async (question, answer, said, kept) => {
  expect(await told(question, answer)).toEqual([said, kept]);
});

test.each<[string, Removal[], string, object, object]>([
  ["nothing", [], "nothing was deleted", { deletion: "deleting" }, { deleting: 0, deletedVisible: 0 }],
  [
    "objects that are deleting, and an environment that is listed as deleted",
    [
      { kind: "node", status: 204, going: { state: "deleting", ms: 999.6 } },
      { kind: "environment", status: 202, listed: { ms: 1_000, still: false } },
    ],
    "node: deleting 1000 ms; environment: deleted 1.0 s",
    { deletion: "deleting" },
    { deleting: 1_000, deletedVisible: 1_000 },
  ],
  [
    "a node that is listed as deleted for long",
    [{ kind: "node", status: 204, listed: { ms: 1_250, still: true } }],
    "node: deleted more than 1.3 s",
    { deletion: "delete_pending" },
    { deleting: 0, deletedVisible: 1_250 },
  ],
])("the deletion of %s", async (_what, removals, said, answers, timing) => {
  const world = { removals, answers: {}, timing: {} } as unknown as World;
  expect([await saidBy("A deleted object is listed as", world), world.answers, world.timing]).toEqual([
    said,
    answers,
    timing,
  ]);
});

const [london, withdrawals] = [{ baseFeePerGas: "0x0" }, { withdrawals: [], withdrawalsRoot: "0x0" }];
test.each([
  [{}, false, "berlin: blocks have no baseFeePerGas"],
  [{}, true, "berlin: blocks have no baseFeePerGas, although PUSH0 works"],
  [london, false, "london: blocks have baseFeePerGas"],
  [{ ...london, ...withdrawals }, true, "shanghai: blocks have baseFeePerGas, withdrawals, withdrawalsRoot"],
  [{ ...london, withdrawals: [] }, false, "shanghai: blocks have baseFeePerGas, withdrawals, although PUSH0 fails"],
])("the hard fork of %j, where PUSH0 works: %s", async (header, works, said) => {
  const block = (_which: never, isWhole: boolean) => (isWhole ? undefined : header); // a whole block may be large
  const found = asked("Its hard fork", { eth_getBlockByNumber: block, eth_call: () => (works ? "0x" : undefined) });
  expect(await found).toEqual([said, { hardFork: said.split(":")[0] }]);
});

test.each([
  [0, "not known: a call that deploys is refused", undefined],
  [1, "1 byte", 1],
  [24_576, "24576 bytes", 24_576],
  [131_071, "131071 bytes", 131_071],
  [131_072, "more than 131072 bytes", undefined],
])("of a node that takes code of %d bytes: %s", async (most, said, codeSize) => {
  const deploy = ({ data }: { data: string }) => (parseInt(data.slice(4, 10), 16) <= most ? "0x" : undefined);
  expect(await asked("The largest code", { eth_call: deploy })).toEqual([said, codeSize && { codeSize }]);
});

describe("the clock", () => {
  const of = (timestamp: string, more: Record<string, Call> = {}, accounts: unknown = ["0xa"]) =>
    asked(
      "The clock of its blocks",
      {
        eth_sendTransaction: ({ from, to }: { from: unknown; to: unknown }) =>
          from === "0xa" && to === from ? "0xf" : undefined,
        eth_getTransactionReceipt: (hash: string) => (hash === "0xf" ? { blockNumber: "0x2" } : null),
        eth_getBlockByNumber: (number: string, isWhole: boolean) =>
          number === "0x2" && !isWhole ? { timestamp } : undefined,
        ...more,
      },
      accounts,
    );

  test.each([
    ["0x69551900", "seconds"],
    ["0x1886a5b2f0f90000", "nanoseconds"],
  ])("of a block of %s is in %s", async (timestamp, clock) => expect(await of(timestamp)).toEqual([clock, { clock }]));

  test("is not known without an account, a transaction or its block", async () => {
    const refused = "not known: a transaction is refused: no reason";
    expect(await of("0x1", {}, null)).toEqual([refused, undefined]);
    expect(await of("0x1", { eth_sendTransaction: () => null })).toEqual([refused, undefined]);
    const none = await of("0x1", { eth_getTransactionReceipt: () => null });
    expect(none).toEqual(["not known: a transaction gets no block", undefined]);
  });
});

test("of two names, one of which begins with the other, none is told in part", () => {
  const notes = new Notes();
  const seen = (body: unknown, status = 200): Seen => ({ status, form: "JSON", body, text: "", ok: status < 300 });
  notes.add("GET", "/consortia", seen([{ name: "Acme" }, { name: "Acme Trade" }, { name: "Trade" }]), 1);
  for (let time = 1; time <= 2; time++)
    notes.add("POST", "/consortia", seen({ errorMessage: "Acme Trade Finance is full" }, 403), 1);
  expect(notes.refusals).toEqual([{ call: "POST /consortia", status: 403, form: "JSON", words: "… Finance is full" }]);
});

/** A world at a server with one answer to everything. */
async function worldAt(answer: (response: ServerResponse) => unknown, waitMs: number) {
  const server = createServer((_request, response) => void answer(response)).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const settings = resolveSettings({ env: {}, given: { apiKey: "u0a-b", baseUrl: `${url}/api/v1` } });
  const { signal } = new AbortController();
  const world = new World(settings, "probe", waitMs, signal, signal);
  atEnd(async () => {
    await world.client.close();
    server.closeAllConnections();
    server.close();
  });
  return { world, url };
}

test.each([
  [400, "{}", false],
  [499, "{}", false],
  [408, "{}", true],
  [500, "{}", true],
  [503, "<html>", true],
  [200, "<html>", true],
  [302, "{}", true],
])("a create that is answered by HTTP %d and %s may have made something: %s", async (status, body, may) => {
  const { world } = await worldAt((response) => response.writeHead(status).end(body), 50);
  await world.create("consortium", "/consortia", {}).catch(() => undefined);
  expect(world.find("consortium") !== undefined).toBe(may);
});

test("a node that does not answer costs no more than --wait", async () => {
  const { world, url } = await worldAt(() => undefined, 200);
  world.node = { url, username: "u", password: "p" };
  expect(await world.askNode("eth_chainId")).toEqual({ why: expect.stringContaining("within 0.2 s") as string });
});
