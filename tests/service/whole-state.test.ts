import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ensureWholeState, stateFile } from "../../service/ledger/whole-state";

let dir: string;
beforeEach(() => (dir = mkdtempSync(join(tmpdir(), "consortium-state-"))));
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const write = (text: string) => writeFileSync(stateFile(dir), text);
const read = () => readFileSync(stateFile(dir), "utf8");

test("half a state gives way to the last whole one", async () => {
  write('{"block":1}');
  expect(await ensureWholeState(dir)).toBeUndefined();
  write('{"block":2}');
  expect(await ensureWholeState(dir)).toBeUndefined();
  write('{"block":3,"acc');
  expect(await ensureWholeState(dir)).toMatch(/cut off: the chain goes on from that of \d{4}-/);
  expect(read()).toBe('{"block":2}');
});

test.each(["", "{", "7"])("half a state %p with nothing before it is taken away", async (text) => {
  write(text);
  expect(await ensureWholeState(dir)).toMatch("begins anew");
  expect(readdirSync(dir)).toEqual([]);
});

test("a chain that never ran has no state", async () => {
  expect(await ensureWholeState(dir)).toBeUndefined();
  expect(readdirSync(dir)).toEqual([]);
});
