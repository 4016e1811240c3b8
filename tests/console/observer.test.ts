import { rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { act } from "../../console/server/actions";
import { Embedded } from "../../console/server/embedded";
import { type Ask, LedgerHistory } from "../../console/server/ledger-history";
import { Ledgers } from "../../console/server/ledgers";
import { Observer, type ObserverOptions } from "../../console/server/observer";
import { Stacks } from "../../console/server/stacks";
import type { EnvironmentModel, NetworkModel, NodeModel } from "../../inventory/model";
import { ConsortiumClient, resolveSettings } from "../../provider/api";
import { temporary } from "../fleet/made";
import { containing } from "../service/helpers";

/** An observer of a service that is not embedded; `answers` are what it answers, by the end of the path: a status, or the body of 200. */
function observing(answers: Record<string, unknown>, more: Partial<ObserverOptions> = {}) {
  const settings = resolveSettings({ env: {}, given: { baseUrl: "http://127.0.0.1:1/api/v1", apiKey: "key" } });
  const asked: string[] = [];
  const send = ({ method, url }: { method: string; url: string }) => {
    asked.push(`${method} ${new URL(url).pathname}`);
    const found = Object.keys(answers).find((end) => url.endsWith(end));
    const answer = found === undefined ? 404 : answers[found];
    if (typeof answer !== "number") return Promise.resolve({ status: 200, headers: {}, text: JSON.stringify(answer) });
    return Promise.resolve({ status: answer, headers: {}, text: JSON.stringify({ errorMessage: "unknown" }) });
  };
  const onRetry = (error: Error) => {
    throw error;
  };
  const client = new ConsortiumClient(settings, { transport: { send, close: () => Promise.resolve() }, onRetry });
  const none = { embedded: undefined, mayChange: false, tethers: [], targets: {}, stacks: new Stacks([]) };
  const options: ObserverOptions = { client, ...none, periodMs: 100, ...more };
  return { asked, options, observer: new Observer(options) };
}

describe("a report is verified on the chain that it was pinned to:", () => {
  const id = "tether0001";
  const urls = { rinkeby: "http://127.0.0.1:1", mainnet: "http://127.0.0.1:2" };
  test.each([
    ["the tether's network, at the service's own address of it", "rinkeby", {}, true],
    ["another network, not at the address of the tether's own", "mainnet", {}, false],
    ["another network, not at an address of the tether's that was given", "mainnet", { rinkeby: urls.rinkeby }, false],
    ["another network, at an address of it that was given", "mainnet", { mainnet: urls.mainnet }, true],
  ])("of %s", async (_, pinned, targets, isAsked) => {
    const answers = {
      [`/tether/${id}`]: { network: "rinkeby", state: "active", target_urls: urls },
      "/reportCount": 1,
      "/reports/0": { network: pinned, reports: [] },
    };
    const { text } = await observing(answers, { targets }).observer.verify(id, 0);
    if (isAsked) expect(text).not.toContain("Not checked");
    else expect(text).toBe(`Not checked: start the console with --target ${pinned}=https://…, the chain to ask.`);
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

describe("the embedded service", () => {
  const about = { organization: { name: "acme" }, ledger: "on", tether_hour: 1 };
  const found = (answer: unknown) => Embedded.find(observing({ "/embedded": answer }).options.client);

  test("is known by what it says of itself; others do not have it, or say something else", async () => {
    expect((await found(about))?.about).toEqual(about);
    for (const answer of [400, 401, 403, 404, 405, {}, { ...about, ledger: "?" }])
      expect([answer, await found(answer)]).toEqual([answer, undefined]);
  });

  test.each([500, 503, 429])(
    "is not known while the service answers %d: the console does not start",
    async (status) => {
      await expect(found(status)).rejects.toMatchObject({ status });
    },
  );

  test("shows its last calls, newest first, each once; an error of its chain is an error", async () => {
    const call = (path: string) => ({ method: "GET", path, status: 200, at: 1 });
    const answers = { "/embedded": about, "/faults": { routes: ["r"], faults: [] }, "/rpc": { result: "0x1" } };
    const more: Record<string, unknown> = { "after=0": { count: 5, calls: ["/a", "/b"].map(call) } };
    const embedded = (await Embedded.find(observing(Object.assign(more, answers)).options.client))!;
    const paths = async () => (await embedded.testing()).calls.map(({ number, path }) => [number, path]);
    expect(await paths()).toEqual([[2, "/b"], [1, "/a"]]); // prettier-ignore
    more["after=5"] = { count: 7, calls: [call("/c")] }; // the others are of another organization
    expect(await paths()).toEqual([[3, "/c"], [2, "/b"], [1, "/a"]]); // prettier-ignore
    expect(await embedded.rpc("c", "e", "eth_blockNumber", [])).toBe("0x1");
    more["/rpc"] = { error: { message: "no such method" } };
    await expect(embedded.rpc("c", "e", "eth_x", [])).rejects.toThrow("no such method");
    more["/rpc"] = { error: {} };
    await expect(embedded.rpc("c", "e", "eth_x", [])).rejects.toThrow("eth_x failed");
  });
});

describe("the blocks of an environment", () => {
  const rpc = "http://127.0.0.1:1";
  const credential = { username: "u", password: "p", environmentId: "e1", membershipId: "m1" };
  const node = { id: "n1", membershipId: "m1", state: "started", blockHeight: 1, urls: { rpc } };
  const model = (...nodes: object[]) =>
    ({ consortia: [{ id: "c1", environments: [{ id: "e1", nodes, credentials: [] }] }] }) as unknown as NetworkModel;
  const view = async (nodes: object[], embedded?: object, credentials: object[] = []) => {
    const ledgers = new Ledgers(embedded as never, { credentials } as never, 1_000);
    const seen = model(...nodes);
    ledgers.note(seen);
    return ledgers.view("c1", seen.consortia[0]!.environments[0]!);
  };
  const chain = (rpc: () => Promise<unknown>, ledger = "on") => ({ about: { ledger }, rpc });
  const block = { number: "0x0", hash: "0xa", timestamp: "0x5", transactions: [] };
  const answers = (_c: string, _e: string, method: string) =>
    Promise.resolve(method === "eth_blockNumber" ? "0x0" : block);

  test("of the embedded service are read through it", async () => {
    const { blocks, noBlocks } = await view([node], chain(answers as never));
    expect([blocks.map(({ hash }) => hash), noBlocks]).toEqual([["0xa"], undefined]);
  });

  const simulated = "This service simulates its nodes, so there are no blocks.";
  const keyless =
    "Reading blocks from a node needs a credential: start the console with a stack that has one, such as --stack dev.";
  const starting = "Blocks appear after a node has started.";
  const none = chain(() => Promise.reject(new Error("no")));
  test.each<[string, object[], object | undefined, object[], unknown]>([
    ["no node", [], none, [], starting],
    ["no node that has started", [{ ...node, state: "initializing" }], none, [], starting],
    ["no ledger of the embedded service", [node], chain(none.rpc, "off"), [], simulated],
    ["an error of its chain", [node], none, [], "Could not read the blocks: no"],
    ["no credential for a node of another service", [node], undefined, [], keyless],
    ["a credential of another member", [node], undefined, [{ ...credential, membershipId: "m2" }], keyless],
    ["a credential for a node without an address", [{ ...node, urls: {} }], undefined, [credential], keyless],
    [
      "a credential for a node that has not started, beside one of another member",
      [
        { ...node, state: "initializing" },
        { ...node, id: "n2", membershipId: "m2" },
      ],
      undefined,
      [credential],
      keyless,
    ],
    [
      "a node that does not answer",
      [node],
      undefined,
      [credential],
      expect.stringMatching(/^Could not read the blocks: .*127/),
    ],
  ])("are not there, with the reason: %s", async (_, nodes, embedded, credentials, noBlocks) => {
    expect(await view(nodes, embedded, credentials)).toMatchObject({ blocks: [], noBlocks });
  });

  test("are forgotten with their environment", async () => {
    const ledgers = new Ledgers(none as never, new Stacks([]), 1_000);
    for (const one of [model(node), model(node), { ...model(), consortia: [] }, model(node)]) ledgers.note(one);
    expect((await ledgers.view("c1", model(node).consortia[0]!.environments[0]!)).times).toHaveLength(1);
  });
});

describe("stacks that were exported", () => {
  const type = "consortium:index:Consortium";
  const exported = (name: string) => {
    const [inputs, urn] = [{ name }, `urn:pulumi:dev::trade::${type}::a`];
    return { version: 3, deployment: { resources: [{ type, urn, custom: true, id: "c1", inputs, outputs: inputs }] } };
  };
  const folder = temporary();
  const file = join(folder, "dev.json");
  const names = (stacks: Stacks) => stacks.all.map(({ rows }) => rows.map(({ props }) => props.name));

  test("are read once a file is there, again when it changes, and not when it is gone", () => {
    const stacks = new Stacks([file], { "trade/prod": exported("of prod") });
    stacks.refresh();
    expect(names(stacks)).toEqual([["of prod"]]);
    writeFileSync(file, JSON.stringify(exported("one")));
    utimesSync(file, 5, 5);
    stacks.refresh();
    const before = stacks.all[1];
    stacks.refresh();
    expect([names(stacks), stacks.all[1] === before]).toEqual([[["of prod"], ["one"]], true]);
    expect(stacks.names).toEqual([
      { name: "trade/dev", at: expect.any(Number) as number },
      { name: "trade/dev", at: 5_000 },
    ]);
    writeFileSync(file, JSON.stringify(exported("two")));
    stacks.refresh();
    expect(names(stacks)).toEqual([["of prod"], ["two"]]);
    rmSync(file);
    stacks.refresh();
    expect(names(stacks)).toEqual([["of prod"]]);
  });

  test.each(["{", "[]"])("that are none are refused by the name of the file: %s", (text) => {
    writeFileSync(file, text);
    expect(() => new Stacks([file]).refresh()).toThrow(file);
    rmSync(file);
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

  test.each([
    ["seconds", "0x5", 5],
    ["nanoseconds, as raft has them", "0x18e91efd79a0e500", 1_795_000_000.5],
  ])("have their time in seconds where it is in %s", async (_, timestamp, time) => {
    const history = new LedgerHistory(1_000);
    await history.read((method, [number]) =>
      Promise.resolve(method === "eth_blockNumber" ? "0x0" : { number, hash: "0xa", timestamp, transactions: [] }),
    );
    expect(history.view().blocks).toMatchObject([{ number: 0, time }]);
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
