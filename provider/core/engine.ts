import { connect } from "node:net";

const enginePattern = /^(127\.0\.0\.1|localhost|\[::1\]):(\d+)$/;

/** How often to look again, when the engine closed the connection that we only watch. */
const retryMs = 250;

/** The engine's address among the arguments that it starts a provider process with. */
export const engineAddress = (args: readonly string[] = process.argv): string | undefined =>
  args.find((arg) => enginePattern.test(arg));

/** Calls back when nothing listens any more at the engine's address. An open connection tells at once, and costs nothing. */
export function onEngineGone(address: string | undefined, callback: () => void): void {
  const [, host, port] = enginePattern.exec(address ?? "") ?? [];
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
