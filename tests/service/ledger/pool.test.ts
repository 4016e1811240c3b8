import { Pool, type Waiting } from "../../../service/ledger/pool";
import { containing } from "../helpers";

/* Which transactions may wait for a block. With a chain: limits.test.ts. */

let count = 0;
const one = (from: string, nonce: number, queued = false): Waiting => ({
  raw: `${from}${nonce}`,
  from,
  nonce,
  gas: 21_000,
  queued,
});
const add = (pool: Pool, ...all: Waiting[]) => all.map((each) => pool.add(`0x${++count}`, each));
const taken = undefined;

describe("an account", () => {
  const full = containing("txpool is full: 2 transactions of a wait for a block");

  test("has as many waiting as it may, and no more", () => {
    const pool = new Pool({ account: 2, ledger: 100 });
    expect(add(pool, one("a", 0), one("a", 1), one("a", 2))).toEqual([taken, taken, full]);
  });

  test("does not take the room of others", () => {
    const pool = new Pool({ account: 2, ledger: 100 });
    expect(add(pool, one("a", 0), one("a", 1), one("b", 0), one("b", 1))).toEqual([taken, taken, taken, taken]);
  });

  test("may replace one that waits by another with its nonce, however many wait", () => {
    const pool = new Pool({ account: 2, ledger: 2 });
    add(pool, one("a", 0), one("a", 1));
    expect(add(pool, { ...one("a", 1), raw: "better" })).toEqual([taken]);
    expect(pool.raws).toEqual(["a0", "better"]);
  });

  test("replaces none of another account that has the same nonce", () => {
    const pool = new Pool({ account: 2, ledger: 100 });
    add(pool, one("a", 0), one("b", 1, true), one("b", 0));
    expect(pool.raws).toEqual(["a0", "b1", "b0"]);
  });

  test("has room again once one of them is in a block", () => {
    const pool = new Pool({ account: 1, ledger: 100 });
    pool.add("0xa", one("a", 0));
    pool.remove("0xa");
    pool.remove("0xa"); // twice is once
    expect(add(pool, one("a", 1), one("a", 2))).toEqual([taken, containing("txpool is full")]);
  });
});

test("more than may wait, from before the limit was lowered, stay, and each can be replaced", () => {
  const pool = new Pool({ account: 1, ledger: 1 });
  const before = ["a", "b"].map((from): [string, Waiting] => [`0x${from}`, one(from, 0)]);
  pool.restore(new Map(before));
  expect(add(pool, { ...one("a", 0), raw: "better" })).toEqual([taken]);
  expect(pool.raws).toEqual(["b0", "better"]);
});

describe("a ledger", () => {
  test("has as many waiting as it may, and no more", () => {
    const pool = new Pool({ account: 100, ledger: 2 });
    const full = containing("txpool is full: 2 transactions wait for a block");
    expect(add(pool, one("a", 0), one("b", 0), one("c", 0))).toEqual([taken, taken, full]);
  });

  test("has at most a quarter that wait for an earlier one, which nobody may ever send", () => {
    const pool = new Pool({ account: 100, ledger: 8 });
    const full = containing("txpool is full: 2 transactions wait for an earlier one");
    expect(add(pool, one("a", 5, true), one("b", 5, true), one("c", 5, true))).toEqual([taken, taken, full]);
    expect(add(pool, one("c", 0))).toEqual([taken]);
  });

  test("has room for those again once the earlier one came: they wait for a block then", () => {
    const pool = new Pool({ account: 100, ledger: 8 });
    add(pool, one("a", 1, true), one("a", 2, true));
    expect(add(pool, one("c", 5, true))).toEqual([containing("txpool is full")]);
    expect(add(pool, one("a", 0), one("c", 5, true), one("d", 5, true))).toEqual([taken, taken, taken]);
  });

  test("has no room for those of an account because an earlier one of another came", () => {
    const pool = new Pool({ account: 100, ledger: 8 });
    add(pool, one("a", 1, true), one("b", 1, true), one("c", 0));
    expect(add(pool, one("d", 5, true))).toEqual([containing("txpool is full")]);
  });

  test("has no room for those that wait for yet another one", () => {
    const pool = new Pool({ account: 100, ledger: 8 });
    add(pool, one("a", 2, true), one("a", 3, true), one("a", 0));
    expect(add(pool, one("d", 5, true))).toEqual([containing("txpool is full")]);
  });
});

test("the weight is that of all that wait", () => {
  const pool = new Pool({ account: 100, ledger: 100 });
  expect(pool.weight).toBe(0);
  pool.add("0xa", one("a", 0));
  const { weight } = pool;
  expect(weight).toBeGreaterThan(0);
  pool.add("0xb", one("b", 0));
  expect(pool.weight).toBe(2 * weight);
  pool.restore(new Map([["0xc", one("c", 0)]]));
  expect([pool.weight, pool.has("0xa"), pool.has("0xc")]).toEqual([weight, false, true]);
  pool.remove("0xc");
  expect(pool.weight).toBe(0);
});
