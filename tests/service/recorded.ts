import { type Answer, anyText, FakeClock, type Send, start } from "./helpers";
import type { ServiceOptions } from "../../service/index";

/*
 * Recorded calls of other clients: a status, a method, a path and a body. `$c` is the path of the object of `= c`, `@c` its id. A
 * client accepts no other status. `~`: it repeats the call every five seconds until it gets that status, and until the object of a GET
 * is started.
 */

const line = /^(\d+)(~?) (\w+) (\S+)(?: = (\w+))?(?: (\{.*))?$/;
/** How often a client repeats a call before it counts as refused forever. */
const patience = 5;

export const manners = ["specification", "hosted"] as const;
export type Manner = (typeof manners)[number];

/** A service in virtual time with the slowest settings. */
export async function recordedOn(like: Manner, end = "", options: ServiceOptions = {}) {
  const clock = new FakeClock();
  const timing = { environmentStart: 1_000, nodeStart: 7_000, deletedVisible: 60_000, ...options.timing };
  const { service, send } = await start({ clock: clock.now, ...options, timing, answers: { like } });
  return { service, clock, recorded: new Recorded(send, clock, end) };
}

export class Recorded {
  readonly #made = new Map<string, { path: string; id: string; sent: Record<string, unknown> }>();
  readonly #destinations = new Map<string, Set<string>>();

  /** @param end of each path */
  constructor(
    readonly send: Send,
    readonly clock: FakeClock,
    readonly end = "",
  ) {}

  filled = (text: string): string =>
    text.replace(
      /([$@])(\w+)/g,
      (all, sign: string, name: string) => this.#made.get(name)?.[sign === "$" ? "path" : "id"] ?? all,
    );

  /** Sends calls in order, and checks their statuses, and that answers show the sent values. Returns the last answer. */
  async run(calls: string): Promise<Answer> {
    let last: Answer;
    for (const call of calls.trim().split("\n")) {
      const [, status, repeated, method = "", where = "", name, body] = line.exec(call)!;
      const path = this.filled(where);
      const given = body === undefined ? undefined : this.filled(body);
      const sent = JSON.parse(given ?? "{}") as Record<string, unknown>;
      const ask = () => this.send(method, path + this.end, given);
      last = await ask();
      const isDone = () => last.status === Number(status) && (method !== "GET" || last.body.state === "started");
      for (let times = 0; repeated && !isDone() && times < patience; times++) {
        this.clock.pass(5_000);
        last = await ask();
      }
      expect([call, last.status, last.text]).toEqual([call, Number(status), anyText]);
      if (repeated && method === "GET") expect([call, last.body.state]).toEqual([call, "started"]);
      if (name) this.#made.set(name, { path: `${path}/${last.body._id}`, id: last.body._id, sent });
      if (name || method === "PATCH") expect(last.body).toMatchObject(sent);
      if (method === "PATCH") Object.assign([...this.#made.values()].find((one) => one.path === path)!.sent, sent);
      const [, list, destination = ""] = /^(.*\/destinations)\/(\w+)$/.exec(path) ?? [];
      if (list && method === "PUT")
        this.#destinations.set(list, (this.#destinations.get(list) ?? new Set()).add(destination));
    }
    return last!;
  }

  /** Reads everything as a plan does: by id, and destinations from their list. It must match the sent values. */
  async plan(): Promise<Record<string, unknown>> {
    const found: Record<string, unknown> = {};
    for (const [name, { path, sent }] of this.#made) {
      const { status, body } = await this.send("GET", path + this.end);
      // an unset name would be a change in every plan
      expect({ name, status, body }).toMatchObject({ name, status: 200, body: sent });
      if (sent.name === undefined && sent.org_name === undefined) expect([name, body.name]).toEqual([name, undefined]);
      if (/^[ns]\d/.test(name)) expect(body).toMatchObject({ state: "started", urls: expect.any(Object) as object });
      found[name] = body;
    }
    for (const [list, names] of this.#destinations) {
      const { body } = await this.send("GET", list + this.end);
      const complete = { kaleido_managed: true, uri: anyText, setup_complete: true };
      expect(body).toEqual([...names].map((name) => ({ name, ...complete })));
      found[list] = body;
    }
    return found;
  }

  /** The names of objects that can still be read after a while. */
  async left(): Promise<string[]> {
    this.clock.pass(120_000);
    const found = [];
    for (const [name, { path }] of this.#made)
      if ((await this.send("GET", path + this.end)).status !== 404) found.push(name);
    return found;
  }
}
