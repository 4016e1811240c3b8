// @ts-check
/** The published tables: which faults an `up` survives, and which kills it recovers from. */
import { comparedGroups, groups, textOf } from "./faults.mjs";
import { commands } from "./trials.mjs";
import { table } from "../lib/report.mjs";

/** @typedef {import("./faults.mjs").Call} Call */
/** @typedef {import("./lab.mjs").Verdict} Verdict */
/** @typedef {{ title: string, cell?: import("./faults.mjs").Cell, kill?: import("./trials.mjs").Kill, foreign?: import("./trials.mjs").Foreign, verdict: Verdict }} Result */

/** The six calls that the Terraform provider for the same API was measured with. */
const compared = /^(POST \/consortia|POST .*\/(memberships|environments|nodes|appcreds)|GET .*\/nodes)$/;

const short = (/** @type {Call} */ { method, route }) => `\`${method} ${route.replace(/:\w+Id/g, "…")}\``;

/** @param {Result[]} results */
const score = (results) =>
  results.length === 0 ? "–" : `${results.filter(({ verdict }) => verdict.ok).length}/${results.length}`;

/**
 * @param {Call[]} calls
 * @param {Result[]} results
 */
export function matrix(calls, results) {
  const at = (/** @type {Call} */ call) =>
    results.filter(({ cell, kill }) => textOf((cell ?? kill ?? { call }).call) === textOf(call));
  const faults = calls.map((call) => [
    short(call),
    ...groups.map((group) => score(at(call).filter(({ cell }) => cell?.kind.group === group))),
  ]);
  const kills = calls.map((call) => [
    short(call),
    ...["CLI", "provider"].map((victim) => score(at(call).filter(({ kill }) => kill?.victim === victim))),
  ]);
  const failures = results
    .filter(({ verdict }) => !verdict.ok)
    .map(({ title, verdict }) => `- ${title}: ${verdict.why}`);
  return [
    `**${score(results.filter(({ cell }) => cell))}** single faults survived within one \`up\`, **${score(results.filter(({ kill }) => kill))}** kills recovered exactly.`,
    "A cell counts the variants of a fault that ended with exactly the network, of those tried:",
    table(["call", ...groups], faults),
    "SIGKILL while a call is under way, then `pulumi cancel` and `CONSORTIUM_ADOPT=true pulumi up`:",
    table(["call", "the CLI is killed", "the provider is killed"], kills),
    `A key of another organization, with ${commands.join(", ")}: **${score(results.filter(({ foreign }) => foreign))}** ended with an error, and with the network and its state untouched.`,
    comparison(calls, at),
    ...(failures.length > 0 ? [`Not exact:\n\n${failures.join("\n")}`] : []),
  ].join("\n\n");
}

/**
 * @param {Call[]} calls
 * @param {(call: Call) => Result[]} at
 */
function comparison(calls, at) {
  const six = calls.filter((call) => compared.test(textOf(call)));
  const cells = six.flatMap((call) =>
    comparedGroups.map((group) => at(call).filter(({ cell }) => cell?.kind.group === group)),
  );
  const survived = cells.filter(
    (variants) => variants.length > 0 && variants.every(({ verdict }) => verdict.ok),
  ).length;
  const head = [
    "7 kinds of fault × 6 calls (the five creates, and the list that waiting for a node reads)",
    "this package",
    "Terraform provider for the same API",
  ];
  const rows = [
    ["survived within one run, all variants", `${survived} of ${cells.length}`, "2 of 42"],
    ["exact after a second run", "not needed", "38 of 42"],
    ["duplicates left", String(results(cells, /instead of/).length), "4 of 42"],
  ];
  return table(head, rows);
}

/** @param {Result[][]} cells @param {RegExp} why */
const results = (cells, why) =>
  cells.filter((variants) => variants.some(({ verdict }) => !verdict.ok && why.test(verdict.why)));
