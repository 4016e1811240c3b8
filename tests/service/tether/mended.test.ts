import type { Base } from "../../../service/context";
import { Refusal } from "../../../service/errors";
import { SteadyClock } from "../../../service/storage/steady-clock";
import { Store } from "../../../service/store/store";
import type { Accounts } from "../../../service/tether/accounts";
import { Pins } from "../../../service/tether/pins";
import { newTether, reportOf } from "../../../service/tether/tethering";

/* Reports whose blocks a network may still replace, on a network of a test. Real reorganizations: money.test.ts. */

test("a block that was replaced while a look at the network failed is noticed by the next one, again and again", async () => {
  const store = new Store(new SteadyClock(Date.now));
  const made = store.create(newTether("o1", undefined, {}));
  const { id } = made;
  const contract_address = "0xc0";
  const sent = { nonce: 3, hash: "0xaa", raw: "0x02aa" };
  const place = { transaction_hash: sent.hash, block_number: 9 };
  const pin = { network: "rinkeby", contract_address, contract_index: 0, hash: "0x1", ...place } as const;
  store.put([reportOf(made, 0, { states: [], pin, sent })]);
  store.setFields("tether", id, { reports: 1, firstOpen: 0 });

  const network = { fork: 0, hasIt: true, fails: false, sends: 0 };
  const answers: Record<string, (block: unknown) => unknown> = {
    eth_getBlockByNumber: (block) =>
      block === "finalized" ? { number: "0x0", hash: "0x0" } : { number: "0xa", hash: `0x${network.fork}a` },
    eth_getTransactionReceipt: () => (network.hasIt ? { status: "0x1", blockNumber: "0x9" } : null),
    eth_getCode: () => "0x60",
    eth_call: () => "0x0",
    eth_getTransactionCount: () => "0x3",
    eth_sendRawTransaction: () => (network.sends++, sent.hash),
  };
  const call = (method: string, [first]: unknown[] = []) =>
    network.fails && method === "eth_getTransactionReceipt"
      ? Promise.reject(new Refusal(502, "no answer"))
      : Promise.resolve(answers[method]!(first));
  const target = () => Promise.resolve({ network: "rinkeby", chainId: 1, local: undefined, call });
  const accounts = { target, address: () => "0xf0", key: () => `0x${"1".repeat(64)}` } as unknown as Accounts;
  const { signal } = new AbortController();
  const none = undefined as never;
  const pins = new Pins({ store, clock: store.clock } as Base, none, accounts, none, signal, () => undefined);
  const look = async (now: Partial<typeof network>) => {
    Object.assign(network, now);
    expect(await pins.mend(id)).toEqual(expect.any(Number));
    return store.get("tether", id)!.fields.replaced;
  };
  for (const time of [1, 2]) {
    expect([time, await look({ hasIt: true }), await look({})]).toEqual([time, undefined, undefined]);
    await look({ fork: time, hasIt: false, fails: true });
    expect([time, await look({ fails: false }), network.sends]).toEqual([time, [0], time]);
  }
});
