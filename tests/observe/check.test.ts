import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { type Result } from "../../observe/check/checks";
import { systemClock } from "../../provider/api/clock";
import { matching } from "../service/helpers";
import { Network } from "../service/targets";
import { until } from "../support/until";
import { stackOf } from "./models";
import { tetherId, type Usable, usable } from "./usable";

/** Reports each problem with its reason, and nothing else. (What each observation means: checks.test.ts.) */

let w: Usable;
beforeAll(async () => {
  w = await usable();
});
const undo: (() => unknown)[] = [];
afterEach(async () => {
  w.service.faults.clear();
  for (const one of undo.splice(0)) await one();
});
afterAll(() => w.close());

const told = (results: Result[]): string[] =>
  results.map(({ check, subject, text }) => `${check}: ${subject.name}: ${text}`);
const lines = (results: Result[]): string[] =>
  results.map(({ check, outcome, subject, text }) => `${check}: ${outcome}: ${subject.name}: ${text}`);
const wrong = async (...options: Parameters<Usable["wrong"]>): Promise<string[]> => lines(await w.wrong(...options));

/** Nothing but this is wrong. */
async function only(pattern: RegExp, options: Parameters<Usable["wrong"]>[0] = {}): Promise<void> {
  const found = await w.wrong(options);
  expect(told(found).join("\n")).toMatch(pattern);
  expect(found.every(({ outcome, next }) => outcome === "failed" && next !== undefined)).toBe(true);
}

/** The service's answer in place of a node's status. */
function showStatus(node: string, status: object): void {
  const asked = { kind: "status", method: "GET", route: `/nodes/${node}/status$`, times: Infinity };
  w.service.faults.add({ ...asked, ...status } as never);
}

test("a raft ledger, on a chain that makes blocks only on request, with a pending transaction", async () => {
  const chain = await new Network().start("--no-mining");
  undo.push(() => chain.stop());
  const make = async (path: string, body: object) => (await w.send("POST", path, body)).body;
  const within = `/consortia/${w.consortium}/environments`;
  const { _id: environment } = await make(within, { name: "raft", provider: "quorum", consensus_type: "raft" });
  undo.push(() => w.send("DELETE", `${within}/${environment}`));
  const { _id: node } = await make(`${within}/${environment}/nodes`, { membership_id: w.grower, name: "r1" });
  showStatus(node, { status: 200, body: { urls: { rpc: chain.url } } });
  const credentials = [...w.credentials, await make(`${within}/${environment}/appcreds`, { membership_id: w.grower })];
  w.service.store.environments.patch(environment, { chain_id: 4242 });
  const look = async () => lines(await w.look({ credentials })).find((line) => /^new blocks: \w+: r1: /.test(line));
  expect(await look()).toBe("new blocks: ok: r1: block 0; none is due without a transaction");
  const [from] = await chain.call<string[]>("eth_accounts");
  await chain.call("eth_sendTransaction", { from, to: from, value: "0x0" });
  const stuck = /^new blocks: failed: r1: no new block after block 0 for \d+ s, although a transaction is pending$/;
  expect(await look()).toMatch(stuck);
});

test("--write: each node of a healthy network takes one, and nothing else is wrong", async () => {
  const all = await w.look({ write: true });
  expect(lines(all).filter((line) => /^transaction: ok: n\d-\d: in block \d+ after/.test(line))).toHaveLength(4);
  expect(all.filter(({ outcome }) => outcome !== "ok")).toEqual([]);
  expect((await w.look()).filter(({ check }) => check === "transaction")).toEqual([]);
});

describe("credentials", () => {
  test("a credential that was deleted from the service, and one that never existed", async () => {
    const path = `${w.path}/appcreds`;
    const { body: old } = await w.send("POST", path, { membership_id: w.grower });
    await w.send("DELETE", `${path}/${old._id ?? old.username}`);
    const credentials = [...w.credentials, { username: old.username, password: old.password }];
    expect(await wrong({ credentials })).toEqual([
      `credential: failed: ${old.username}: it does not work on any node: the service has no credential of this user name`,
    ]);
    // The other consortium was not asked about.
    expect(await wrong({ credentials, consortium: w.consortium })).toEqual([
      `credential: skipped: ${old.username}: its member has no nodes`,
    ]);
  });

  test("one that may belong to a consortium of another stack, which does not list its credentials, is not called wrong", async () => {
    const { _id: other } = (await w.send("POST", "/consortia", { name: "other" })).body as { _id: string };
    const ledger = { name: "other", provider: "quorum", consensus_type: "raft" };
    const { _id: environment } = (await w.send("POST", `/consortia/${other}/environments`, ledger)).body as {
      _id: string;
    };
    undo.push(() => w.send("DELETE", `/consortia/${other}`));
    undo.push(() => w.send("DELETE", `/consortia/${other}/environments/${environment}`));
    const stack = stackOf(["Consortium", "trade", w.consortium, { name: "trade" }]);
    const credentials = [...w.credentials, { username: "u0nobodys", password: "p" }];
    const told = async () => (await wrong({ stack, credentials })).filter((line) => line.startsWith("credential"));
    expect(await told()).toEqual([expect.stringContaining("failed: u0nobodys: it does not work on any node")]);
    const route = `/consortia/${other}/environments/${environment}/appcreds$`;
    w.service.faults.add({ kind: "status", status: 403, method: "GET", route, times: Infinity });
    expect(await told()).toEqual(["credential: skipped: u0nobodys: its member has no nodes"]);
  });

  test.each([0, 1])("tries both credentials of a member: number %s opens nothing", async (place) => {
    const path = `${w.path}/appcreds`;
    const { username } = (await w.send("POST", path, { membership_id: w.grower })).body;
    const credentials = [...w.credentials];
    credentials.splice(place, 0, { username, password: "another one" });
    const found = lines(await w.wrong({ credentials }));
    expect(found).toEqual([
      expect.stringMatching(`^credential: failed: ${username}: it does not work on any node: n0-1, n0-2 refused it: `),
    ]);
    await w.send("DELETE", `${path}/${username}`);
  });
});

test.each(["running", "hibernated"])("a node that is %s and answers is fine, as for `pulumi up`", async (state) => {
  const [first, second] = w.nodes as [string, string];
  const { body } = await w.send("GET", `${w.path}/nodes/${first}/status`);
  w.service.store.nodes.setState(second, state);
  undo.push(() => w.service.store.nodes.setState(second, "started"));
  showStatus(second, { status: 200, body });
  expect(await wrong()).toEqual([]);
});

describe("a service that does not answer everything", () => {
  const patience = 10_000; // of what is not answered

  test("a hanging status request is reported, and the rest is checked", async () => {
    w.service.faults.add({ kind: "hang", route: `/nodes/${w.nodes[0]}/status$`, times: Infinity } as never);
    const all = lines(await w.look({}, patience));
    const silent = /^service answers: unseen: n0-1: .*GET \/consortia\/.*\/status: .*no answer/;
    expect(all).toContainEqual(matching(silent));
    expect(all).toContain("node reachable: ok: n0-2: it answers with the credential of its member");
    expect(all).toContainEqual(expect.stringMatching(/^last pin verified: ok: /));
  });

  test("objects in an unreadable list are not called gone", async () => {
    const inputs = { consortiumId: w.consortium, environmentId: w.environment, name: "n0-1" };
    const stack = stackOf(["Node", "n0-1", w.nodes[0]!, inputs]);
    w.service.faults.add({ kind: "status", status: 500, method: "GET", route: "/nodes$", times: Infinity });
    const found = await wrong({ stack }, patience);
    expect(found).toContainEqual(
      expect.stringMatching(/^service answers: unseen: ledger: .*GET .*\/nodes: HTTP 500: /),
    );
    expect(found.join("\n")).not.toContain("gone");
  });
});

describe("tethers and stacks", () => {
  describe("a tether that changed its network: its last pin is verified on the old one", () => {
    const at = async (targets: Record<string, string>) => {
      const { body } = await w.send("GET", `/tether/${tetherId}`);
      const moved = { ...body, network: "mainnet", target_urls: { mainnet: "http://127.0.0.1:9" } };
      const route = `/tether/${tetherId}$`;
      w.service.faults.add({ kind: "status", status: 200, body: moved, method: "GET", route, times: Infinity });
      return (await w.look({ targets })).filter(({ check }) => /^(last pin verified|tether funds)$/.test(check));
    };

    test("at a given address of the chain", async () => {
      const [pin, funds] = await at({ rinkeby: w.target.url });
      expect(pin).toMatchObject({ outcome: "ok", text: matching(/^in block \d+ of chain \d+$/) });
      expect(funds!.text).toContain("the cost of a pin is not known yet"); // on the new one
    });

    test("and an earlier one, of another network, is not looked for there", async () => {
      const { body } = await w.send("GET", `/tether/${tetherId}/reports/0`);
      const earlier = { ...body, network: "mainnet", transaction_hash: `0x${"1".repeat(64)}` };
      const bodies = { reportCount: { count: 2 }, "reports/1": body, "reports/0": earlier };
      for (const [path, shown] of Object.entries(bodies)) {
        const route = `/tether/${tetherId}/${path}$`;
        w.service.faults.add({ kind: "status", status: 200, body: shown, method: "GET", route, times: Infinity });
      }
      const pins = (await w.look()).filter(({ check }) => check === "last pin verified");
      expect(pins).toMatchObject([{ outcome: "ok", text: matching(/^in block \d+ of chain \d+/) }]);
    });
  });

  test("a deleted membership, and a deleted consortium without environments", async () => {
    const stack = stackOf(
      ["Membership", "left", "m-left", { consortiumId: w.consortium, orgName: "left" }],
      ["Consortium", "lost", "c-lost", { name: "lost" }],
    );
    const gone = (name: string) =>
      `as the stack says: failed: ${name}: the stack has ${name}, but the service does not show it`;
    expect(await wrong({ stack })).toEqual([gone("left"), gone("lost")]);
    // Nothing is asked about consortia besides the one that was named.
    expect(await wrong({ stack, consortium: w.consortium })).toEqual([gone("left")]);
  });
});

describe("a network that applications can use", () => {
  test("passes the check (for repeated checks, see healthy.test.ts)", async () => {
    const all = await w.look();
    expect(told(all.filter(({ outcome }) => outcome !== "ok"))).toEqual([]);
    expect(new Set(all.map(({ check }) => check))).toEqual(
      new Set([
        ...["environment", "node started", "node reachable", "credential"],
        ...["chain id", "block heights", "new blocks", "limits"],
        ...["tether active", "last pin on time", "last pin verified", "tether funds"],
      ]),
    );
    expect(new Set(all.map(({ subject }) => subject.kind))).toEqual(
      new Set(["organization", "consortium", "environment", "node", "credential", "tether"]),
    );
    expect(JSON.stringify(all)).not.toContain(w.credentials[0]!.password);
  });

  test("invalid addresses and addresses that never answer; no connection stays open", async () => {
    const route = "/consortia/:consortiumId/environments/:environmentId/nodes/:nodeId/status";
    const shown = (rpc: string): void => {
      w.service.faults.clear();
      w.service.faults.add({ kind: "status", status: 200, body: { urls: { rpc } }, method: "GET", route, times: 100 });
    };
    for (const address of ["pending", "wss://127.0.0.1/"]) {
      shown(address);
      await only(new RegExp(`^(node reachable: n\\d-\\d: its RPC address is invalid: ${address}\n?){4}$`));
    }
    const sockets = new Set<Socket>();
    const silent = createServer((socket) => {
      sockets.add(socket.resume());
      socket.on("error", () => undefined).on("close", () => sockets.delete(socket));
    }).listen(0, "127.0.0.1");
    await once(silent, "listening");
    const hasty = { ...systemClock, sleep: (ms: number, signal?: AbortSignal) => systemClock.sleep(ms / 20, signal) };
    try {
      shown(`http://127.0.0.1:${(silent.address() as AddressInfo).port}`);
      await only(/^(node reachable: n\d-\d: http:\S+ does not answer: it did not answer within 10 s\n?){4}$/, {
        clock: hasty,
      });
      await until(() => sockets.size === 0);
    } finally {
      w.service.faults.clear();
      for (const socket of sockets) socket.destroy();
      silent.close();
    }
  });

  test("a report that was tampered with", async () => {
    const route = "/tether/:tetherId/reports/:index";
    const { body } = await w.send("GET", `/tether/${tetherId}/reports/0`);
    const reports = (body.reports as object[]).map((one) => ({ ...one, block_hash: `0x${"0".repeat(64)}` }));
    w.service.faults.add({ kind: "status", status: 200, body: { ...body, reports }, method: "GET", route, times: 100 });
    await only(/^last pin verified: tether0001: the hash of the nodes' reports is .* it was changed$/);
    w.service.faults.clear();
    expect(told(await w.wrong())).toEqual([]);
  });

  test("an unreachable public chain says nothing about the network", async () => {
    const wrong = await w.wrong({ targets: { rinkeby: "http://127.0.0.1:9" } });
    expect(wrong).toMatchObject([{ check: "last pin verified", outcome: "unseen" }]);
  });
});

test("two pins an hour apart, then a minute apart; funds for too few pins, then none, then a late pin", async () => {
  const hour = 3_600_000;
  w.pass(hour);
  const reports = async () => Number((await w.send("GET", `/tether/${tetherId}/reportCount`)).text);
  const before = await reports();
  await until(async () => (await w.send("GET", `/tether/${tetherId}`)) && (await reports()) > before);
  const now = () => Date.now() + hour;
  expect(told(await w.wrong({ now }))).toEqual([]);
  const report = async (index: number) => (await w.send("GET", `/tether/${tetherId}/reports/${index}`)).body;
  const pinned_at = new Date(Date.parse((await report(before)).pinned_at as string) - 60_000).toISOString();
  const earlier = { ...(await report(before - 1)), pinned_at };
  const route = `/tether/${tetherId}/reports/${before - 1}$`;
  w.service.faults.add({ kind: "status", status: 200, body: earlier, method: "GET", route, times: 100 });
  expect(told(await w.wrong({ now }))).toContainEqual(
    expect.stringContaining("reports are 1 min apart, and one is due"),
  );
  w.service.faults.clear();
  const [cost] = (await w.look({ now })).filter(({ check }) => check === "tether funds");
  await only(/^tether funds: .* enough for \d+ more pins; \d+ are wanted$/, { pinsAhead: cost!.value! + 1, now });
  await w.target.call("anvil_setBalance", w.account, "0x0");
  await only(/^tether funds: tether0001: its account is empty$/, { now });
  w.pass(3 * hour); // the service tries to pin, and cannot
  await w.send("GET", `/tether/${tetherId}`);
  const late = told(await w.wrong({ now: () => Date.now() + 4 * hour }));
  expect(late).toContainEqual(expect.stringMatching(/^last pin on time: .* is 3 h old, and one is due every 1 h$/));
});
