import { z } from "zod";

/** What a call to a chain may take, so that no caller stops the service or a ledger. Sizes in bytes, times in milliseconds. */
export interface CallLimits {
  /** Gas of a call, an estimate or a transaction. Default 30,000,000, which is the limit of a block. */
  gas: number;
  /** Memory of one execution in the EVM. Default 32 MiB. */
  memory: number;
  /** Calls in a batch. Default 100. */
  batch: number;
  /** A request, or a message over a WebSocket. Default 1 MiB. */
  request: number;
  /** An answer, that to a batch as a whole. Default 16 MiB. */
  answer: number;
  /** Time for the answer to a request, and as much again for the caller to take it. Default 30,000. */
  time: number;
  /** Requests of one credential under way at once; more is refused with 429. Default 64. */
  atOnce: number;
  /** State and block overrides of a call. Default 64 KiB. */
  overrides: number;
  /** Filters of one credential. Default 16. */
  filters: number;
  /** WebSockets of one credential. Default 16. */
  sockets: number;
  /** Subscriptions on one WebSocket. Default 16. */
  subscriptions: number;
  /** Transactions of one account that wait for a block. Default 256. */
  accountPool: number;
  /** Transactions of a ledger that wait for a block. Default 4,096; as many as a quarter of these may wait for an earlier one. */
  pool: number;
  /** Connections to the service. Default 1,024; for a new one, the one that has been idle for the longest time is closed. */
  connections: number;
  /** Calls a second from one address at `/target/…`, which needs no credential, on an average of 10 seconds. Default 50. */
  targetRate: number;
}

const MiB = 1_048_576;
const some = z.number().int().positive();

export const callLimits = z.strictObject({
  gas: some.default(30_000_000),
  memory: some.default(32 * MiB),
  batch: some.default(100),
  request: some.max(64 * MiB).default(MiB),
  answer: some.max(256 * MiB).default(16 * MiB),
  time: some.max(3_600_000).default(30_000),
  atOnce: some.default(64),
  overrides: some.default(65_536),
  filters: some.default(16),
  sockets: some.default(16),
  subscriptions: some.default(16),
  accountPool: some.default(256),
  pool: some.default(4_096),
  connections: some.default(1_024),
  targetRate: some.default(50),
} satisfies Record<keyof CallLimits, z.ZodType>);
