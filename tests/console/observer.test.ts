import { act } from "../../console/server/actions";
import { type Ask, LedgerHistory } from "../../console/server/ledger-history";
import { Observer, type ObserverOptions } from "../../console/server/observer";
import { Stacks } from "../../console/server/stacks";
import type { EnvironmentModel, NodeModel } from "../../inventory/model";
import { ConsortiumClient, resolveSettings } from "../../provider/api";
import { containing } from "../service/helpers";

/** An observer of a service that is not embedded; `answers` are what it answers, by the end of the path. */
function observing(answers: Record<string, unknown>, more: Partial<ObserverOptions> = {}) {
  const settings = resolveSettings({ env: {}, given: { baseUrl: "http://127.0.0.1:1/api/v1", apiKey: "key" } });
  const asked: string[] = [];
  const send = ({ method, url }: { method: string; url: string }) => {
    asked.push(`${method} ${new URL(url).pathname}`);
    const found = Object.keys(answers).find((end) => url.endsWith(end));
    const text = JSON.stringify(found === undefined ? { errorMessage: "unknown" } : answers[found]);
    return Promise.resolve({ status: found === undefined ? 404 : 200, headers: {}, text });
  };
  const client = new ConsortiumClient(settings, { transport: { send, close: () => Promise.resolve() } });
  const none = { embedded: undefined, mayChange: false, tethers: [], targets: {}, stacks: new Stacks([]) };
  const options: ObserverOptions = { client, ...none, periodMs: 100, ...more };
  return { asked, options, observer: new Observer(options) };
}

describe("a report is verified on the chain that it was pinned to:", () => {
  const id = "tether0001";
  const urls = { rinkeby: "http://127.0.0.1:1", mainnet: "http://127.0.0.1:2" };
  const verdict = async (pinned: string, targets: Record<string, string>) => {
    const answers = {
      [`/tether/${id}`]: { network: "rinkeby", state: "active", target_urls: urls },
      "/reportCount": 1,
      "/reports/0": { network: pinned, reports: [] },
    };
    return (await observing(answers, { targets }).observer.verify(id, 0)).text;
  };
  const notChecked = (network: string) =>
    `Not checked: start the console with --target ${network}=https://…, the chain to ask.`;

  test("of the tether's network, at the service's own address of it", async () => {
    expect(await verdict("rinkeby", {})).not.toContain("Not checked");
  });

  test("of another network, not at the address of the tether's own", async () => {
    expect(await verdict("mainnet", {})).toBe(notChecked("mainnet"));
  });

  test("of another network, at an address of it that was given", async () => {
    expect(await verdict("mainnet", { mainnet: urls.mainnet })).not.toContain("Not checked");
    expect(await verdict("mainnet", { rinkeby: urls.rinkeby })).toBe(notChecked("mainnet"));
  });
});

describe("a read-only console", () => {
  const changes = {
    "make-key": { name: "one" },
    "revoke-key": { id: "k1" },
    "order-tether": {},
    "fund-tether": { tether: "t", network: "rinkeby", wei: "1" },
    "make-credential": { consortium: "c", environment: "e", membership: "m" },
    "add-fault": { kind: "delay", ms: 1 },
    "remove-fault": { id: "f1" },
  };

  test.each(Object.entries(changes))("does not %s, and sends no request to the service", async (name, body) => {
    const { asked, options, observer } = observing({});
    const refusal = { status: 403, message: containing("read-only") };
    await expect(act(name, body, options, observer)).rejects.toMatchObject(refusal);
    expect(asked).toEqual([]);
  });

  test("verifies reports: that changes nothing", async () => {
    const { options, observer } = observing({ "/reports/0": { network: "rinkeby" }, "/tether0001": {} });
    const verdict = await act("verify", { tether: "tether0001", index: 0 }, options, observer);
    expect(verdict).toMatchObject({ verified: false });
  });
});

test("a console with --allow-changes creates credentials, but on other services does nothing that only the embedded one has", async () => {
  const made = { id: "u1", username: "u1", password: "shown once" };
  const { asked, options, observer } = observing({ "/appcreds": made }, { mayChange: true });
  const body = { consortium: "c", environment: "e", membership: "m" };
  expect(await act("make-credential", body, options, observer)).toEqual({ name: "u1", secret: "shown once" });
  const refusal = { status: 403, message: "Only the embedded service has an API for this." };
  await expect(act("make-key", { name: "one" }, options, observer)).rejects.toMatchObject(refusal);
  expect(asked).toEqual(["POST /api/v1/consortia/c/environments/e/appcreds"]);
});

test.each(["nothing", "constructor", "__proto__", "sign-out"])("the action %s does not exist", async (name) => {
  const { options, observer } = observing({}, { mayChange: true });
  await expect(act(name, {}, options, observer)).rejects.toMatchObject({ status: 404 });
});

describe("what only the embedded service has", () => {
  const own = { keys: () => Promise.resolve("its keys"), testing: () => Promise.resolve("its faults") };

  test("is shown of that one", async () => {
    const { observer } = observing({}, { embedded: own as never });
    expect([await observer.look("keys"), await observer.look("testing")]).toEqual(["its keys", "its faults"]);
    await expect(observer.look("nothing" as never)).rejects.toThrow("nothing does not exist on this page.");
  });

  test.each(["keys", "testing"] as const)("is not shown of another: %s", async (section) => {
    await expect(observing({}).observer.look(section)).rejects.toThrow(`${section} does not exist on this page.`);
  });
});

describe("the last blocks of a ledger", () => {
  /** A chain of this height. */
  const chain =
    (height: () => number, asked: string[] = []): Ask =>
    (method, [number]) => {
      if (method === "eth_blockNumber") return Promise.resolve(`0x${height().toString(16)}`);
      asked.push(String(number));
      return Promise.resolve({ number, hash: `0x${height()}`, timestamp: "0x5", transactions: [] });
    };
  const numbers = (history: LedgerHistory) => history.view().blocks.map(({ number }) => number);

  test("are twelve, newest first, and each is read once", async () => {
    const history = new LedgerHistory(1_000);
    const asked: string[] = [];
    let height = 20;
    const ask = chain(() => height, asked);
    await history.read(ask);
    expect(numbers(history)).toEqual([20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9]);
    height = 22;
    await history.read(ask);
    expect(numbers(history).slice(0, 3)).toEqual([22, 21, 20]);
    expect([numbers(history).length, asked.length]).toEqual([12, 14]);
  });

  test("are the current chain's, even if it went back", async () => {
    const history = new LedgerHistory(1_000);
    let height = 5;
    const ask = chain(() => height);
    await history.read(ask);
    height = 2;
    await history.read(ask);
    expect(history.view().blocks).toMatchObject([2, 1, 0].map((number) => ({ number, hash: "0x2" })));
  });
});

test("a time without polls or answers is a gap, not a straight line", () => {
  const history = new LedgerHistory(2_000);
  const node = { id: "n1", blockHeight: 0 } as NodeModel;
  const note = (at: number, blockHeight: number, ...more: NodeModel[]) =>
    history.note({ nodes: [{ ...node, blockHeight }, ...more] } as EnvironmentModel, at);
  note(100, 5);
  note(102, 7);
  note(160, 40);
  note(162, 41, { ...node, id: "n2", blockHeight: 41 });
  const { times, heights } = history.view();
  expect({ times, ...heights }).toEqual({
    times: [100, 102, 103, 160, 162],
    n1: [5, 7, null, 40, 41],
    n2: [null, null, null, null, 41],
  });
});
