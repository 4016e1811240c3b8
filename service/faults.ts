import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { FastifyReply } from "fastify";
import { z } from "zod";
import { checked, ServiceError } from "./errors";
import type { Call } from "./http/call-log";

const positive = z.number().int().positive();
const status = z.number().int().min(200).max(599);
const ms = z.number().nonnegative();
const acted = z.boolean().optional();
const target = {
  /** HTTP method. Default: any. */
  method: z.string().min(1).optional(),
  /**
   * Pattern of a route exactly as in the call log (`/consortia/:consortiumId/environments`), or a regular expression,
   * as such or as a string, found in the path below `/api/v1`. Default: any.
   */
  route: z.string().min(1).or(z.instanceof(RegExp)).optional(),
  /** The first matching call to hit, counted from 1. Default 1, or `every`. */
  nth: positive.optional(),
  /** How many calls to hit; may be Infinity. Default 1; Infinity with `every`. */
  times: positive.or(z.literal(Infinity)).optional(),
  /** Only every nth matching call is hit. Default 1. */
  every: positive.optional(),
};
const ruleSchema = z.discriminatedUnion("kind", [
  /** Answers with this status. `retryAfter` is in seconds; `body` replaces `{ errorMessage }`, which a 2xx has only if it is given. */
  z.strictObject({
    ...target,
    kind: z.literal("status"),
    status,
    acted,
    body: z.unknown().optional(),
    retryAfter: z.number().nonnegative().optional(),
    errorMessage: z.string().optional(),
  }),
  /** Drops all connections and accepts none for `ms`; without a target, at once instead of at the next call. */
  z.strictObject({ ...target, kind: z.literal("refuse"), ms }),
  /** Resets the connection before doing anything. */
  z.strictObject({ ...target, kind: z.literal("resetBefore") }),
  /** Processes the call, then resets the connection. */
  z.strictObject({ ...target, kind: z.literal("resetAfter") }),
  /** Never answers. */
  z.strictObject({ ...target, kind: z.literal("hang"), acted }),
  /** Processes the call and sends half of the JSON; then closes the connection or, with `wellFormed`, ends the response normally. */
  z.strictObject({ ...target, kind: z.literal("truncated"), wellFormed: z.boolean().optional() }),
  /** Answers with an HTML page, as a proxy would. Status: default 502. */
  z.strictObject({ ...target, kind: z.literal("html"), status: status.optional(), acted }),
  /** Waits before processing the call. */
  z.strictObject({ ...target, kind: z.literal("delay"), ms }),
]);

export type FaultRule = z.input<typeof ruleSchema>;

/** Which calls a fault hits. Every call with this method and route counts, whether it is hit or not. */
export type FaultTarget = Pick<FaultRule, keyof typeof target>;

/** The effect on a call. `acted`: whether the service still processes the call. */
export type FaultKind = Untargeted<FaultRule>;

/** Distributes over the union: plain `Omit` would keep only the common fields. */
type Untargeted<Rule> = Rule extends FaultRule ? Omit<Rule, keyof FaultTarget> : never;

/** A rule in force. */
export interface Fault {
  readonly rule: Readonly<FaultRule>;
  /** How many calls matched so far. */
  readonly seen: number;
  /** How many were hit so far. */
  readonly hits: number;
  /** Removes the rule. */
  remove(): void;
}

interface Entry {
  readonly id: string;
  readonly rule: FaultRule;
  /** The id of the organization whose calls it hits; undefined for all. */
  readonly owner: string | undefined;
  fits: (call: Call) => boolean;
  seen: number;
  hits: number;
}

/** The rules in force: the first one that hits a call decides. */
export class Faults {
  #rules: Entry[] = [];
  #added = 0;

  constructor(
    readonly routes: ReadonlySet<string>,
    private readonly refuse: (ms: number) => void,
  ) {}

  /** Adds a rule, for all calls or for those of one organization. */
  add(rule: FaultRule, owner?: string): Fault {
    const valid = checked("fault", ruleSchema, rule);
    const entry: Entry = { id: `f${++this.#added}`, rule: valid, owner, fits: this.#matcher(valid), seen: 0, hits: 0 };
    const aimed = [valid.method, valid.route, valid.nth, valid.times, valid.every].some((part) => part !== undefined);
    if (valid.kind === "refuse" && !aimed) {
      entry.hits = 1;
      this.refuse(valid.ms);
    } else {
      this.#rules.push(entry);
    }
    return Object.assign(entry, { remove: () => void (this.#rules = this.#rules.filter((one) => one !== entry)) });
  }

  /** The rules that an organization has added. */
  of(owner: string): Pick<Entry, "id" | "rule" | "seen" | "hits">[] {
    return this.#rules.filter((entry) => entry.owner === owner);
  }

  /** Removes one rule of an organization, or all. Returns how many. */
  take(owner: string, id?: string): number {
    const before = this.#rules.length;
    this.#rules = this.#rules.filter((entry) => entry.owner !== owner || (id !== undefined && entry.id !== id));
    return before - this.#rules.length;
  }

  /** Removes all rules. */
  clear(): void {
    this.#rules = [];
  }

  /** The rule that hits this call of an organization, if any. */
  hit(call: Call, owner: string | undefined): FaultRule | undefined {
    let chosen: FaultRule | undefined;
    for (const entry of this.#rules) {
      if (!entry.fits(call) || (entry.owner !== undefined && entry.owner !== owner)) continue;
      entry.seen++;
      const { every = 1, nth = every, times = entry.rule.every ? Infinity : 1 } = entry.rule;
      const due = entry.seen >= nth && (entry.seen - nth) % every === 0 && entry.hits < times;
      if (!due || chosen) continue;
      entry.hits++;
      chosen = entry.rule;
    }
    return chosen;
  }

  #matcher({ method, route }: FaultRule): (call: Call) => boolean {
    const verb = method?.toUpperCase();
    const place = this.#place(route);
    return (call) => (verb === undefined || call.method === verb) && place(call);
  }

  #place(route: FaultRule["route"]): (call: Call) => boolean {
    if (route === undefined) return () => true;
    if (typeof route === "string" && this.routes.has(route)) return (call) => call.route === route;
    if (typeof route === "string" && route.includes("/:")) {
      throw new ServiceError(`fault: there is no route ${route}; there are ${[...this.routes].join(", ")}`);
    }
    try {
      const flags = typeof route === "string" ? "" : route.flags.replace(/[gy]/g, ""); // these two flags keep a position between calls
      const expression = new RegExp(route, flags);
      return (call) => expression.test(call.path);
    } catch (error) {
      throw new ServiceError(`fault: route: ${(error as Error).message}`, { cause: error });
    }
  }
}

/** The parts of the service that a fault needs. */
export interface Outages {
  refuse(ms: number): void;
  pause(ms: number): Promise<void>;
}

const never = () => new Promise<never>(() => undefined);

/** Whether the service processes the call before the fault shows. */
export const isActed = (rule: FaultRule) =>
  rule.kind === "resetAfter" || rule.kind === "truncated" || ("acted" in rule && rule.acted === true);

/** Carries out a fault. Resolves to the answer, or to undefined if the call goes on; it may never resolve. */
export async function carryOut(rule: FaultRule, outages: Outages, reply: FastifyReply, payload?: unknown) {
  switch (rule.kind) {
    case "status":
    case "html":
      return replacement(rule, reply);
    case "hang":
      return never();
    case "resetBefore":
    case "resetAfter":
      return reset(reply.raw.socket ?? reply.request.raw.socket);
    case "truncated":
      return half(rule.wellFormed ?? false, reply, typeof payload === "string" ? payload : "");
    case "refuse":
      outages.refuse(rule.ms);
      return never();
    case "delay":
      await outages.pause(rule.ms);
      return undefined;
  }
}

/** The status that the call log shows; undefined where no answer is sent at all. */
export function statusOf(rule: FaultRule | undefined, reply: FastifyReply): number | undefined {
  if (rule?.kind === "status" || rule?.kind === "html") return rule.status ?? 502;
  const silent = rule !== undefined && ["refuse", "resetBefore", "resetAfter", "hang"].includes(rule.kind);
  return silent ? undefined : reply.statusCode;
}

function reset(socket: Socket | null): Promise<never> {
  socket?.resetAndDestroy();
  return never();
}

function replacement(rule: FaultRule & { kind: "status" | "html" }, reply: FastifyReply): string {
  const status = rule.status ?? 502;
  const reason = STATUS_CODES[status] ?? "Error";
  reply.code(status);
  if (rule.kind === "html") {
    reply.type("text/html");
    return `<html><head><title>${status} ${reason}</title></head><body><h1>${status} ${reason}</h1></body></html>`;
  }
  if (rule.retryAfter !== undefined) reply.header("retry-after", String(rule.retryAfter));
  reply.type("application/json");
  const errorMessage = rule.errorMessage ?? (status < 300 ? undefined : reason);
  return JSON.stringify(rule.body ?? { errorMessage });
}

async function half(wellFormed: boolean, reply: FastifyReply, payload: string): Promise<string> {
  if (payload === "") return reset(reply.raw.socket);
  const text = payload.slice(0, Math.floor(payload.length / 2));
  if (wellFormed) return text;
  const { raw } = reply;
  const headers = { "content-type": "application/json; charset=utf-8", "content-length": Buffer.byteLength(payload) };
  raw.writeHead(reply.statusCode, headers).write(text, () => raw.socket?.destroySoon());
  return never();
}
