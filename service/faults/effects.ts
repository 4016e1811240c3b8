import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { FastifyReply } from "fastify";
import type { FaultRule } from "./rules";

/** What carrying out a fault needs of the service. */
export interface Outages {
  refuse(ms: number): void;
  pause(ms: number): Promise<void>;
}

const never = () => new Promise<never>(() => undefined);

/** Whether the service does what was asked for before the fault shows. */
export const isActed = (rule: FaultRule) =>
  rule.kind === "resetAfter" || rule.kind === "truncated" || ("acted" in rule && rule.acted === true);

/** Carries out a fault: what to answer, or undefined if the call goes on; or it never returns. */
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
