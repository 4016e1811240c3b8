// @ts-check
/** SIGKILL at any request of an `up`, and the documented recovery from it. */
import { fileURLToPath } from "node:url";
import { isAlive, run, treeOf } from "../../tools/lib/processes.mjs";
import { finished } from "../lib/stack.mjs";
import { textOf } from "./faults.mjs";
import { until } from "./lab.mjs";

/** @typedef {import("./faults.mjs").Call} Call */
/** @typedef {import("./lab.mjs").Bench} Bench */
/** @typedef {import("./lab.mjs").Trial} Trial */
/** @typedef {import("../lib/stack.mjs").Ended} Ended */

const cli = fileURLToPath(new URL("../../dist/cli/consortium.js", import.meta.url));

export const victims = ["CLI", "provider"];

/** A kill at each kind of call, before and after the service acted. @param {Call[]} calls @returns {Trial[]} */
export const killTrials = (calls) =>
  calls.flatMap((call) =>
    victims.flatMap((victim) =>
      (call.method === "GET" ? [false] : [false, true]).map((acted) => ({
        title: `${victim} killed at ${textOf(call)}, ${acted ? "after" : "before"} the service acted`,
        call,
        column: `${victim} killed`,
        run: (lab, adapter) => lab.trial(adapter, (bench) => killAndRecover(call, victim, acted, bench)),
      })),
    ),
  );

const isProvider = (/** @type {import("../../tools/lib/processes.mjs").Process} */ { command }) =>
  /dynamic-provider|pulumi-resource-consortium/.test(command);

/** Answers the end of the `up` that recovers. @param {Call} call @param {string} victim @param {boolean} acted @param {Bench} bench @returns {Promise<Ended>} */
async function killAndRecover(call, victim, acted, { service, stack, env }) {
  const fault = service.faults.add({ ...call, kind: "hang", acted, nth: 1, times: 1 });
  const started = stack.start(["up", "--yes", "--skip-preview"], env);
  const end = finished(started);
  await until(() => fault.hits > 0, `the call ${textOf(call)} came`);
  const processes = treeOf(started.pid ?? 0);
  const providers = processes.filter(isProvider);
  const victims = victim === "CLI" ? processes.filter((one) => !isProvider(one)) : providers;
  for (const { pid } of victims) if (isAlive(pid)) process.kill(pid, "SIGKILL");
  await end;
  await until(() => !providers.some(({ pid }) => isAlive(pid)), "the provider of the killed run ended");
  fault.remove();
  const recover = async () => {
    await stack.run(["cancel", "--yes"], env);
    return stack.up({ ...env, CONSORTIUM_ADOPT: "true" });
  };
  let ended = await recover();
  if (ended.text.includes("failed to load checkpoint")) {
    stack.restoreState();
    ended = await recover();
  }
  // Pulumi's output names what the killed run left and nobody can use. A person has it removed.
  const [, ids] = /consortium sweep --id (\S+(?: \S+)*)/.exec(ended.text) ?? [];
  if (ids)
    await run(process.execPath, [cli, "sweep", "--yes", "--id", ...ids.trim().split(" ")], {
      env: { ...process.env, ...env },
    });
  return ended;
}

export const commands = ["`up --refresh`", "`refresh`", "`destroy`"];

/** A key of another organization, on a stack that exists: an error, and nothing is lost, created or touched. @returns {Trial[]} */
export const keyTrials = () =>
  commands.flatMap((command) =>
    [true, false].map((owns) => ({
      title: `${command} with the key of another organization, which has ${owns ? "a consortium" : "nothing"}`,
      run: (lab, adapter) => lab.trial(adapter, (bench) => tryForeignKey(command, owns, bench)),
    })),
  );

/** Answers the end of an `up` with the right key after it. @param {string} command @param {boolean} owns @param {Bench} bench @returns {Promise<Ended>} */
async function tryForeignKey(command, owns, { service, stack, env }) {
  const first = await stack.up(env);
  if (first.code !== 0) return first;
  const { apiKey } = service.addOrganization("another");
  const headers = { authorization: `Bearer ${apiKey}`, "content-type": "application/json" };
  const body = JSON.stringify({ name: "theirs" });
  if (owns) await fetch(`${service.baseUrl}/consortia`, { method: "POST", headers, body });
  // without secrets, which are encrypted anew each time
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
  const writes = service.calls.filter(({ method, path }) => method !== "GET" && !path.endsWith("/authtoken")).length;
  /** @param {string} what */
  const wrong = (what) => ({ ...ended, code: null, text: `error: ${command} with a foreign key ${what}` });
  if (ended.code === 0) return wrong("succeeded");
  if (writes > 0) return wrong(`made ${writes} calls that change something`);
  if (kept() !== before) return wrong("changed the state");
  for (const { id, fields } of service.store.consortia.list())
    if (fields.name === "theirs") service.store.consortia.remove(id);
  return stack.up(env);
}
