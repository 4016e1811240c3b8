import { connect } from "node:net";
import { sendSpans } from "../api/trace";
import { times } from "../core/times";

const enginePattern = /^(127\.0\.0\.1|localhost|\[::1\]):(\d+)$/;

/** The engine's address, which is an argument of each provider process. */
export const engineAddress = (args: readonly string[] = process.argv): string | undefined =>
  args.find((arg) => enginePattern.test(arg));

/** Calls back when nothing listens at the engine's address any more. An open connection shows that at once. */
export function onEngineGone(address: string | undefined, callback: () => void): void {
  const [, host, port] = enginePattern.exec(address ?? "") ?? [];
  if (!host || !port) return;
  const watch = (): void => {
    const watched = connect({ host: host.replace(/[[\]]/g, ""), port: Number(port) });
    watched.unref().resume(); // the end is only seen while reading
    watched.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "ECONNREFUSED") callback();
    });
    // The engine may close an idle connection: check whether it is still there.
    watched.on("close", () => setTimeout(watch, times.engineEveryMs).unref());
  };
  watch();
}

/**
 * Calls back when the engine ends this process, as it does after each run: it sends an interrupt, which ends the process then, too.
 * A user's Ctrl-C arrives as a call.
 */
export function onLeaving(callback: () => void): void {
  const signal = process.platform === "win32" ? "SIGBREAK" : "SIGINT";
  process.once(signal, () => {
    callback();
    const end = (): unknown => process.kill(process.pid, signal);
    void (sendSpans()?.then(end) ?? end());
  });
}
