// @ts-check
/**
 * npm run reliability [-- --kind node,service --verb create --manner hosted --adapter plugin --rounds 4 --lives 500 --parallel 2]: every
 * fault at every call of every verb of every kind, on the double of the engine, then random lives. CONTRIBUTING.md tells more.
 */
import "./lib/node-version.mjs";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { root } from "./lib/prepare.mjs";
import { duration, log, runMain, UserError } from "./lib/terminal.mjs";

/** @param {string} name @param {string} text */
function whole(name, text) {
  if (!/^\d+$/.test(text)) throw new UserError(`--${name} must be a whole number.`);
  return Number(text);
}

/** Runs test files in a process. @param {string} files @param {Record<string, string>} env @returns {Promise<boolean>} whether all passed */
async function jest(files, env) {
  const args = [join(root, "node_modules/jest/bin/jest.js"), files, "--selectProjects", "unit", "--runInBand"];
  const child = spawn(process.execPath, args, { cwd: root, env: { ...process.env, ...env }, stdio: "inherit" });
  return (await once(child, "exit"))[0] === 0;
}

await runMain("tools/reliability", async () => {
  /** @type {{ type: "string" }} */
  const text = { type: "string" };
  const { values } = parseArgs({
    options: {
      ...{ kind: text, verb: text, manner: text, adapter: text },
      rounds: { ...text, default: "1" },
      lives: { ...text, default: "500" },
      parallel: { ...text, default: String(availableParallelism()) },
    },
  });
  const { rounds, lives, parallel, ...only } = values;
  const of = Math.max(1, whole("parallel", parallel));
  const started = Date.now();
  const parts = Array.from({ length: of }, (_, part) =>
    jest("tests/reliability/oracle", {
      RELIABILITY: JSON.stringify({ only, of, part, rounds: whole("rounds", rounds) }),
    }),
  );
  const ended = await Promise.all(parts);
  const times = whole("lives", lives) / 25;
  const random = times > 0 ? await jest("tests/reliability/(stack|tether)", { RANDOM_TIMES: String(times) }) : true;
  log(`took ${duration(Date.now() - started)}`);
  return ended.every(Boolean) && random ? 0 : 1;
});
