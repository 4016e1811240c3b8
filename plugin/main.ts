import { componentsArgument } from "./components";
import { Server, ServerCredentials, type UntypedServiceImplementation } from "@grpc/grpc-js";
import { ResourceProviderService } from "@pulumi/pulumi/proto/provider_grpc_pb";
import { engineAddress, onEngineGone } from "../provider/core/engine";

/*
 * The provider plugin, bundled by tools/plugin.mjs. The engine starts it with its own address, and reads the port from the first
 * line of the output. Started by hand it is what `PULUMI_DEBUG_PROVIDERS=consortium:<port>` attaches to.
 */
/** The provider's calls. What answers them is loaded with the first: the engine starts a plugin also to ask for its version. */
function callsFor(engine: string | undefined): UntypedServiceImplementation {
  let loaded: Promise<UntypedServiceImplementation> | undefined;
  const load = (): Promise<UntypedServiceImplementation> =>
    (loaded ??= import("./service.js").then(({ ProviderService }) => ({ ...new ProviderService(engine).calls })));
  const names = Object.keys(ResourceProviderService);
  const call =
    (name: string) =>
    (...args: unknown[]) =>
      void load().then((calls) => (calls[name] as (...args: unknown[]) => void)(...args));
  return Object.fromEntries(names.map((name) => [name, call(name)]));
}

/**
 * Listens on a free port of this machine and prints it, which is what the engine waits for. At the end of a run the engine sends SIGINT
 * and waits for seconds until the process is gone: that signal must end it. Ctrl-C of a user arrives as Cancel.
 */
function serve(): void {
  const engine = engineAddress();
  const server = new Server({
    "grpc.max_receive_message_length": -1,
    "grpc.max_send_message_length": -1,
    "grpc.enable_channelz": 0, // per-call statistics, which nobody reads
  });
  server.addService(ResourceProviderService, callsFor(engine));
  server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, port) => {
    if (error) throw error;
    process.stdout.write(`${port}\n`);
    onEngineGone(engine, () => process.exit(1));
  });
}

const [first, ...rest] = process.argv.slice(2);
if (first === componentsArgument)
  void import("./component-host.js").then(({ serveComponents }) => serveComponents(rest));
else serve();
