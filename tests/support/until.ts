/** Repeats a check until it holds, less often after a while; the test's own time limit ends it. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let ms = 10; !(await holds()); ms = Math.min(ms * 1.2, 50)) await new Promise((done) => setTimeout(done, ms));
}
