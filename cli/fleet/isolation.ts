/*
 * Programs of several stacks run in this one process. For each, Pulumi listens to errors that nobody caught anywhere in the
 * process, so that an error in the program of one stack would fail all that run at the same time. Here each of these listeners is
 * bound to the stack that it was added for; Pulumi keeps the state of a stack in an AsyncLocalStorage, which tells them apart.
 */

const watched = ["uncaughtException", "unhandledRejection"] as const;
type Watched = (typeof watched)[number];
type Listener = ((...args: unknown[]) => void) & { listener?: unknown };

interface Emitter {
  on(event: string, listener: Listener): unknown;
  off(event: string, listener: Listener): unknown;
  listeners(event: string): unknown[];
}

/** The stack whose program runs here; undefined outside of all. */
const stackHere = (): unknown =>
  (globalThis as { asyncLocalStorage?: { getStore(): unknown } }).asyncLocalStorage?.getStore();

let isolating = false;

/** From now on an error that nobody caught reaches the stack that it comes from, and, where that cannot be told, all of them. */
export function isolateErrors(target: Emitter = process, here = stackHere): void {
  if (target === (process as unknown) && isolating) return;
  if (target === (process as unknown)) isolating = true;
  let binding = false;
  target.on("newListener", (event, listener) => {
    const own = here();
    if (binding || own === undefined || !watched.includes(event as Watched)) return;
    // This is told before it is added.
    queueMicrotask(() => {
      if (!target.listeners(event as Watched).includes(listener)) return;
      binding = true;
      target.off(event as Watched, listener as Listener);
      target.on(event as Watched, bound(listener as Listener, own, here));
      binding = false;
    });
  });
}

function bound(listener: Listener, own: unknown, here: () => unknown): Listener {
  const listening: Listener = (...args) => {
    const from = here();
    if (from === undefined || from === own) listener(...args);
  };
  // By this `off` finds it, as it does for `once`.
  return Object.assign(listening, { listener });
}
