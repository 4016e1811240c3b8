import { ApiError, type ConsortiumClient } from "../../../provider/api";
import { type ErrorKind } from "../../../provider/api/api-error";
import { newSession, type Session, within } from "../../../provider/core/session";
import { VirtualTime } from "../../support/virtual-time";

/* A service with given answers about one tether, in virtual time. */

const names = {
  getTether: "look",
  getTetherAccount: "account",
  makeTetherAccount: "make account",
  getTetherBalance: "balance",
  getTetherReportCount: "reports",
  setTetherNetwork: "network",
  setTetherInterval: "interval",
  deployTether: "deploy",
  activateTether: "start",
  deactivateTether: "stop",
  list: "consortia",
} as const;
export type Step = (typeof names)[keyof typeof names];

/** Answers of each step, one after the other; the last of them from then on. */
export type Answers = Partial<Record<Step, unknown[]>>;

export const refusal = (kind: ErrorKind, errorMessage = "no", call = "POST /tether/t"): ApiError =>
  new ApiError({ kind, call, errorMessage });
export const missing = refusal("missing");
export const busy = refusal("conflict");

export function tether(answers: Answers = {}, limitMs?: number, given: Partial<Session> = {}) {
  const clock = new VirtualTime();
  const steps: Step[] = [];
  const said: string[] = [];
  const left = new Map(Object.entries(answers).map(([name, some]) => [name, [...some]]));
  const calls = Object.entries(names).map(([name, step]) => [
    name,
    (): Promise<unknown> => {
      if (step !== "account" || steps.at(-1) !== "account") steps.push(step);
      const some = left.get(step) ?? [{}];
      const answer: unknown = some.length > 1 ? some.shift() : some[0];
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
    },
  ]);
  const client = Object.fromEntries(calls) as unknown as ConsortiumClient;
  Object.assign(client, { until: () => client, http: { serviceTime: () => undefined } });
  const whole = newSession(client, { clock, say: (line) => void said.push(line), ...given });
  return { session: limitMs === undefined ? whole : within(whole, limitMs), clock, steps, said };
}
