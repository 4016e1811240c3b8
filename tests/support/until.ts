/** What tests wait for now: the one that runs out of time tells it (tests/support/jest/environment.mjs). */
const waits = (globalThis as Record<symbol, unknown>)[Symbol.for("conditions that a test waits for")] as
  Set<string> | undefined;

/** Repeats a check until it holds, less often after a while; the test's own time limit ends it. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  const condition = holds.toString().replace(/\s+/g, " ");
  waits?.add(condition);
  try {
    for (let ms = 10; !(await holds()); ms = Math.min(ms * 1.2, 50)) await new Promise((done) => setTimeout(done, ms));
  } finally {
    waits?.delete(condition);
  }
}
