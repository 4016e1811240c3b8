// @ts-check
/** SIGKILL at any request of an `up`, and the documented recovery from it. */
import { fileURLToPath } from "node:url";
import { setTimeout as wait } from "node:timers/promises";
import { isAlive, run } from "../../tools/lib/processes.mjs";
import { treeOf } from "../lib/process-tree.mjs";
import { finished } from "../lib/stack.mjs";

/** @typedef {"CLI" | "provider"} Victim */
/** @typedef {{ call: import("./faults.mjs").Call, victim: Victim, acted: boolean }} Kill */

const cli = fileURLToPath(new URL("../../dist/cli/consortium.js", import.meta.url));

/** Longer than that nothing takes, unless it hangs. */
const longestMs = 60_000;

/** @param {import("./faults.mjs").Call[]} calls @returns {Kill[]} */
export function killsOf(calls) {
  const victims = /** @type {Victim[]} */ (["CLI", "provider"]);
  return calls.flatMap((call) =>
    victims.flatMap((victim) =>
      (call.method === "GET" ? [false] : [false, true]).map((acted) => ({ call, victim, acted })),
    ),
  );
}

/** @param {() => boolean} holds @param {string} what */
async function until(holds, what) {
  const end = performance.now() + longestMs;
  while (!holds()) {
    if (performance.now() > end) throw new Error(`waited in vain until ${what}`);
    await wait(20);
  }
}

const isProvider = (/** @type {import("../lib/process-tree.mjs").Process} */ { command }) =>
  /dynamic-provider|pulumi-resource-consortium/.test(command);

/**
 * @param {Kill} kill
 * @param {import("./lab.mjs").Bench} bench
 * @returns {Promise<import("../lib/stack.mjs").Ended>} what the `up` after it says
 */
export async function killAndRecover({ call, victim, acted }, { service, stack, env }) {
  const fault = service.faults.add({ ...call, kind: "hang", acted, nth: 1, times: 1 });
  const started = stack.start(["up", "--yes", "--skip-preview"], env);
  const end = finished(started);
  await until(() => fault.hits > 0, `the call ${call.method} ${call.route} came`);
  const processes = treeOf(started.pid ?? 0);
  const providers = processes.filter(isProvider);
  const victims = victim === "CLI" ? processes.filter((one) => !isProvider(one)) : providers;
  for (const { pid } of victims) if (isAlive(pid)) process.kill(pid, "SIGKILL");
  await end;
  await until(() => !providers.some(({ pid }) => isAlive(pid)), "the provider of the dead run ended");
  fault.remove();
  await stack.run(["cancel", "--yes"], env);
  const ended = await stack.up({ ...env, CONSORTIUM_ADOPT: "true" });
  // What the dead run left and nobody can use is named, and goes when a person says so.
  const [, ids] = /consortium sweep --id (\S+(?: \S+)*)/.exec(ended.text) ?? [];
  if (ids)
    await run(process.execPath, [cli, "sweep", "--yes", "--id", ...ids.trim().split(" ")], {
      env: { ...process.env, ...env },
    });
  return ended;
}
