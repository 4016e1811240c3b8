import { setTimeout as sleep } from "node:timers/promises";
import { providerKey } from "../constants";
import { printableLines } from "../api/printable";
import { type Props } from "../core/definition";
import { type Incomplete, messageOf } from "../core/user-error";

/*
 * Everything that rests on how Pulumi's host of dynamic providers (`cmd/dynamic-provider` of @pulumi/pulumi) is built, rather than
 * on its documentation: no public way leads there. tests/provider/dynamic/pulumi-internals.test.ts and tests/e2e say when it stops working.
 */

/** For some verbs the host prints `${error}: ${error.stack}` before the message, which says all there is to say. */
const printed = { title: "consortium", stack: "its error is shown with the resource" };
const print = console.error; // eslint-disable-line no-console -- the host's
// eslint-disable-next-line no-console
console.error = (...args: unknown[]): void => {
  if (args[0] !== `${printed.title}: ${printed.stack}`) print(...args);
};

/** An error as the host shows it: the message, and nothing of the inside of this package. */
export function refusal(error: unknown): Error {
  const shown = new Error(printableLines(messageOf(error)));
  return Object.assign(shown, { stack: printed.stack, toString: () => printed.title });
}

/** Lines of this process and answers to the engine go separate ways: a line that is to come first gets a head start. */
const headStartMs = 100;

/**
 * Kept in the state as "created, not ready": the host reads id, properties and reasons, and does not add the provider by itself.
 * The engine heads it with "1 error occurred:", which says nothing, so the cause is printed ahead of it.
 */
export async function notReady(error: Incomplete, provider: unknown): Promise<Error> {
  const shown = refusal(error);
  // eslint-disable-next-line no-console -- the host shows what the provider process prints
  console.log(shown.message);
  await sleep(headStartMs);
  const properties: Props = { ...error.state, [providerKey]: provider };
  return Object.assign(shown, { id: error.id, properties, reasons: [shown.message] });
}

const cancelPath = "/pulumirpc.ResourceProvider/Cancel";

interface StreamServer {
  on(event: "stream", listener: (stream: unknown, headers: Record<string, unknown>) => void): void;
}

/**
 * Calls back when the engine asks the providers to stop (Ctrl-C). The host's server gets that call, and answers it itself.
 * @returns whether that server was found: a host that is built differently leaves Ctrl-C to Pulumi
 */
export function onCancel(callback: () => void): boolean {
  const { _getActiveHandles: handles } = process as unknown as { _getActiveHandles?: () => unknown[] };
  const servers = (handles?.call(process) ?? []).filter((handle): handle is StreamServer => {
    return handle?.constructor.name === "Http2Server" && typeof (handle as Partial<StreamServer>).on === "function";
  });
  for (const server of servers) {
    server.on("stream", (_stream, headers) => {
      if (headers[":path"] === cancelPath) callback();
    });
  }
  return servers.length > 0;
}
