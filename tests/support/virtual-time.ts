import fs from "node:fs/promises";
import { type Clock, systemClock } from "../../provider/api/clock";
import { UndiciTransport, type WireAnswer, type WireRequest } from "../../provider/api/transport";
import { call, type Server } from "./in-process";

const times: VirtualTime[] = [];

/**
 * Time that passes only while everybody sleeps: it jumps to the next one who must wake up,
 * but never while a request or a flush is under way. A request itself takes two milliseconds of it.
 */
export class VirtualTime implements Clock {
  /** Real milliseconds that pass with each of these, for what happens in real time at the other end. */
  pace = 0;
  /** Holds an answer up on its way back. */
  late?: (request: WireRequest) => Promise<void>;
  /** A service of this process, which is called without a socket. */
  near?: Server;
  #now = 0;
  #busy = 0;
  #planned = false;
  #sleepers: { due: number; wake: () => void }[] = [];
  #conditions: { call: RegExp; act: () => unknown; ms: number }[] = [];

  constructor() {
    times.push(this);
  }

  readonly now = (): number => this.#now;
  /** The same time for a service, in ms since 1970. */
  readonly wall = (): number => Date.UTC(2026, 0, 1) + this.#now;
  readonly sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
    new Promise((wake, reject) => {
      signal?.throwIfAborted();
      const drop = (): void => {
        this.#sleepers = this.#sleepers.filter((sleeper) => sleeper.wake !== wake);
        reject(new Error("woken"));
      };
      signal?.addEventListener("abort", drop, { once: true });
      this.#at(ms, wake);
    });

  #at(ms: number, wake: () => void): void {
    this.#sleepers.push({ due: this.#now + ms, wake });
    this.#plan();
  }

  /**
   * Does something once the next call like `GET /consortia` has its answer, or this long after. Whoever called goes on after that. The
   * test fails if nobody calls.
   */
  when(call: RegExp, act: () => unknown, ms = 0): void {
    this.#conditions.push({ call, act, ms });
  }

  /** A call has its answer, or has failed. */
  async called({ method, url }: Pick<WireRequest, "method" | "url">): Promise<void> {
    const call = `${method} ${new URL(url).pathname}`;
    const due = this.#conditions.filter((one) => one.call.test(call));
    this.#conditions = this.#conditions.filter((one) => !due.includes(one));
    for (const { act, ms } of due)
      if (ms > 0) this.#at(ms, () => void act());
      else await act();
  }

  /** The calls that nobody made. */
  get unmet(): string[] {
    return this.#conditions.map(({ call }) => String(call));
  }

  /** Lets time pass at once. */
  pass(ms: number): void {
    this.#now += ms;
  }

  async during<T>(act: () => Promise<T>): Promise<T> {
    this.#now++;
    try {
      return await this.outside(act);
    } finally {
      this.#now++;
    }
  }

  /** Inside `outside`: waits, as those who sleep. */
  async inside(ms: number): Promise<void> {
    this.#busy--;
    await this.sleep(ms);
    this.#busy++;
  }

  /** What happens in real time takes none of this. */
  async outside<T>(act: () => Promise<T>): Promise<T> {
    this.#busy++;
    try {
      return await act();
    } finally {
      this.#busy--;
      this.#plan();
    }
  }

  #plan(): void {
    if (this.#planned) return;
    this.#planned = true;
    setImmediate(() => {
      this.#planned = false;
      if (this.#busy > 0) return;
      this.#sleepers.sort((a, b) => a.due - b.due);
      const next = this.#sleepers.shift();
      if (!next) return;
      const passed = Math.max(0, next.due - this.#now);
      this.#now += passed;
      if (this.pace > 0) setTimeout(() => this.#wake(next), passed * this.pace);
      else this.#wake(next);
    });
  }

  #wake({ wake }: { wake: () => void }): void {
    wake();
    this.#plan();
  }
}

/** From here to the end of the test the product lives in virtual time: its clock, every request it sends, and every file it flushes. */
export function virtualTime(): VirtualTime {
  const time = new VirtualTime();
  jest.spyOn(systemClock, "now").mockImplementation(time.now);
  jest.spyOn(systemClock, "sleep").mockImplementation(time.sleep);
  // eslint-disable-next-line @typescript-eslint/unbound-method -- called with its own `this` below
  const { send } = UndiciTransport.prototype;
  jest.spyOn(UndiciTransport.prototype, "send").mockImplementation(async function (
    this: UndiciTransport,
    request: WireRequest,
  ): Promise<WireAnswer> {
    const { near } = time;
    const answer = await time.during(() => {
      const sent = near ? call(near, request, () => time.inside(request.timeoutMs)) : send.call(this, request);
      return sent.finally(() => time.called(request));
    });
    await time.late?.(request);
    return answer;
  });
  const { open } = fs;
  jest.spyOn(fs, "open").mockImplementation(async (...args) => {
    const file = await time.outside(() => open(...args));
    for (const name of ["sync", "close"] as const) {
      const act = file[name].bind(file);
      file[name] = () => time.outside(act);
    }
    return file;
  });
  return time;
}

/** From here to the end of the test, bodies change on their way: the service is one that reads or writes them in another way. */
export function rewriting({
  request,
  answer,
}: {
  request?: (body: string, sent: WireRequest) => string;
  answer?: (body: string, sent: WireRequest) => string;
}): void {
  // eslint-disable-next-line @typescript-eslint/unbound-method -- it is the mock of `virtualTime`, and not called
  const mock = jest.mocked(UndiciTransport.prototype.send);
  const send = mock.getMockImplementation()!;
  mock.mockImplementation(async function (this: UndiciTransport, sent) {
    const body = sent.body === undefined ? undefined : (request?.(sent.body, sent) ?? sent.body);
    const got = await send.call(this, { ...sent, body });
    return { ...got, text: answer?.(got.text, sent) ?? got.text };
  });
}

afterEach(() => {
  jest.restoreAllMocks();
  expect(times.splice(0).flatMap(({ unmet }) => unmet)).toEqual([]);
});
