import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { type Result } from "../../observe/check/checks";
import { systemClock } from "../../provider/api/clock";
import { until } from "../support/until";
import { stackOf } from "./models";
import { tetherId, type Usable, usable } from "./usable";

let w: Usable;
beforeAll(async () => {
  w = await usable();
});
afterAll(() => w.close());

const told = (results: Result[]): string[] =>
  results.map(({ check, subject, text }) => `${check}: ${subject.name}: ${text}`);

/** Nothing but this is wrong. */
async function only(pattern: RegExp, options: Parameters<Usable["wrong"]>[0] = {}): Promise<void> {
  const wrong = await w.wrong(options);
  expect(told(wrong).join("\n")).toMatch(pattern);
  expect(wrong.every(({ outcome, next }) => outcome === "failed" && next !== undefined)).toBe(true);
}

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

  test("a stopped node", async () => {
    w.service.store.nodes.setState(w.nodes[1]!, "stopped");
    expect((await w.wrong()).filter(({ outcome }) => outcome === "failed")).toMatchObject([
      { check: "node started", subject: { id: w.nodes[1] }, text: "its state is stopped" },
    ]);
    w.service.store.nodes.setState(w.nodes[1]!, "started");
  });

  test("a service that is not started, and a destination that is not set up", async () => {
    const path = `${w.path}/services`;
    const documents = { name: "documents", service: "documentstore", membership_id: w.grower };
    const { _id: id } = (await w.send("POST", path, documents)).body as { _id: string };
    const started = async () => (await w.look()).find(({ check }) => check === "service started")!;
    await until(async () => (await started()).outcome === "ok");
    expect(await started()).toMatchObject({
      subject: { kind: "service", id, name: "documents", within: "ledger" },
      text: expect.stringMatching(/^it is started, at http:/) as string,
    });
    const shown = { kind: "status", status: 200, body: [{ name: "inbox", setup_complete: false }] } as const;
    w.service.faults.add({ ...shown, method: "GET", route: "/documentstore/:serviceId/destinations" });
    await only(/^destination ready: inbox: it is not set up$/);
    w.service.faults.clear();
    w.service.store.services.setState(id, "stopped");
    await only(/^service started: documents: its state is stopped$/);
    await w.send("DELETE", `${path}/${id}`);
  });

  test("an unknown node state is treated as the provider treats it", async () => {
    w.service.store.nodes.setState(w.nodes[1]!, "running");
    const all = await w.look();
    w.service.store.nodes.setState(w.nodes[1]!, "started");
    const [first, next] = all.filter(({ subject }) => subject.id === w.nodes[1]);
    expect([first, next]).toMatchObject([
      { check: "node started", outcome: "ok", text: "it is running" },
      { check: "node reachable", outcome: "failed" }, // asked: this service shows addresses of started nodes only
    ]);
  });

  test("a wrong credential", async () => {
    const credentials = [{ ...w.credentials[0]!, password: "wrong" }, w.credentials[1]!];
    const refused =
      /^(node reachable: n0-\d: it refuses the credential: .+\n){2}credential: \w+: it does not work on any node: n0-\d, n0-\d refused it: .+$/;
    await only(refused, { credentials });
  });

  test("a member with fewer nodes than its minimum, a node that differs from its stack, and one that is gone", async () => {
    w.service.store.memberships.patch(w.grower, { minimum_nodes: 3 });
    await only(/^minimum of nodes: grower: 2 of at least 3 nodes$/);
    w.service.store.memberships.patch(w.grower, { minimum_nodes: 0 });
    const within = { consortiumId: w.consortium, environmentId: w.environment };
    const stack = stackOf(
      ["Node", "renamed", w.nodes[0]!, { ...within, name: "renamed" }],
      ["Node", "lost", "n-lost", { ...within, name: "lost" }],
    );
    const found = told(await w.wrong({ stack }));
    expect(found).toContain('as the stack says: n0-1: name is "n0-1", and "renamed" in the stack');
    expect(found).toContain("node started: lost: it is gone from the service");
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

  test("an address of another public chain proves nothing", async () => {
    const verdict = async (targets: Record<string, string>) =>
      told(await w.look({ targets })).find((one) => one.startsWith("last pin verified"));
    expect(await verdict({ mainnet: "http://127.0.0.1:9" })).toContain("by the service's own address of it");
    expect(await verdict({ rinkeby: w.target.url })).not.toContain("by the service's own address of it");
  });

  test("an unreachable public chain says nothing about the network", async () => {
    const wrong = await w.wrong({ targets: { rinkeby: "http://127.0.0.1:9" } });
    expect(wrong).toMatchObject([{ check: "last pin verified", outcome: "unseen" }]);
  });

  test("funds for too few pins, then none, then a late pin", async () => {
    const [cost] = (await w.look()).filter(({ check }) => check === "tether funds");
    await only(/^tether funds: .* enough for \d+ more pins; \d+ are wanted$/, { pinsAhead: cost!.value! + 1 });
    await w.target.call("anvil_setBalance", w.account, "0x0");
    await only(/^tether funds: tether0001: its account is empty$/);
    w.pass(3 * 3_600_000); // the service tries to pin, and cannot
    await w.send("GET", `/tether/${tetherId}`);
    const late = told(await w.wrong({ now: () => Date.now() + 3 * 3_600_000 }));
    expect(late).toContainEqual(expect.stringMatching(/^last pin on time: .* is 3 h old, and one is due every 1 h$/));
  });
});
