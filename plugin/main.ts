import module from "node:module";
import { sharedArgument } from "../provider/constants";
import { engineAddress, onEngineGone, onLeaving } from "../provider/pulumi/engine";
import { version } from "../provider/version";
import { componentsArgument } from "./components";
import { listen } from "./server";
import { serveShared } from "./shared";

/** Keeps what Node.js has compiled for the next process: by itself, it does that only at an end without a signal. */
const keep = (): void => (module as Partial<{ flushCompileCache(): void }>).flushCompileCache?.();

/*
 * The provider plugin, bundled by tools/plugin.mjs. The engine passes its own address, and reads the port from the first line of
 * the output. `PULUMI_DEBUG_PROVIDERS=consortium:<port>` attaches to a plugin that was started by hand.
 */

/**
 * Prints the port, which the engine waits for. At the end of a run, the engine sends SIGINT and waits for the process to end, so
 * that signal must end it. A user's Ctrl-C arrives as Cancel.
 */
async function serve(): Promise<void> {
  const engine = engineAddress();
  const { port, left } = await listen({ engine });
  onLeaving(() => {
    left();
    keep();
  });
  process.stdout.write(`${port}\n`);
  onEngineGone(engine, () => process.exit(1));
}

const [first, ...rest] = process.argv.slice(2);
if (first === componentsArgument)
  void import("./component-host.js").then(({ serveComponents }) => serveComponents(rest, keep));
else if (first === sharedArgument) serveShared(keep);
else if (first === "--version") process.stdout.write(`${version}\n`);
else void serve();
