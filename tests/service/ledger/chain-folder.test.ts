import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { heightSeen, lastWhole } from "../../../service/ledger/chain-folder";

let dir: string;
beforeEach(() => (dir = mkdtempSync(join(tmpdir(), "consortium-state-"))));
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const whole = (block: number) => gzipSync(JSON.stringify({ block }));
const write = (name: string, content: Buffer | string) => writeFileSync(join(dir, name), content);

test("the newest state is taken, and half a one gives way to the one before", () => {
  write("state.last.gz", whole(1));
  write("state.gz", whole(2));
  expect(lastWhole(dir)).toEqual({ state: whole(2) });
  write("state.gz", whole(3).subarray(0, -3));
  const { state, note } = lastWhole(dir)!;
  expect(state).toEqual(whole(1));
  expect(note).toMatch(
    /state.gz was cut off; it is kept as state.gz.damaged. So the chain goes on from that of \d{4}-/,
  );
});

test.each(["", "{", "7", whole(1).subarray(0, 9)])(
  "half a state %j with nothing before it is kept aside",
  (content) => {
    write("state.gz", content);
    expect(lastWhole(dir)).toMatchObject({
      state: Buffer.alloc(0),
      note: expect.stringContaining("begins anew") as string,
    });
    expect(readdirSync(dir)).toEqual(["state.gz.damaged"]);
    expect(readFileSync(join(dir, "state.gz.damaged"))).toEqual(Buffer.from(content));
  },
);

test("a chain of version 0.1.0 goes on", () => {
  write("state.json", '{"block":7}');
  expect(lastWhole(dir)).toEqual({ state: Buffer.from('{"block":7}') });
});

test("a chain that never ran has no state, and no height", () => {
  expect(lastWhole(dir)).toBeUndefined();
  expect(heightSeen(dir)).toBe(0);
  expect(readdirSync(dir)).toEqual([]);
});
