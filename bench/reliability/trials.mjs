// @ts-check
/** SIGKILL at any request of an `up`, and the documented recovery from it. */
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { isAlive, run } from "../../tools/lib/processes.mjs";
import { treeOf } from "../lib/lab.mjs";
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

const isProvider = (/** @type {import("../lib/lab.mjs").Process} */ { command }) =>
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

/** A stack of one organization, and the key of another in the shell: an error, and nothing lost, made or touched. */

/** @typedef {{ command: string, owns: boolean }} Foreign owns: the other organization has a consortium of its own */

export const commands = ["`up --refresh`", "`refresh`", "`destroy`"];

/** @returns {Foreign[]} */
export const foreignKeys = () => commands.flatMap((command) => [true, false].map((owns) => ({ command, owns })));

/**
 * @param {Foreign} foreign
 * @param {import("./lab.mjs").Bench} bench
 * @returns {Promise<import("../lib/stack.mjs").Ended>} what the `up` with the right key says after it
 */
export async function tryForeignKey({ command, owns }, { service, stack, env }) {
  const first = await stack.up(env);
  if (first.code !== 0) return first;
  const { apiKey } = service.addOrganization("another");
  const headers = { authorization: `Bearer ${apiKey}`, "content-type": "application/json" };
  const body = JSON.stringify({ name: "theirs" });
  if (owns) await fetch(`${service.baseUrl}/consortia`, { method: "POST", headers, body });
  // secrets are encrypted anew each time the state is written
  const kept = () =>
    JSON.stringify(
      stack
        .resources()
        .map(({ id, type }) => `${type} ${id}`)
        .sort(),
    );
  const before = kept();
  service.clearCalls();
  const args = [...command.replaceAll("`", "").split(" "), "--yes", "--skip-preview"];
  const ended = await stack.run(args, { ...env, CONSORTIUM_API_KEY: apiKey });
  const writes = service.calls.filter(({ method }) => method !== "GET").length;
  /** @param {string} what */
  const wrong = (what) => ({ ...ended, code: null, text: `error: ${command} with a foreign key ${what}` });
  if (ended.code === 0) return wrong("succeeded");
  if (writes > 0) return wrong(`made ${writes} calls that change something`);
  if (kept() !== before) return wrong("changed the state");
  for (const { id, fields } of service.store.consortia.list())
    if (fields.name === "theirs") service.store.consortia.remove(id);
  return stack.up(env);
}
