import { setTimeout as wait } from "node:timers/promises";
import { keccak256, toUtf8Bytes } from "ethers";
import type { NetworkView } from "../../console/protocol";
import { build, start } from "../service/helpers";
import { json, type Peer, peer } from "../support/peer";
import { consoleOf, countCalls, signIn, TestPage } from "./support";

/** Until a condition holds; it fails after ten seconds. */
async function until(holds: () => boolean): Promise<void> {
  for (let looks = 0; looks < 500 && !holds(); looks++) await wait(20);
  expect(holds()).toBe(true);
}

const shortMs = 100;
const watched = async (periodMs = shortMs) => {
  const { service, send } = await start({ timing: { nodeStart: 0 } });
  const world = await build(send);
  const console = await consoleOf(service, { periodMs });
  const session = await signIn(console);
  const open = async () => {
    const page = new TestPage(session);
    await page.answered();
    page.watch("network", "maps", `environment/${world.environment}`);
    await until(() => page.shown.size === 3);
    return page;
  };
  return { service, world, open, console };
};

test("whoever signs in finds the network looked at already", async () => {
  const { service } = await start();
  const console = await consoleOf(service);
  const calls = countCalls();
  await signIn(console);
  await until(() => calls.paths.some((path) => path.endsWith("/consortia")));
});

test("20 pages cause no more calls than one, and none once nobody looks", async () => {
  // Long beside a look, also on a busy machine: what one look asks is kept for most of a period.
  const period = 500;
  const { open, service } = await watched(period);
  const calls = countCalls();
  /** How often the service was looked at, which begins with its consortia, and how often one observer may look in that time. */
  const during = async (ms: number) => {
    const [before, startedAt] = [calls.paths.length, performance.now()];
    await wait(ms);
    const paths = calls.paths.slice(before);
    const looks = paths.filter((path) => path.endsWith("/consortia")).length;
    return { calls: paths.length, looks, most: Math.ceil((performance.now() - startedAt) / period) + 1 };
  };
  const pages = [await open()];
  const one = await during(3_000);
  for (let index = 1; index < 20; index++) pages.push(await open());
  const twenty = await during(3_000);
  expect(one.looks).toBeGreaterThan(1);
  for (const { looks, most } of [one, twenty]) expect(looks).toBeLessThanOrEqual(most);
  // The spans begin and end within looks.
  const perLook = one.calls / (one.looks - 1);
  expect(twenty.calls).toBeLessThanOrEqual(perLook * (twenty.looks + 1));

  for (const page of pages) page.watch(); // hidden
  await wait(300); // a look that is under way
  expect((await during(1_000)).calls).toBe(0);
  expect(service.calls.filter(({ method }) => method === "GET")).toEqual([]); // what only watches is not logged
}, 30_000);

test("what changes is shown to every page that looks, and no secret ever is", async () => {
  const { open, service, world } = await watched();
  const [page, other] = [await open(), await open()];
  const stateIn = ({ shown }: TestPage) =>
    (shown.get("network")!.value as NetworkView).model.consortia[0]!.environments[0]!.nodes[0]!.state;
  await until(() => stateIn(page) === "started");
  service.store.nodes.setState(world.node, "failed");
  await until(() => stateIn(page) === "failed" && stateIn(other) === "failed");
  const everything = JSON.stringify([...page.shown.values()]);
  expect(everything).toContain(world.credential.username);
  for (const secret of [service.apiKey, world.credential.password]) expect(everything).not.toContain(secret);
}, 30_000);

test("a service that does not answer is said so, and looked at less often", async () => {
  const { open, service, console } = await watched();
  const began = Date.now();
  const page = await open();
  const calls = countCalls();
  await service.close();
  const closed = Date.now();
  await until(() => page.shown.get("network")?.problem !== undefined);
  const { problem, since = 0 } = page.shown.get("network")!;
  expect(problem).toContain("connection");
  expect(since).toBeGreaterThan(began); // when the service answered last
  expect(since).toBeLessThan(closed);
  const before = calls.paths.length;
  await wait(1_000);
  expect(calls.paths.length - before).toBeLessThan(20); // of some hundred
  expect(page.looked.at(-1)!.next).toBeGreaterThan(shortMs);
  const end = page.closed();
  await console.close(); // does not wait for those who look
  await end;
}, 30_000);

describe("a report is checked on the chain that it names, which may be a former one of its tether", () => {
  const [tether, former, present] = ["tether0001", "rinkeby", "mainnet"];
  const report = {
    network: former,
    chain_id: 4,
    contract_address: `0x${"ac".repeat(20)}`,
    transaction_hash: `0x${"3d".repeat(32)}`,
    block_number: 9,
    contract_index: 0,
    reports: [],
    hash: keccak256(toUtf8Bytes("[]")),
  };
  const chain = () =>
    peer((response, seen, socket) => json(200, { jsonrpc: "2.0", id: seen, result: "0x1" })(response, seen, socket));

  /** What the page says of a report of a former network, and which chains are asked about it. */
  const verified = async (given: readonly string[]) => {
    const chains: Record<string, Peer> = { [former]: await chain(), [present]: await chain() };
    const address = (network: string): string => chains[network]!.baseUrl;
    const shown: Record<string, unknown> = {
      "": { network: present, target_urls: { [present]: address(present) } },
      "/reportCount": { count: 1 },
      "/reports/0": report,
    };
    const api: Peer = await peer((response, seen, socket) => {
      const [, path = "none"] = /\/tether\/\w+(.*)$/.exec(api.requests[seen - 1]!.url) ?? [];
      json(path in shown ? 200 : 404, shown[path] ?? {})(response, seen, socket);
    });
    const targets = Object.fromEntries(given.map((network) => [network, address(network)]));
    const console = await consoleOf({ baseUrl: api.baseUrl, apiKey: "key" }, { targets });
    const { place, cookie } = await signIn(console);
    const response = await fetch(`${place}api/verify`, {
      method: "POST",
      headers: { "content-type": "application/json", origin: console.url, cookie },
      body: JSON.stringify({ tether, index: 0 }),
    });
    const asked = Object.keys(chains).filter((network) => chains[network]!.requests.length > 0);
    return { asked, text: JSON.stringify(await response.json()) };
  };

  test("by the address that was given for it", async () => {
    expect(await verified([present, former])).toEqual({
      asked: [former],
      text: expect.stringContaining("pinned on the chain 4, and this is the chain 1") as string,
    });
  });

  test.each([[[]], [[present]]])("given %j: by none, and the page says which is missing", async (given) => {
    const text = expect.stringContaining(`--target ${former}=https://`) as string;
    expect(await verified(given)).toEqual({ asked: [], text });
  });
});
