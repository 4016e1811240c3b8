import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { FaultRule } from "./rules";

/** What carrying out a fault needs of the service. */
export interface Outages {
  refuse(ms: number): void;
  pause(ms: number): Promise<void>;
}

const never = () => new Promise<never>(() => undefined);

/** The part of a fault that comes before the service acts. Answers, or never returns, or lets the call go on. */
export async function beforeActing(
  rule: FaultRule,
  outages: Outages,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  switch (rule.kind) {
    case "status":
    case "html":
      return rule.acted ? undefined : reply.send(replacement(rule, reply));
    case "hang":
      return rule.acted ? undefined : never();
    case "resetBefore":
      return reset(request.raw.socket);
    case "refuse":
      outages.refuse(rule.ms);
      return never();
    case "delay":
      return outages.pause(rule.ms);
    default:
      return undefined;
  }
}

/** The part that comes when the service has acted and is about to answer. */
export async function beforeAnswering(rule: FaultRule, reply: FastifyReply, payload: unknown): Promise<unknown> {
  switch (rule.kind) {
    case "status":
    case "html":
      return rule.acted ? replacement(rule, reply) : payload;
    case "hang":
      return rule.acted ? never() : payload;
    case "resetAfter":
      return reset(reply.raw.socket);
    case "truncated":
      return half(rule.wellFormed ?? false, reply, typeof payload === "string" ? payload : "");
    default:
      return payload;
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
  return JSON.stringify(rule.body ?? { errorMessage: rule.errorMessage ?? reason });
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
