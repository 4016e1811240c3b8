import { type handleUnaryCall, Server, ServerCredentials, type ServiceDefinition, status } from "@grpc/grpc-js";
import { ResourceProviderService } from "@pulumi/pulumi/proto/provider_grpc_pb";
import { type Environment, withEnvironment } from "../provider/api/environment";
import { type ProviderHandshakeRequest, type ProviderHandshakeResponse } from "@pulumi/pulumi/proto/provider_pb";
import { about, handshake } from "./about";
import type { ProviderService } from "./service";

/** A provider that listens. */
export interface Served {
  port: number;
  /** Ends it, whatever it is doing. */
  end(): void;
  /** Call when the engine ends the process after a run. */
  readonly left: () => void;
}

export interface Serving {
  /** The engine's address. Default: the engine tells it when it attaches. */
  engine?: string;
  /** Replaces the environment of this process. */
  environment?: Environment;
}

const asIs = (bytes: Buffer): Buffer => bytes;

/** gRPC's health check. The engine asks for it once, before it closes the connection. */
const health: ServiceDefinition = {
  check: {
    path: "/grpc.health.v1.Health/Check",
    requestStream: false,
    responseStream: false,
    requestSerialize: asIs,
    requestDeserialize: asIs,
    responseSerialize: asIs,
    responseDeserialize: asIs,
  },
};

/** Calls of Pulumi's protocol that are not answered: gRPC says so itself, before anything is loaded. */
const unanswered = ["call", "parameterize"];

/** Serves one provider on a free port of this machine. */
export function listen({ engine, environment }: Serving): Promise<Served> {
  const server = new Server({
    "grpc.max_receive_message_length": -1,
    "grpc.max_send_message_length": -1,
    "grpc.enable_channelz": 0, // per-call statistics that nobody reads
  });
  let loaded: Promise<ProviderService> | undefined;
  let current: ProviderService | undefined;
  /** Loads the service with the first call that needs it: the engine also starts a plugin just to ask about it. */
  const service = (): Promise<ProviderService> =>
    (loaded ??= import("./service.js").then(({ ProviderService }) => (current = new ProviderService(engine))));
  const within = <T>(work: () => T): T => (environment === undefined ? work() : withEnvironment(environment, work));
  const call =
    (name: string) =>
    (...args: unknown[]) =>
      void within(async () => (Reflect.get((await service()).calls, name) as (...args: unknown[]) => void)(...args));
  const names = Object.keys(ResourceProviderService).filter((name) => !unanswered.includes(name));
  const calls = Object.fromEntries(names.map((name) => [name, call(name)]));
  const first: handleUnaryCall<ProviderHandshakeRequest, ProviderHandshakeResponse> = (shake, answer) => {
    if (loaded) return calls.handshake!(shake, answer);
    engine = shake.request.getEngineAddress();
    answer(null, handshake());
  };
  server.addService(ResourceProviderService, { ...calls, ...about, handshake: first });
  server.addService(health, {
    check: (_call: unknown, answer: (error: object) => void): void => {
      void loaded?.then((one) => one.leave());
      // The engine takes this for a sign of life. Earlier answers are sent first.
      setImmediate(() => answer({ code: status.UNIMPLEMENTED }));
    },
  });
  return new Promise((resolve, reject) =>
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, port) => {
      if (error) return reject(error);
      resolve({
        port,
        left: () => within(() => current?.left()),
        end: () => {
          server.forceShutdown();
          void loaded?.then((one) => one.end());
        },
      });
    }),
  );
}
