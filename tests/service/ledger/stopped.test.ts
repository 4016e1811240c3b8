import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chainsAt } from "./chains";

const folder = mkdtempSync(join(tmpdir(), "consortium-stopped-"));
const { chains } = chainsAt(folder);
afterAll(async () => {
  await chains.close();
  rmSync(folder, { recursive: true });
});

test("a chain that is needed again while it ends starts once it has ended", async () => {
  const spec = { key: "e1", chainId: 7, accounts: 1, free: true };
  const first = await chains.get(spec);
  const ended = chains.stop("e1");
  const [again, same] = await Promise.all([chains.get(spec), chains.get(spec), ended]);
  expect(again).toBe(same);
  expect(again).not.toBe(first);
  expect(await again.call("eth_chainId")).toBe("0x7");
});
