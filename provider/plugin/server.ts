import { Server, ServerCredentials, type UntypedServiceImplementation } from "@grpc/grpc-js";
import { ResourceProviderService } from "@pulumi/pulumi/proto/provider_grpc_pb";
import { engineAddress, onEngineGone } from "../adapter/engine";

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

/** Listens on a free port of this machine and prints it, which is what the engine waits for. */
export function serve(): void {
  const engine = engineAddress();
  // The engine hears of Ctrl-C too, and tells with Cancel when to stop; started by hand, there is none to tell.
  if (engine !== undefined) process.on("SIGINT", () => undefined);
  const server = new Server({ "grpc.max_receive_message_length": -1, "grpc.max_send_message_length": -1 });
  server.addService(ResourceProviderService, callsFor(engine));
  server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, port) => {
    if (error) throw error;
    process.stdout.write(`${port}\n`);
    onEngineGone(engine, () => process.exit(1));
  });
}
