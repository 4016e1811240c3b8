import { spawn } from "node:child_process";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { done, finished, root } from "../support/stack";
import { wholeTree, world } from "../support/world";

/* Programs on a ledger. (Who is let in: tests/service/ledger/real-ledger.test.ts; reports on their chain: tests/service/tether.) */

test("a program connects to the node that it makes", async () => {
  const height = "connect(node, cred).apply((ledger) => ledger.getBlockNumber().finally(() => ledger.destroy()))";
  const { stack } = await world(`${wholeTree} exports.height = require("pulumi-consortium").${height};`, {
    ledger: true,
  });
  await done(stack.up());
  expect((await stack.outputs()).height).toBeGreaterThanOrEqual(0);
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
