import { Readable } from "node:stream";
import type { FastifyInstance, FastifyReply } from "fastify";
import pLimit from "p-limit";
import { Refusal } from "../errors";
import type { CallLimits } from "../settings/settings";
import { finished } from "../ledger/answers";
import type { Chain } from "../ledger/chains";
import { Unfit } from "../ledger/failures";
import { type Bounds, Excess, failure, type RpcCall, unforeseen, written } from "../ledger/rpc";
import type { Message, Rights } from "../ledger/screening";

/** Concurrent requests of one caller; others wait. */
const mostAnswered = 4;
/** A filter expires after this long without a call (ms). */
const filterLife = 300_000;

/** The open requests of one caller: a credential, an organization, or an address without a key. */
export class Share {
  readonly #answering = pLimit(mostAnswered);
  readonly #filters = new Map<string, number>();
  #underWay = 0;

  constructor(private readonly limits: CallLimits) {}

  get isIdle(): boolean {
    return this.#underWay === 0;
  }

  /**
   * Counts a request from the end of its body until its answer, and disconnects clients that read the answer slowly. Refuses it if
   * there are too many.
   */
  enter(reply: FastifyReply): void {
    const { atOnce, time } = this.limits;
    if (this.#underWay >= atOnce) {
      reply.header("retry-after", "1");
      throw new Refusal(429, `${atOnce} of your requests are in progress, which is the limit.`);
    }
    this.#underWay++;
    const { raw } = reply;
    const late = setTimeout(() => raw.destroy(), 2 * time);
    raw.once("close", () => {
      clearTimeout(late);
      this.#underWay--;
    });
  }

  /**
   * Waits for a request's turn, at most as long as the request may take: then the answer says that it is too late. Signed transactions
   * do not wait, because their answers are short, and concurrent ones share a block and its sync.
   *
   * @returns the end of that time, and a function that ends the turn after the answer
   */
  turn(message?: Message): Promise<{ end: number; release: () => void }> {
    const { time } = this.limits;
    const end = performance.now() + time;
    const [call] = message?.batch ? [] : (message?.calls ?? []);
    if (call && "method" in call && call.method === "eth_sendRawTransaction")
      return Promise.resolve({ end, release: () => undefined });
    return new Promise((begin) => {
      let release!: () => void;
      const sent = new Promise<void>((done) => (release = done));
      const late = setTimeout(() => begin({ end: performance.now(), release }), time);
      void this.#answering(() => {
        clearTimeout(late);
        begin({ end, release });
        return sent;
      });
    });
  }

  /** Why a filter call is refused, if so. */
  refuses({ method, params: [id] }: RpcCall): string | undefined {
    const filters = this.#live();
    if (makes.has(method) && filters.size >= this.limits.filters)
      return `You have ${filters.size} filters, which is the limit. Uninstall one.`;
    return uses.has(method) && !filters.has(id as string) ? "filter not found" : undefined;
  }

  /** Notes which filters a call created, used or removed. */
  noted({ method, params: [id] }: RpcCall, answer: Buffer): void {
    if (method === "eth_uninstallFilter") this.#filters.delete(id as string);
    else if (uses.has(method)) this.#filters.set(id as string, Date.now());
    else if (makes.has(method)) {
      const { result } = JSON.parse(answer.toString()) as { result?: unknown };
      if (typeof result === "string") this.#filters.set(result, Date.now());
    }
  }

  #live(): ReadonlyMap<string, number> {
    for (const [id, used] of this.#filters) if (used < Date.now() - filterLife) this.#filters.delete(id);
    return this.#filters;
  }
}

const makes = new Set(["eth_newFilter", "eth_newBlockFilter", "eth_newPendingTransactionFilter"]);
const uses = new Set(["eth_getFilterChanges", "eth_getFilterLogs", "eth_uninstallFilter"]);
/** Asks a chain for one call. */
export type Ask = (call: RpcCall, bounds: Bounds) => Promise<Buffer>;

/**
 * The answer to a message, in parts. Makes the calls of a batch one by one, so that the chain and the service hold only one answer at a
 * time.
 */
export async function* answers(
  { batch, calls }: Message,
  share: Share,
  ask: Ask,
  { limits, socket, report }: Rights,
  end: number,
): AsyncGenerator<Buffer> {
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
      const refused = share.refuses(call);
      if (refused !== undefined && call.method === "eth_uninstallFilter")
        return written({ jsonrpc: "2.0", id: call.id, result: false });
      if (refused !== undefined) return written(failure(call.id, -32_000, refused));
      if (excess) throw excess; // skips the rest of a batch
      if (room <= 0) throw new Excess("long");
      if (performance.now() >= end) throw new Excess("late"); // the chain must not execute calls without a listener
      const answer = await ask(call, { bytes: room, ms: end - performance.now() });
      share.noted(call, answer);
      return answer;
    } catch (error) {
      if (error instanceof Excess) {
        excess = error;
        return written(failure(call.id, -32_005, excessive(error, limits)));
      }
      if (error instanceof Unfit) return written(failure(call.id, error.code, error.message));
      if (!(error instanceof Refusal)) {
        report(error);
        return written(unforeseen(call.id));
      }
      if (batch || socket) return written(failure(call.id, -32_603, error.message));
      throw error;
    }
  }
}

function excessive({ kind }: Excess, { answer, time }: CallLimits): string {
  if (kind === "late") return `The node did not answer within ${time / 1_000} s.`;
  if (kind === "wide") return "The call covers too many blocks. Request fewer at a time.";
  return `The answer is longer than ${answer} bytes. Request less at a time.`;
}

/** Answers a message: the answers to a batch are streamed, at the caller's pace. */
export async function send(
  reply: FastifyReply,
  share: Share,
  message: Message,
  chain: () => Promise<Chain>,
  rights: Rights,
): Promise<FastifyReply> {
  const { end, release } = await share.turn(message);
  if (reply.raw.closed) release();
  else reply.raw.once("close", release);
  const ask: Ask = async (call, bounds) => {
    const asked = await chain();
    return finished(call, await asked.ask(call, bounds), asked, rights.report);
  };
  const parts = answers(message, share, ask, rights, end);
  void reply.type("application/json");
  return reply.send(message.batch ? Readable.from(parts) : ((await parts.next()).value ?? ""));
}

/** Takes bodies as text, whatever their content type; `read` parses them. */
export function acceptText(app: FastifyInstance, { request }: CallLimits): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", { parseAs: "string", bodyLimit: request }, (_request, body, done) => done(null, body));
}
