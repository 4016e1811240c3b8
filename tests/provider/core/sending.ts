import { type ConsortiumClient, type Identified } from "../../../provider/api";
import { type ErrorFacts } from "../../../provider/api/api-error";
import { type Answer, Http } from "../../../provider/api/http";
import { Collection } from "../../../provider/core/collection";
import { CreateLog, type Logs } from "../../../provider/pulumi/stack-log";
import { type Definition, type Props } from "../../../provider/core/definition";
import { sendCreate } from "../../../provider/core/lifecycle/send-create";
import { newSession, type Session, within } from "../../../provider/core/session";
import { definitions } from "../../../provider/resources";
import { base, type Listed, own } from "../../support/by-kind";
import { settingsFor } from "../../support/peer";
import { VirtualTime } from "../../support/virtual-time";

/* A create that is sent to a service with given answers, for the tests of what follows. */

const http = new Http(settingsFor("https://x/api/v1", { requestTimeout: 10 }));

export const began = Date.UTC(2026, 0, 1);

/** A refusal has a kind, an answer does not. */
export type Reply = Partial<ErrorFacts> | (Partial<Answer> & { kind?: undefined });

export interface Case {
  kind?: Listed;
  inputs?: Props;
  /** What is there before. undefined: the service lists none. */
  before?: Identified[] | undefined;
  replies: Reply[];
  /** What is listed from that time on, in ms. */
  later?: { ms: number; items: Identified[] };
  /** The state of what it is in. */
  parentState?: string;
  limitMs?: number;
  /** Gets what is logged. */
  logged?: unknown[];
  /** The name of the resource. */
  resource?: string;
  prepare?: (session: Session, collection: Collection, clock: VirtualTime) => void;
}

const replyOf = (kind: Listed, reply: Reply): Promise<Answer> => {
  const { kind: why, ...more } = reply;
  if (why !== undefined) return Promise.reject(http.error({ call: "POST /x", errorMessage: "no", ...more, kind: why }));
  const secret = kind === "appCred" ? { password: "hush" } : {};
  return Promise.resolve({
    status: 201,
    body: { _id: "x1", ...own[kind], ...secret },
    headers: {},
    url: "https://x/api/v1/posted",
    ...(more as Partial<Answer>),
  });
};

export async function sending(given: Case) {
  const { kind = "node", inputs = {}, parentState = "live" } = given;
  const replies = [...given.replies];
  const clock = new VirtualTime();
  const sent: Props[] = [];
  const args = { ...base[kind], ...inputs };
  const definition: Definition = definitions[kind];
  const { collection: path } = definition.place(args);
  const send = (body: Props): Promise<Answer> => {
    sent.push(body);
    return replyOf(kind, replies.shift() ?? {});
  };
  const before = "before" in given ? given.before : [];
  const listed = (): Identified[] =>
    given.later && clock.now() >= given.later.ms ? [...(before ?? []), ...given.later.items] : (before ?? []);
  const client = {
    create: (_: string, body: Props) => send(body),
    putObject: (_: string, body: Props) => send(body),
    list: (where: string) =>
      Promise.resolve(where === path ? listed() : [{ id: where.endsWith("s") ? "e" : "c", state: parentState }]),
    find: () => Promise.resolve(undefined),
    until: () => client,
    http: { settings: http.settings, serviceTime: (ms: number) => (given.logged ? began + ms : undefined) },
  } as unknown as ConsortiumClient;
  const logs: Logs = {
    before: { interrupted: [], isContinued: false },
    write: (line) => void given.logged?.push(line),
    others: () => [],
  };
  const whole = newSession(client, {
    clock,
    ...(given.logged && { createLog: new CreateLog(logs, http.settings) }),
    ...(given.resource !== undefined && { resource: { key: given.resource, name: given.resource } }),
  });
  const session = given.limitMs === undefined ? whole : within(whole, given.limitMs);
  const collection = Collection.of(session, definition, args);
  given.prepare?.(session, collection, clock);
  const outcome = await sendCreate(collection, before).then(
    ({ id }) => id,
    ({ message }: Error) => message,
  );
  return { outcome, sent };
}

export const lost: Reply = { kind: "lost", errorMessage: "reset" };
export const twin = (id: string, kind: Listed = "node", more: Props = {}): Identified => ({
  id,
  ...own[kind],
  ...more,
});
