import { Pool, type Waiting } from "../../../service/ledger/pool";

/* Which transactions wait for a block. With a chain: admission.test.ts, recovery.test.ts. */

/** `a0`: the first transaction of a; `a5?`: waits for an earlier one; `a0!`: replaces `a0`. */
function one(text: string): Waiting {
  const [, from = "", nonce, kind] = /^(\w)(\d)(.?)$/.exec(text)!;
  return { raw: text, from, nonce: Number(nonce), cost: 0n, queued: kind === "?" };
}

test.each([
  ["a0 b1? b0 a1 a0!", "b1? b0 a1 a0!", 4, "a replacement comes last, and replaces only one of its account"],
  ["a2? a1? b1? a0", "a2? a1? b1? a0", 3, "what fills a gap makes those that waited for it ready"],
  ["a2? a0", "a2? a0", 1, "but not those that wait for another one"],
])("of %s wait %s, %i of them for a block: %s", (sent, wait, ready) => {
  const pool = new Pool();
  sent.split(" ").forEach((text, at) => pool.add(`0x${at}`, one(text)));
  expect([pool.raws.join(" "), pool.ready]).toEqual([wait, ready]);
});

test("a removed transaction is gone, once, and a new engine's replace all", () => {
  const pool = new Pool();
  pool.add("0xa", one("a0"));
  pool.add("0xb", one("b0"));
  for (let time = 0; time < 2; time++) pool.remove("0xa");
  expect(pool.raws).toEqual(["b0"]);
  pool.restore(new Map([["0xc", one("c0")]]));
  expect([pool.has("0xb"), pool.has("0xc"), pool.raws]).toEqual([false, true, ["c0"]]);
});
