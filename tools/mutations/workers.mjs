// @ts-check
/** Workers: processes with Jest, which are replaced when they hang, end, or have grown. */
import { fork } from "node:child_process";
import { join } from "node:path";
import { clearTimeout, setTimeout } from "node:timers";

/** @typedef {import("./worker.mjs").Job} Job */
/** @typedef {import("./worker.mjs").Answer} Answer */

const largest = 1.5 * 1024 ** 3;

/** @param {string} folder the copy of the repository @param {NodeJS.ProcessEnv} env */
export function worker(folder, env) {
  /** @type {import("node:child_process").ChildProcess | undefined} */
  let child;
  /** With the processes that its tests have started. */
  const stop = () => {
    const { pid } = child ?? {};
    child = undefined;
    try {
      if (pid !== undefined) process.kill(-pid, "SIGKILL");
    } catch {
      // they have ended
    }
  };

  /** @param {Job} job @param {number} limit ms @returns {Promise<Answer | "late" | "ended">} */
  async function ask(job, limit) {
    const options = {
      cwd: folder,
      env,
      detached: true,
      stdio: /** @type {any} */ (["ignore", "ignore", "ignore", "ipc"]),
    };
    child ??= fork(join(folder, "tools", "mutations", "worker.mjs"), options);
    const asked = child;
    const said = await new Promise((resolve) => {
      const timer = setTimeout(() => resolve("late"), limit);
      const settle = (/** @type {Answer | "ended"} */ result) => (clearTimeout(timer), resolve(result));
      asked.once("message", settle);
      asked.once("exit", () => settle("ended"));
      asked.once("error", () => settle("ended"));
      asked.send(job, () => undefined);
    });
    asked.removeAllListeners();
    asked.on("error", () => undefined);
    if (typeof said === "string" || said.rss > largest) stop();
    return said;
  }
  return { ask, stop };
}
