// @ts-check
/** The published tables: which faults an `up` survives, and which kills it recovers from. */
import { groups } from "./faults.mjs";
import { commands, victims } from "./trials.mjs";
import { table } from "../lib/report.mjs";

/** @typedef {import("./faults.mjs").Call} Call */
/** @typedef {import("./lab.mjs").Trial & { verdict: import("./lab.mjs").Verdict }} Result */

/** @param {Result[]} results */
const score = (results) =>
  results.length === 0 ? "–" : `${results.filter(({ verdict }) => verdict.ok).length}/${results.length}`;

/**
 * @param {Call[]} calls
 * @param {Result[]} results
 */
export function matrix(calls, results) {
  const killed = victims.map((victim) => `${victim} killed`);
  const rowsOf = (/** @type {string[]} */ columns) =>
    calls.map((call) => [
      `\`${call.method} ${call.route.replace(/:\w+Id/g, "…")}\``,
      ...columns.map((column) =>
        score(
          results.filter(
            (one) => one.column === column && one.call?.method === call.method && one.call.route === call.route,
          ),
        ),
      ),
    ]);
  const scoreOf = (/** @type {(string | undefined)[]} */ columns) =>
    score(results.filter(({ column }) => columns.includes(column)));
  const failures = results
    .filter(({ verdict }) => !verdict.ok)
    .map(({ title, verdict }) => `- ${title}: ${verdict.why}`);
  return [
    `**${scoreOf(groups)}** single faults survived within one \`up\`, **${scoreOf(killed)}** kills recovered exactly.`,
    "A cell counts the variants of a fault that ended with exactly the network, of those tried:",
    table(["call", ...groups], rowsOf(groups)),
    "SIGKILL while a call is under way, then `pulumi cancel` and `CONSORTIUM_ADOPT=true pulumi up`:",
    table(["call", ...killed], rowsOf(killed)),
    `A key of another organization, with ${commands.join(", ")}: **${scoreOf([undefined])}** ended with an error, and with the network and its state untouched.`,
    ...(failures.length > 0 ? [`Not exact:\n\n${failures.join("\n")}`] : []),
  ].join("\n\n");
}
