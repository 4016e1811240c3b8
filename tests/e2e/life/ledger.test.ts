import { Wallet } from "ethers";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, CredentialRefused, type KnownCredential, verifyReport } from "../../../sdk";
import { serveJson } from "../../service/child";
import { ask, type Company, type Outputs, processesOf, program, targetUrl, tetherId } from "../support/ledger";
import { finished, root, Stack } from "../support/stack";
import { until } from "../support/until";
import { canaryKey, type Network, networkOf, type World, world } from "../support/world";

interface Report {
  hash: string;
  reports: { block_height: number }[];
}

/** Sends one wei through a company's own node, and gives the transaction once it is in a block. */
async function pay(company: Company): Promise<{ hash: string; blockNumber: number; to: string }> {
  const ledger = connect(company, company);
  try {
    const to = Wallet.createRandom().address;
    const signer = await ledger.getSigner(company.account);
    const receipt = (await (await signer.sendTransaction({ to, value: 1n })).wait())!;
    return { hash: receipt.hash, blockNumber: receipt.blockNumber, to };
  } finally {
    ledger.destroy();
  }
}

/** One story: each test goes on where the one before it ended. */
describe("a ledger, through the real CLI", () => {
  let w: World;
  let outputs: Outputs;
  beforeAll(async () => {
    w = await world(program, {
      ledger: true,
      tethers: [{ id: tetherId, environment: "main" }],
      timing: { tetherHour: 2_000 },
    });
  });
  afterAll(() => w.close());

  test("up makes it; the next one deletes a credential, and connects to it in the program", async () => {
    expect(await w.stack.up({ TEMPORARY: "1" })).toMatchObject({ code: 0 });
    const { temporary } = (await w.stack.outputs()) as unknown as Outputs;
    expect(await w.stack.up({ CONNECT: "1" })).toMatchObject({ code: 0 });
    outputs = { ...((await w.stack.outputs()) as unknown as Outputs), temporary };
    expect(outputs.height).toBeGreaterThanOrEqual(0);
  });

  test("a transaction through one node is in a block, and the other node shows it", async () => {
    const { hash, blockNumber, to } = await pay(outputs.grower);
    const other = connect(outputs.roaster, outputs.roaster, "wss");
    expect(await other.getTransactionReceipt(hash)).toMatchObject({ hash, blockNumber, status: 1 });
    expect(await other.getBalance(to)).toBe(1n);
    let seen: unknown;
    void other.once("block", (block: number) => (seen = block)); // a subscription
    while (seen === undefined) await pay(outputs.grower); // raft makes a block for a transaction only
    expect(seen).toEqual(expect.any(Number));
    await other.destroy();
  });

  const refused: [string, () => KnownCredential][] = [
    ["the other member", () => outputs.roaster],
    ["another environment", () => outputs.elsewhere],
    ["a deleted credential", () => outputs.temporary!],
    ["a wrong password", () => ({ ...outputs.grower, password: "wrong" })],
  ];
  test.each(refused)("%s is refused, over HTTP and over a WebSocket", async (_, pair) => {
    for (const node of [connect(outputs.grower, pair()), connect(outputs.grower, pair(), "wss")]) {
      await expect(node.getBlockNumber()).rejects.toThrow(CredentialRefused);
      await node.destroy();
    }
  });

  test("the reports grow in number, are on the public chain, and a changed one is refused", async () => {
    const { baseUrl } = w.service;
    const count = (): Promise<number> => ask(baseUrl, canaryKey, `/tether/${tetherId}/reportCount`);
    const first = await count();
    await until(async () => (await count()) > Math.max(first, 1));
    const url = await targetUrl(baseUrl, canaryKey);
    const { account } = await ask<{ account: string }>(baseUrl, canaryKey, `/tether/${tetherId}`);
    for (const index of [0, 1]) {
      const report = await ask<Report>(baseUrl, canaryKey, `/tether/${tetherId}/reports/${index}`);
      expect(await verifyReport(report, url, { account })).toMatchObject({ verified: true, hash: report.hash });
      const [one, ...others] = report.reports;
      const changed = { ...report, reports: [{ ...one!, block_height: one!.block_height + 1 }, ...others] };
      expect(await verifyReport(changed, url)).toMatchObject({ verified: false });
      expect(await verifyReport(report, outputs.grower.urls.rpc).catch(() => "unreadable")).toBe("unreadable");
    }
  });
});

/** What tells one network from another made just like it. */
const idsOf = (network: Network): Record<string, string[]> =>
  Object.fromEntries(
    Object.entries(network).map(([kind, items]) => [
      kind,
      items.map(({ _id, id, chain_id }) => [_id ?? id, chain_id].join(" ")),
    ]),
  );

test("kill -9 of the service during up: the same network, ledger and reports, and no stray process", async () => {
  const data = mkdtempSync(join(tmpdir(), "consortium-kill-"));
  const args = ["--data", data, "--tether", `${tetherId}=main`, "--node-start", "1"];
  let { child, ready, key } = await serveJson(args);
  const { baseUrl } = ready;
  const stack = await Stack.create({ program, env: { CONSORTIUM_API_KEY: key, CONSORTIUM_BASE_URL: baseUrl } });
  const nodesOf = async (): Promise<unknown[]> => (await networkOf(baseUrl, key)).nodes;
  const report = (): Promise<Report> => ask(baseUrl, key, `/tether/${tetherId}/reports/0`);
  try {
    expect(await stack.up()).toMatchObject({ code: 0 });
    const { grower } = (await stack.outputs()) as unknown as Outputs;
    const sent = await pay(grower);
    const before = { network: await networkOf(baseUrl, key), report: await report() };

    const run = stack.start(["up", "--yes", "--skip-preview"], { MORE: "1" });
    const end = finished(run);
    await until(async () => (await nodesOf()).length > before.network.nodes.length);
    child.kill("SIGKILL");
    await until(() => processesOf(data).length === 0);
    ({ child, ready, key } = await serveJson([...args, "--port", new URL(baseUrl).port]));
    await end;

    expect(await stack.up({ MORE: "1" })).toMatchObject({ code: 0 });
    const now = await networkOf(baseUrl, key);
    expect(now.nodes).toHaveLength(before.network.nodes.length + 1);
    expect(idsOf({ ...now, nodes: [] })).toEqual(idsOf({ ...before.network, nodes: [] }));
    expect(idsOf(now).nodes).toEqual(expect.arrayContaining(idsOf(before.network).nodes!));
    const ledger = connect(grower, grower);
    expect(await ledger.getTransactionReceipt(sent.hash)).toMatchObject(sent);
    ledger.destroy();
    expect(await report()).toEqual(before.report);
    expect(await verifyReport(await report(), await targetUrl(baseUrl, key))).toMatchObject({ verified: true });

    expect(await stack.destroy({ MORE: "1" })).toMatchObject({ code: 0 });
    child.kill("SIGTERM");
    await until(() => processesOf(data).length === 0);
  } finally {
    stack.remove();
    rmSync(data, { recursive: true, force: true });
  }
});

test("the example, as its README says", async () => {
  const w = await world({ example: "examples/ledger" }, { ledger: true });
  try {
    symlinkSync(join(root, "node_modules/ethers"), join(w.stack.folder, "node_modules/ethers"));
    expect(await w.stack.up()).toMatchObject({ code: 0 });
    const { stdout: input } = await w.stack.ok(["stack", "output", "--json", "--show-secrets"]);
    const use = spawn(process.execPath, ["use.mjs"], { cwd: w.stack.folder });
    use.stdin.end(input);
    const { stdout: lines } = await finished(use);
    expect(lines.trim().split("\n")).toEqual([
      expect.stringMatching(/^grower {2}deployed Deliveries at 0x\w{40}, on the chain \d+$/),
      expect.stringMatching(/^grower {2}wrote a note, in block \d+$/),
      expect.stringMatching(/^roaster reads "60 kg of Huehuetenango" from 0x\w{40}$/),
      'grower  reads "received, 59.8 kg": 2 notes in all',
      expect.stringMatching(/^grower {2}is refused at the roaster's node: /),
    ]);
  } finally {
    await w.close();
  }
});
