import { connect } from "node:net";

/*
 * What the engine does not tell a dynamic provider: that the user cancelled (the host ignores the call), and that
 * the engine died (the host has a process group of its own, and lives on). Both are looked for from outside;
 * where a host is built differently they are just not noticed.
 */

const cancelPath = "/pulumirpc.ResourceProvider/Cancel";

interface StreamServer {
  on(event: "stream", listener: (stream: unknown, headers: Record<string, unknown>) => void): void;
}

/** Calls back when the engine asks the providers to stop (Ctrl-C). The host's server gets that call, and answers it itself. */
export function onCancel(callback: () => void): void {
  const { _getActiveHandles: handles } = process as unknown as { _getActiveHandles?: () => unknown[] };
  for (const handle of handles?.call(process) ?? []) {
    if ((handle as object).constructor.name !== "Http2Server") continue;
    (handle as StreamServer).on("stream", (_stream, headers) => {
      if (headers[":path"] === cancelPath) callback();
    });
  }
}

const enginePattern = /^(127\.0\.0\.1|localhost|\[::1\]):(\d+)$/;

/** How often to look again, when the engine closed the connection that we only watch. */
const retryMs = 250;

/**
 * Calls back when nothing listens any more at the engine's address, which the host gets as its argument.
 * An open connection tells at once, and costs nothing.
 */
export function onEngineGone(callback: () => void, args: readonly string[] = process.argv): void {
  const [, host, port] = args.map((arg) => enginePattern.exec(arg)).find((match) => match) ?? [];
  if (!host || !port) return;
  const watch = (): void => {
    const watched = connect({ host: host.replace(/[[\]]/g, ""), port: Number(port) });
    watched.unref().resume(); // an end is only seen by who reads
    watched.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "ECONNREFUSED") callback();
    });
    // The engine may close a connection that says nothing: then look whether it is still there.
    watched.on("close", () => setTimeout(watch, retryMs).unref());
  };
  watch();
}
