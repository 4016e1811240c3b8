import { Wallet } from "ethers";
import { spawn } from "node:child_process";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { connect, CredentialRefused, type KnownCredential, verifyReport } from "../../../sdk";
import { type Company, type Outputs, program, targetUrl, tetherId } from "../support/ledger";
import { send } from "../../support/network";
import { finished, root } from "../support/stack";
import { until } from "../../support/until";
import { type World, world } from "../support/world";

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

  test("up creates it; the next one deletes a credential, and connects to it in the program", async () => {
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

  test("reports accumulate and are on the public chain, and a changed one is refused", async () => {
    const get = <T>(path: string): Promise<T> => send(w.service, "GET", `/tether/${tetherId}${path}`);
    const count = () => get<number>("/reportCount");
    const first = await count();
    await until(async () => (await count()) > Math.max(first, 1));
    const url = await targetUrl(w.service);
    const { account } = await get<{ account: string }>("");
    for (const index of [0, 1]) {
      const report = await get<Report>(`/reports/${index}`);
      expect(await verifyReport(report, url, { account })).toMatchObject({ verified: true, hash: report.hash });
      const [one, ...others] = report.reports;
      const changed = { ...report, reports: [{ ...one!, block_height: one!.block_height + 1 }, ...others] };
      expect(await verifyReport(changed, url)).toMatchObject({ verified: false });
      expect(await verifyReport(report, outputs.grower.urls.rpc).catch(() => "unreadable")).toBe("unreadable");
    }
  });
});

test("the example, as its README says", async () => {
  const w = await world({ example: "examples/ledger" }, { ledger: true });
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
});
