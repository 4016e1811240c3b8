import { Pool, type PoolLimits, type Waiting } from "../../../service/ledger/pool";

/* Which transactions may wait for a block. With a chain: limits.test.ts. */

/** `a0`: the first transaction of a; `a5?`: waits for an earlier one; `a0!`: should replace `a0`. */
function one(text: string): Waiting {
  const [, from = "", nonce, kind] = /^(\w)(\d)(.?)$/.exec(text)!;
  return { raw: text, from, nonce: Number(nonce), gas: 21_000, cost: 0n, queued: kind === "?" };
}

let count = 0;
/** Adds a transaction, if there is room. */
function put(pool: Pool, hash: string, text: string): string | undefined {
  const refusal = pool.refuses(one(text));
  if (refusal === undefined) pool.add(hash, one(text));
  return refusal;
}
const add = (pool: Pool, all: string) =>
  all.split(" ").map((text) => (put(pool, `0x${++count}`, text) === undefined ? text : `no ${text}`));

type Case = [what: string, limits: Partial<PoolLimits>, sent: string, outcome: string];
test.each<Case>([
  ["an account has as many waiting as it may, and no more", { accountPool: 2 }, "a0 a1 a2", "a0 a1 no a2"],
  ["an account does not take the room of others", { accountPool: 2 }, "a0 a1 b0 b1", "a0 a1 b0 b1"],
  ["one of the same nonce takes the place, however many wait", { accountPool: 2, pool: 2 }, "a0 a1 a1!", "a0 a1 a1!"],
  ["a ledger has as many waiting as it may, and no more", { pool: 2 }, "a0 b0 c0", "a0 b0 no c0"],
  [
    "those that wait for an earlier one keep no others out",
    { pool: 2 },
    "a5? b5? c5? c0 d0 e0",
    "a5? b5? no c5? c0 d0 no e0",
  ],
  ["what fills a gap is always admitted", { accountPool: 2, pool: 2 }, "b0 c0 a1? a2? a0 d0", "b0 c0 a1? a2? a0 no d0"],
  [
    "those that waited for it wait for a block then",
    { pool: 2 },
    "a1? a2? b5? a0 b5? d5?",
    "a1? a2? no b5? a0 b5? d5?",
  ],
  ["but not once one of another account came", { pool: 2 }, "a1? b1? c0 d5?", "a1? b1? c0 no d5?"],
  ["nor once one came that is not the one before", { pool: 2 }, "a2? a3? a0 d5?", "a2? a3? a0 no d5?"],
])("%s", (_what, limits, sent, outcome) => {
  expect(add(new Pool({ accountPool: 100, pool: 8, ...limits }), sent).join(" ")).toBe(outcome);
});

test("each refusal names the exceeded limit", () => {
  const refusals = [{ accountPool: 0 }, { pool: 0 }].flatMap((limits) =>
    ["a0", "a0?"].map((text) => new Pool({ accountPool: 9, pool: 9, ...limits }).refuses(one(text))),
  );
  const of = (what: string) =>
    expect.stringMatching(`^txpool is full: 0 transactions ${what}, which is the limit`) as string;
  const account = of("of a wait for a block");
  expect(refusals).toEqual([account, account, of("wait for a block"), of("wait for an earlier one of their account")]);
});

test("a replacement comes last, and replaces only transactions of its account", () => {
  const pool = new Pool({ accountPool: 2, pool: 100 });
  add(pool, "a0 b1? b0 a1 a0!");
  expect(pool.raws).toEqual(["b1?", "b0", "a1", "a0!"]);
});

test("transactions beyond a lowered limit stay, and each can be replaced", () => {
  const pool = new Pool({ accountPool: 1, pool: 1 });
  pool.restore(new Map(["a0", "b0"].map((text) => [text, one(text)])));
  expect(add(pool, "a0! c0")).toEqual(["a0!", "no c0"]);
  expect(pool.raws).toEqual(["b0", "a0!"]);
});

test("a removed transaction makes room, once", () => {
  const pool = new Pool({ accountPool: 1, pool: 100 });
  put(pool, "0xa", "a0");
  put(pool, "0xb", "b0");
  for (let time = 0; time < 2; time++) pool.remove("0xa");
  expect(add(pool, "a1 a2")).toEqual(["a1", "no a2"]);
  pool.restore(new Map([["0xc", one("c0")]]));
  expect([pool.has("0xb"), pool.has("0xc"), pool.raws]).toEqual([false, true, ["c0"]]);
});
