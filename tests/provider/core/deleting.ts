import { type ConsortiumClient, type Identified } from "../../../provider/api";
import { type ErrorFacts } from "../../../provider/api/api-error";
import { Http } from "../../../provider/api/http";
import { CreateLog, type Line, type LoggedCreate, readCreateLog } from "../../../provider/core/create-log";
import { type Definition, type Props } from "../../../provider/core/definition";
import { type Deleting, deleting, InUse } from "../../../provider/core/lifecycle/delete";
import { newSession, type Session, within } from "../../../provider/core/session";
import { storedKey } from "../../../provider/core/state";
import { definitions } from "../../../provider/resources";
import { base, type Kind } from "../../support/by-kind";
import { settingsFor } from "../../support/peer";
import { VirtualTime } from "../../support/virtual-time";

/* A deletion in a service with given answers and lists, for the tests of what follows. */

const http = new Http(settingsFor("https://x/api/v1"));
export type Refusal = Partial<ErrorFacts> & { kind: ErrorFacts["kind"] };
const error = (facts: Refusal): Error => http.error({ call: "DELETE /x", errorMessage: "no", ...facts });

/** What a list shows at a time, or how it is refused. */
export type Listing = (ms: number) => Identified[] | Refusal;

export interface Case {
  kind?: Kind;
  how?: Deleting;
  /** More of the state. */
  state?: Props;
  kept?: Props;
  /** What DELETE answers, one after the other; the last of them from then on. */
  answers?: unknown[];
  /** The object in its list. Default: gone with the first answer that is no refusal. */
  list?: Listing;
  /** The parent, as listed. */
  parent?: Props;
  members?: Identified[];
  limitMs?: number;
  interrupted?: LoggedCreate[];
  prepare?: (session: Session, clock: VirtualTime) => void;
}

const isRefusal = (answer: unknown): answer is Refusal =>
  typeof answer === "object" && answer !== null && "kind" in answer;

export async function deletingOf(given: Case) {
  const { kind = "node", how = {}, state = {}, kept = {}, parent = {}, members = [] } = given;
  const answers = [...(given.answers ?? [{}])];
  const clock = new VirtualTime();
  const definition: Definition = definitions[kind];
  const props: Props = { ...base[kind], ...state, ...(Object.keys(kept).length > 0 && { [storedKey]: kept }) };
  const place = definition.place(props);
  const at: number[] = [];
  const said: string[] = [];
  const written: Line[] = [];
  let isGone = false;
  const listed: Listing = (ms) => given.list?.(ms) ?? (isGone ? [{ id: "z" }] : [{ id: "x" }]);
  const shown = (where: string): Identified[] | Refusal => {
    if (where === place.collection) return listed(clock.now());
    if (where === place.parent?.place.collection) return [{ id: place.parent.id, ...parent }];
    return where.endsWith("/memberships") ? members : [];
  };
  const client = {
    delete: () => {
      at.push(clock.now());
      const answer = answers.length > 1 ? answers.shift() : answers[0];
      if (isRefusal(answer)) return Promise.reject(error(answer));
      isGone = true;
      return Promise.resolve(answer);
    },
    list: (where: string) => {
      const items = shown(where);
      return isRefusal(items) ? Promise.reject(error(items)) : Promise.resolve(items);
    },
    find: () => Promise.resolve(undefined),
    until: () => client,
    http: { settings: http.settings, serviceTime: () => undefined },
  } as unknown as ConsortiumClient;
  const before = { ...readCreateLog(""), interrupted: given.interrupted ?? [] };
  const createLog = new CreateLog({
    isFleets: false,
    before,
    write: (line) => void written.push(line),
    others: () => [],
  });
  const whole = newSession(client, { clock, say: (line) => void said.push(line), createLog });
  const session = given.limitMs === undefined ? whole : within(whole, given.limitMs);
  given.prepare?.(session, clock);
  const verb = deleting(() => definition, how)(session, "x", props);
  const outcome = await verb.then(
    (why) => why ?? "gone",
    (failure: Error) => `${failure instanceof InUse ? "in use: " : ""}${failure.message}`,
  );
  const known = session.run.at(place.collection);
  return { outcome, took: clock.now(), at, said: said.join("\n"), written, session, isRemoved: known.removed.has("x") };
}

/** A text is the whole outcome. */
export const expectOutcome = (is: string, outcome: string | RegExp): void =>
  typeof outcome === "string" ? expect(is).toBe(outcome) : expect(is).toMatch(outcome);

/** As if this process had deleted something a moment ago. */
export const deletedAgo =
  (ms: number) =>
  (session: Session, clock: VirtualTime): void => {
    session.run.deleting(clock)();
    clock.pass(ms);
  };
