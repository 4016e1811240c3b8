// @ts-check
/** Faults of one call, as rules of the embedded service. */
import { until } from "./lab.mjs";

/** @typedef {import("../../service/index.js").FaultKind} FaultKind */
/** @typedef {import("./lab.mjs").Call} Call */
/**
 * @typedef {object} Kind
 * @property {string} name
 * @property {FaultKind} rule
 * @property {boolean} [acted] whether the service acts, so that only the answer is lost
 * @property {number} [lag] delay of lists in milliseconds
 * @property {Record<string, string>} [env] settings of the run
 */

const requestTimeout = 2;
const impatient = { CONSORTIUM_REQUEST_TIMEOUT: String(requestTimeout) };

/** The service acts after the client has stopped waiting. */
const slow = [1.5, 2, 3].map((times) => ({
  name: `slow: acts after ${times} × the time-out`,
  rule: /** @type {FaultKind} */ ({ kind: "delay", ms: times * requestTimeout * 1_000 }),
  acted: true,
  env: impatient,
}));

/** @type {Kind[]} */
export const kinds = [
  { name: "429", rule: { kind: "status", status: 429 } },
  { name: "429, Retry-After: 1", rule: { kind: "status", status: 429, retryAfter: 1 } },
  { name: "503", rule: { kind: "status", status: 503 } },
  { name: "503, Retry-After: 1", rule: { kind: "status", status: 503, retryAfter: 1 } },
  { name: "refused for 1.5 s", rule: { kind: "refuse", ms: 1_500 } },
  { name: "reset before", rule: { kind: "resetBefore" } },
  { name: "reset after", rule: { kind: "resetAfter" }, acted: true },
  { name: "no answer", rule: { kind: "hang" }, env: impatient },
  { name: "acted, no answer", rule: { kind: "hang", acted: true }, acted: true, env: impatient },
  { name: "cut off", rule: { kind: "truncated" }, acted: true },
  { name: "cut, well-formed", rule: { kind: "truncated", wellFormed: true }, acted: true },
  { name: "HTML, 502", rule: { kind: "html", status: 502 } },
  { name: "acted, HTML, 502", rule: { kind: "html", status: 502, acted: true }, acted: true },
  { name: "HTML, 200", rule: { kind: "html", status: 200 } },
  { name: "acted, HTML, 200", rule: { kind: "html", status: 200, acted: true }, acted: true },
  ...slow,
  { name: "reset after, lists 8 s behind", rule: { kind: "resetAfter" }, acted: true, lag: 8_000 },
];

/** @typedef {{ call: Call, kind: Kind }} Fault */

/** @param {Call} call */
export const textOf = ({ method, route }) => `${method} ${route}`;

/** A lost answer is hardest to recover from if lists are also behind. @param {Fault} fault */
const lagOf = ({ call, kind }) => kind.lag ?? (kind.acted && call.method !== "GET" ? 1_000 : 0);

/** One fault in one `up`, or several at different calls. @param {...Fault} cells @returns {import("./lab.mjs").Build} */
export const withFaults =
  (...cells) =>
  async ({ service, stack, env }) => {
    service.setTiming({ listLag: Math.max(...cells.map(lagOf)) });
    const faults = cells.map(({ call, kind }) => service.faults.add({ ...call, ...kind.rule, nth: 1, times: 1 }));
    const first = await stack.up(Object.assign({}, env, ...cells.map(({ kind }) => kind.env)));
    // The provider never tries whether a contract was paid for. Here, a person has checked that it was not.
    const unacted = cells.some(({ kind }) => !kind.acted);
    const [, word] = (unacted && /CONSORTIUM_NOT_DEPLOYED=(\S+)/.exec(first.text)) || [];
    const ended = word ? await stack.up({ ...env, CONSORTIUM_NOT_DEPLOYED: word }) : first;
    // Waits for the slow call's effect: after the destroy, nothing would undo it.
    const isUnderWay = (/** @type {import("./lab.mjs").Service["calls"][number]} */ { fault, status }) =>
      fault === "delay" && status === undefined;
    await until(() => !service.calls.some(isUnderWay), "the slow call acted");
    service.setTiming({ listLag: 0 });
    const hits = faults.map((fault) => fault.hits);
    if (hits.every((count) => count === 1)) return ended;
    return { ...ended, code: null, text: `error: the faults hit ${hits.join(", ")} calls` };
  };
