// @ts-check
/** What can go wrong with one call, as rules of the embedded service. */

/** @typedef {import("../../service/index.js").FaultKind} FaultKind */
/**
 * @typedef {object} Kind
 * @property {string} name
 * @property {string} group a column of the published table
 * @property {FaultKind} rule
 * @property {boolean} [acted] whether the service acts, so that only the answer is lost
 * @property {number} [lag] milliseconds that lists are behind
 * @property {RegExp} [at] the calls that it hits. Default: all
 * @property {Record<string, string>} [env] settings of the run
 */

/** The columns of the published table. */
export const groups = [
  "429",
  "503",
  "refused",
  "reset",
  "no answer",
  "cut JSON",
  "HTML page",
  "slow",
  "lists far behind",
];

const requestTimeout = 2;
const impatient = { CONSORTIUM_REQUEST_TIMEOUT: String(requestTimeout) };
const creates = /^POST \S*\/(consortia|memberships|environments|nodes|appcreds)$/;

/** The service acts after the client has stopped waiting. */
const slow = [1.5, 2, 3].map((times) => ({
  name: `slow: acts after ${times} × the time-out`,
  group: "slow",
  rule: /** @type {FaultKind} */ ({ kind: "delay", ms: times * requestTimeout * 1_000 }),
  acted: true,
  at: /^POST /,
  env: impatient,
}));

/** @type {Kind[]} */
export const kinds = [
  { name: "429", group: "429", rule: { kind: "status", status: 429 } },
  { name: "429, Retry-After: 1", group: "429", rule: { kind: "status", status: 429, retryAfter: 1 } },
  { name: "503", group: "503", rule: { kind: "status", status: 503 } },
  { name: "503, Retry-After: 1", group: "503", rule: { kind: "status", status: 503, retryAfter: 1 } },
  { name: "refused for 1.5 s", group: "refused", rule: { kind: "refuse", ms: 1_500 } },
  { name: "reset before", group: "reset", rule: { kind: "resetBefore" } },
  { name: "reset after", group: "reset", rule: { kind: "resetAfter" }, acted: true },
  { name: "no answer", group: "no answer", rule: { kind: "hang" }, env: impatient },
  { name: "acted, no answer", group: "no answer", rule: { kind: "hang", acted: true }, acted: true, env: impatient },
  { name: "cut off", group: "cut JSON", rule: { kind: "truncated" }, acted: true },
  { name: "cut, well-formed", group: "cut JSON", rule: { kind: "truncated", wellFormed: true }, acted: true },
  { name: "HTML, 502", group: "HTML page", rule: { kind: "html", status: 502 } },
  { name: "acted, HTML, 502", group: "HTML page", rule: { kind: "html", status: 502, acted: true }, acted: true },
  { name: "HTML, 200", group: "HTML page", rule: { kind: "html", status: 200 } },
  { name: "acted, HTML, 200", group: "HTML page", rule: { kind: "html", status: 200, acted: true }, acted: true },
  ...slow,
  {
    name: "reset after, lists 8 s behind",
    group: "lists far behind",
    rule: { kind: "resetAfter" },
    acted: true,
    lag: 8_000,
    at: creates,
  },
];

/** A lost answer is hardest to recover from if lists are also behind. */
export const lagMs = 1_000;

/** @typedef {{ method: string, route: string }} Call */
/** @typedef {{ call: Call, kind: Kind, lag: number }} Cell */

/** @param {Call} call */
export const textOf = ({ method, route }) => `${method} ${route}`;

/**
 * Each kind of fault at each kind of call. For a read it makes no difference whether the service acted.
 * @param {Call[]} calls
 * @returns {import("./lab.mjs").Trial[]}
 */
export function faultTrials(calls) {
  const isCut = (/** @type {Kind} */ kind) => kind.rule.kind === "truncated";
  return calls.flatMap((call) =>
    kinds
      .filter((kind) => (call.method !== "GET" || !kind.acted || isCut(kind)) && (kind.at ?? /./).test(textOf(call)))
      .map((kind) => {
        const lag = kind.lag ?? (kind.acted && call.method !== "GET" ? lagMs : 0);
        const title = `${kind.name} at ${textOf(call)}`;
        return { title, call, column: kind.group, run: (lab, adapter) => lab.fault(adapter, { call, kind, lag }) };
      }),
  );
}
