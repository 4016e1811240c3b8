import { Server, ServerCredentials, type UntypedServiceImplementation } from "@grpc/grpc-js";
import { ResourceProviderService } from "@pulumi/pulumi/proto/provider_grpc_pb";
import { type Environment, withEnvironment } from "../provider/api/environment";
import type { ProviderService } from "./service";

/** A provider that listens. */
export interface Served {
  port: number;
  /** Ends it, whatever it is doing. */
  end(): void;
}

export interface Serving {
  /** The engine's address. Default: the engine tells it when it attaches. */
  engine?: string;
  /** Replaces the environment of this process. */
  environment?: Environment;
}

/** Serves one provider on a free port of this machine. */
export function listen({ engine, environment }: Serving): Promise<Served> {
  const server = new Server({
    "grpc.max_receive_message_length": -1,
    "grpc.max_send_message_length": -1,
    "grpc.enable_channelz": 0, // per-call statistics that nobody reads
  });
  const provider = new Provider(engine);
  const within = <T>(work: () => T): T => (environment === undefined ? work() : withEnvironment(environment, work));
  const call =
    (name: string) =>
    (...args: unknown[]) =>
      void within(async () => ((await provider.service()).calls[name] as (...args: unknown[]) => void)(...args));
  const calls = Object.fromEntries(Object.keys(ResourceProviderService).map((name) => [name, call(name)]));
  server.addService(ResourceProviderService, calls satisfies UntypedServiceImplementation);
  return new Promise((resolve, reject) =>
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, port) => {
      if (error) return reject(error);
      resolve({
        port,
        end: () => {
          server.forceShutdown();
          provider.end();
        },
      });
    }),
  );
}

/** Loads the service with the first call: the engine also starts a plugin just to ask for its version. */
class Provider {
  #service?: Promise<ProviderService>;

  constructor(private readonly engine: string | undefined) {}

  service(): Promise<ProviderService> {
    return (this.#service ??= import("./service.js").then(({ ProviderService }) => new ProviderService(this.engine)));
  }

  end(): void {
    void this.#service?.then((service) => service.end());
  }
}
