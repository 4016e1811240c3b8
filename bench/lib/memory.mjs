// @ts-check
/** What a process and everything below it take of the memory, on Linux. */
import { readdirSync, readFileSync } from "node:fs";
import { clearInterval, setInterval } from "node:timers";

/** @typedef {{ pss: number, rss: number, processes: number }} Usage bytes; pss: shared pages are counted once in all */

/** @param {string} file */
function textOf(file) {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

/** @param {number} root @returns {number[]} */
function treeOf(root) {
  const all = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((name) => {
      const stat = textOf(`/proc/${name}/stat`);
      return { pid: Number(name), parent: Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]) };
    });
  /** @param {number} pid @returns {number[]} */
  const below = (pid) => [pid, ...all.filter(({ parent }) => parent === pid).flatMap((one) => below(one.pid))];
  return below(root);
}

/** @param {number} root @returns {Usage} */
export function usageOf(root) {
  const pids = treeOf(root);
  const sum = { pss: 0, rss: 0, processes: pids.length };
  for (const pid of pids) {
    const text = textOf(`/proc/${pid}/smaps_rollup`);
    for (const name of /** @type {const} */ (["Pss", "Rss"])) {
      const [, kB = "0"] = new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(text) ?? [];
      sum[/** @type {"pss" | "rss"} */ (name.toLowerCase())] += Number(kB) * 1024;
    }
  }
  return sum;
}

/** A process and everything below it, each by itself. @param {number} root @returns {{ command: string, rss: number }[]} */
export function eachOf(root) {
  return treeOf(root).map((pid) => {
    const [, kB = "0"] = /^VmRSS:\s+(\d+) kB/m.exec(textOf(`/proc/${pid}/status`)) ?? [];
    return { command: textOf(`/proc/${pid}/cmdline`).replaceAll("\0", " "), rss: Number(kB) * 1024 };
  });
}

/**
 * Looks again and again; `end` answers the most that was seen of each.
 * @param {number} root
 */
export function watchMemory(root, everyMs = 500) {
  const peak = { pss: 0, rss: 0, processes: 0 };
  const timer = setInterval(() => {
    const usage = usageOf(root);
    for (const key of /** @type {const} */ (["pss", "rss", "processes"])) peak[key] = Math.max(peak[key], usage[key]);
  }, everyMs);
  return {
    end: () => {
      clearInterval(timer);
      return peak;
    },
  };
}
