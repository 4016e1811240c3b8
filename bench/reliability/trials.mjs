// @ts-check
/** A SIGKILL and its documented recovery, or a key of another organization. */
import { finished, isAlive, treeOf } from "../../tools/lib/processes.mjs";
import { upArgs } from "../lib/stack.mjs";
import { textOf } from "./faults.mjs";
import { until } from "./lab.mjs";

/** @typedef {import("./lab.mjs").Call} Call */
/** @typedef {import("./lab.mjs").Build} Build */
/** @typedef {"CLI" | "provider"} Victim */

/** For a read, it makes no difference whether the service acted. @param {Call} call */
const changes = ({ method }) => method !== "GET";

const isProvider = (/** @type {import("../../tools/lib/processes.mjs").Process} */ { command }) =>
  /dynamic-provider|pulumi-resource-consortium/.test(command);

/**
 * A SIGKILL at a call, before or after the service acted. Answers the end of the `up` that recovers. @param {Call} call @param {Victim}
 * victim @param {boolean} acted @returns {Build}
 */
export const withKill =
  (call, victim, acted) =>
  async ({ service, stack, env }) => {
    const fault = service.faults.add({ ...call, kind: "hang", acted, nth: 1, times: 1 });
    const started = stack.start(upArgs, env);
    const end = finished(started);
    await until(() => fault.hits > 0, `the call ${textOf(call)} came`);
    const processes = treeOf(started.pid ?? 0);
    const providers = processes.filter(isProvider);
    const victims = victim === "CLI" ? processes.filter((one) => !isProvider(one)) : providers;
    for (const { pid } of victims) if (isAlive(pid)) process.kill(pid, "SIGKILL");
    await end;
    // No process of the killed run may continue: its provider notices that the engine has ended.
    await until(() => !providers.some(({ pid }) => isAlive(pid)), "the provider of the killed run ended");
    fault.remove();
    const recover = async () => {
      await stack.run(["cancel", "--yes"], env);
      return stack.up(env);
    };
    let ended = await recover();
    if (ended.text.includes("failed to load checkpoint")) {
      stack.restoreState();
      ended = await recover();
    }
    return ended;
  };

/**
 * A key of another organization, on a stack that exists: an error, and nothing is lost, created or touched. Answers the end of an `up` with
 * the right key after it. @param {string} command @param {boolean} owns @returns {Build}
 */
export const withForeignKey =
  (command, owns) =>
  async ({ service, stack, env }) => {
    const first = await stack.up(env);
    if (first.code !== 0) return first;
    const { apiKey } = service.addOrganization("another");
    const headers = { authorization: `Bearer ${apiKey}`, "content-type": "application/json" };
    const body = JSON.stringify({ name: "theirs" });
    if (owns) await fetch(`${service.baseUrl}/consortia`, { method: "POST", headers, body });
    const kept = () =>
      stack
        .resources()
        .map(({ id, type }) => `${type} ${id}`)
        .sort()
        .join("\n"); // secrets are encrypted anew each time
    const before = kept();
    service.clearCalls();
    const args = [...command.split(" "), "--yes", "--skip-preview"];
    const ended = await stack.run(args, { ...env, CONSORTIUM_API_KEY: apiKey });
    const writes = service.calls.filter((call) => changes(call)).length;
    /** @param {string} what */
    const wrong = (what) => ({ ...ended, code: null, text: `error: ${command} with a foreign key ${what}` });
    if (ended.code === 0) return wrong("succeeded");
    if (!/was made with organization \w+, but the API key/.test(ended.text)) return wrong("does not say what is wrong");
    if (writes > 0) return wrong(`made ${writes} calls that change something`);
    if (kept() !== before) return wrong("changed the state");
    for (const { id, fields } of service.store.consortia.list())
      if (fields.name === "theirs") service.store.consortia.remove(id);
    return stack.up(env);
  };
