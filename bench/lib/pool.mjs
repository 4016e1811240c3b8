// @ts-check
/**
 * Does the jobs in their order, some at a time, each worker with something of its own; stops taking new ones when the time is over.
 * @template J, R, W
 * @param {J[]} jobs
 * @param {{ workers: W[], until?: number, work: (job: J, worker: W, at: number) => Promise<R> }} options until: `performance.now()`
 * @returns {Promise<(R | undefined)[]>} undefined: not reached
 */
export async function pool(jobs, { workers, until = Infinity, work }) {
  /** @type {(R | undefined)[]} */
  const results = jobs.map(() => undefined);
  const queue = [...jobs.entries()];
  const serve = async (/** @type {W} */ worker) => {
    for (let next = queue.shift(); next && performance.now() < until; next = queue.shift()) {
      const [at, job] = next;
      results[at] = await work(job, worker, at);
    }
  };
  await Promise.all(workers.map(serve));
  return results;
}
