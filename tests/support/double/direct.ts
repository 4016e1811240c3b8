import { type Client, Metadata, type ServiceDefinition, status } from "@grpc/grpc-js";
import { EngineClient, EngineService } from "@pulumi/pulumi/proto/engine_grpc_pb";
import { ResourceProviderClient, ResourceProviderService } from "@pulumi/pulumi/proto/provider_grpc_pb";
import { ResourceMonitorClient, ResourceMonitorService } from "@pulumi/pulumi/proto/resource_grpc_pb";

/*
 * Pulumi's services in this process, called without a network, which is most of what a run over gRPC costs. Messages are written and read
 * as over one. tests/plugin and tests/e2e talk over real gRPC.
 */

interface Failure {
  code: number;
  details: string;
  metadata?: Metadata;
}

type Answer = (error: Error | Failure | null, answer?: unknown) => void;
type Calls = Partial<Record<string, (call: { request: unknown; metadata: Metadata }, callback: Answer) => void>>;

const prefix = "direct-";
const services = new Map<string, Calls>();
let last = 0;

/** An address for clients of this process, with the calls of a server. */
export function serve(calls: object): string {
  const address = `${prefix}${++last}`;
  services.set(address, calls);
  return address;
}

/** Calls that are on their way, or come later, fail as they do if a process ends. */
export const stopServing = (address: string): void => void services.delete(address);

function failureOf(error: Error | Failure): Error & Failure {
  const { code = status.UNKNOWN, details = (error as Error).message, metadata = new Metadata() } = error as Failure;
  return Object.assign(new Error(`${code} ${status[code]}: ${details}`), { code, details, metadata });
}

type Method = ServiceDefinition[string];

function call(address: string, name: string, method: Method, given: unknown[]): void {
  const [message, answered] = [given[0], given.at(-1) as Answer];
  const metadata = given[1] instanceof Metadata ? given[1] : new Metadata();
  const request: unknown = method.requestDeserialize(method.requestSerialize(message));
  const fail = (error: Error | Failure): void => answered(failureOf(error));
  // Each way takes a turn of the event loop, as over a network.
  const later = (act: (calls: Calls) => void): void =>
    void setImmediate(() => {
      const calls = services.get(address);
      if (calls) act(calls);
      else fail({ code: status.UNAVAILABLE, details: "Connection dropped" });
    });
  later((calls) => {
    const handle = calls[name];
    if (!handle) return fail({ code: status.UNIMPLEMENTED, details: `${name} is not implemented` });
    handle({ request, metadata }, (error, answer) => {
      const read: unknown = error ? undefined : method.responseDeserialize(method.responseSerialize(answer));
      later(() => (error ? fail(error) : answered(null, read)));
    });
  });
}

/** Clients are made by Pulumi's SDK and by the plugin, too: their methods look where they are to call. */
for (const [client, service] of [
  [ResourceMonitorClient, ResourceMonitorService],
  [EngineClient, EngineService],
  [ResourceProviderClient, ResourceProviderService],
] as [typeof Client, ServiceDefinition][]) {
  const prototype = client.prototype as unknown as Record<string, (this: Client, ...args: unknown[]) => unknown>;
  for (const [name, method] of Object.entries(service)) {
    const overNetwork = prototype[name]!;
    prototype[name] = function (...args) {
      const address = this.getChannel().getTarget().replace(/^dns:/, "");
      if (!address.startsWith(prefix)) return overNetwork.apply(this, args);
      return call(address, name, method, args);
    };
  }
}
