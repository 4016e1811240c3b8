import { Readable } from "node:stream";
import type { FastifyInstance, FastifyReply } from "fastify";
import { Refusal } from "../errors";
import type { CallLimits } from "../settings/settings";
import type { Chain } from "../ledger/chains";
import { Unfit } from "../ledger/failures";
import { type Bounds, Excess, failure, type RpcCall, unforeseen, written } from "../ledger/rpc";
import type { Message, Rights } from "../ledger/screening";

export type Ask = (call: RpcCall, bounds: Bounds) => Promise<unknown>;

/**
 * The answer to a message, in parts. Makes the calls of a batch one by one, so that the chain and the service hold only one answer at a
 * time.
 */
export async function* answers(
  { batch, calls }: Message,
  ask: Ask,
  { limits, socket, report }: Rights,
): AsyncGenerator<Buffer> {
  const end = performance.now() + limits.time;
  let room = limits.answer;
  let said = 0;
  let excess: Excess | undefined;
  for (const call of calls) {
    const answer = "answer" in call ? written(call.answer) : await answerTo(call);
    if (call.silent) continue;
    if (batch) yield Buffer.from(said++ === 0 ? "[" : ",");
    room -= answer.length;
    yield answer;
  }
  if (said > 0) yield Buffer.from("]");

  async function answerTo(call: RpcCall): Promise<Buffer> {
    try {
      if (excess) throw excess; // skips the rest of a batch
      if (room <= 0) throw new Excess("long");
      if (performance.now() >= end) throw new Excess("late"); // the chain must not execute calls without a listener
      const result = await ask(call, { bytes: room, ms: end - performance.now() });
      const answer = written({ jsonrpc: "2.0", id: call.id, result });
      if (answer.length > room) throw new Excess("long");
      return answer;
    } catch (error) {
      if (error instanceof Excess) {
        excess = error;
        return written(failure(call.id, -32_005, excessive(error, limits)));
      }
      if (error instanceof Unfit) return written(failure(call.id, error.code, error.message, error.data));
      if (!(error instanceof Refusal)) {
        report(error);
        return written(unforeseen(call.id));
      }
      if (batch || socket) return written(failure(call.id, -32_603, error.message));
      throw error;
    }
  }
}

const excessive = ({ kind }: Excess, { answer, time }: CallLimits): string =>
  kind === "late"
    ? `The node did not answer within ${time / 1_000} s.`
    : `The answer is longer than ${answer} bytes. Request less at a time.`;

/** Answers a message: the answers to a batch are streamed, at the caller's pace, but not forever. */
export async function send(
  reply: FastifyReply,
  message: Message,
  chain: () => Promise<Chain>,
  rights: Rights,
): Promise<FastifyReply> {
  const { raw } = reply;
  const late = setTimeout(() => raw.destroy(), 2 * rights.limits.time);
  raw.once("close", () => clearTimeout(late));
  const ask: Ask = async (call, bounds) => (await chain()).ask(call, bounds);
  const parts = answers(message, ask, rights);
  void reply.type("application/json");
  return reply.send(message.batch ? Readable.from(parts) : ((await parts.next()).value ?? ""));
}

/** Takes bodies as text, whatever their content type; `read` parses them. */
export function acceptText(app: FastifyInstance, { request }: CallLimits): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", { parseAs: "string", bodyLimit: request }, (_request, body, done) => done(null, body));
}
