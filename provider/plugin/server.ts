import { Server, ServerCredentials } from "@grpc/grpc-js";
import { ResourceProviderService } from "@pulumi/pulumi/proto/provider_grpc_pb";
import { engineAddress, onEngineGone } from "../adapter/engine";
import { ProviderService } from "./service";

/** Listens on a free port of this machine and prints it, which is what the engine waits for. */
export function serve(): void {
  const engine = engineAddress();
  // The engine hears of Ctrl-C too, and tells with Cancel when to stop; started by hand, there is none to tell.
  if (engine !== undefined) process.on("SIGINT", () => undefined);
  const server = new Server({ "grpc.max_receive_message_length": -1, "grpc.max_send_message_length": -1 });
  server.addService(ResourceProviderService, new ProviderService(engine).calls);
  server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, port) => {
    if (error) throw error;
    process.stdout.write(`${port}\n`);
    onEngineGone(engine, () => process.exit(1));
  });
}
