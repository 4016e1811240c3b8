// @ts-check
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
