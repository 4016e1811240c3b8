import { credentials, Metadata, Server, ServerCredentials, type ServiceError } from "@grpc/grpc-js";
import { EngineService, type IEngineServer } from "@pulumi/pulumi/proto/engine_grpc_pb";
import { LogSeverity } from "@pulumi/pulumi/proto/engine_pb";
import { ResourceProviderClient, ResourceProviderService } from "@pulumi/pulumi/proto/provider_grpc_pb";
import * as proto from "@pulumi/pulumi/proto/provider_pb";
import { Status } from "@pulumi/pulumi/proto/status_pb";
import { Empty } from "google-protobuf/google/protobuf/empty_pb";
import { Struct } from "google-protobuf/google/protobuf/struct_pb";
import { ProviderService } from "../../plugin/service";
import { serve, stopServing } from "./double/direct";
import { type Props } from "./double/wire";

/* Pulumi's protocol from the engine's side, over real gRPC. */

export const urnOf = (kind: string, name = "acme"): string => `urn:pulumi:dev::p::consortium:index:${kind}::${name}`;
const providerUrn = (name: string): string =>
  isUrn(name) ? name : `urn:pulumi:dev::p::pulumi:providers:consortium::${name}`;
const isUrn = (name: string): boolean => name.startsWith("urn:");
const resourceUrn = (kind: string): string => (isUrn(kind) ? kind : urnOf(kind));
export const struct = (props: Props): Struct => Struct.fromJavaScript(props as Record<string, never>);
export const plain = (of: Struct | undefined): Props => of?.toJavaScript() ?? {};

/** A request with these fields; properties are objects here, and undefined ones are left out. */
function message<M extends object>(Kind: new () => M, fields: Record<string, unknown>): M {
  const made = new Kind();
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) continue;
    const set = (made as Record<string, (given: unknown) => void>)[`set${name[0]!.toUpperCase()}${name.slice(1)}`]!;
    set.call(made, typeof value === "object" ? struct(value as Props) : value);
  }
  return made;
}

export const listening = (server: Server): Promise<number> =>
  new Promise((resolve, reject) =>
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, port) =>
      error ? reject(error) : resolve(port),
    ),
  );

type Say = (row: string, text: string) => void;
type Verb = Exclude<keyof ResourceProviderClient, number | symbol>;

/** The parts of a failed call that the engine keeps: id and properties of an object that is not ready. */
export interface Failed {
  code: number;
  details: string;
  kept?: { id: string; properties: Props; reasons: string[] };
}

function failedOf(error: ServiceError): Failed {
  const { code, details, metadata } = error as { code: number; details: string; metadata: Metadata };
  const [bytes] = metadata.get("grpc-status-details-bin");
  if (!bytes) return { code, details };
  const [detail] = Status.deserializeBinary(bytes as Buffer).getDetailsList();
  const failed = detail!.unpack(
    (bytes) => proto.ErrorResourceInitFailed.deserializeBinary(bytes),
    detail!.getTypeName(),
  )!;
  const [id, properties, reasons] = [failed.getId(), plain(failed.getProperties()), failed.getReasonsList()];
  return { code, details, kept: { id, properties, reasons } };
}

/** The results of a list. */
export interface Listed {
  items: { id: string; name: string }[];
  /** The continuation token; "": none. */
  next: string;
  computed: boolean;
}

/** A plugin, and the engine that it talks to. */
export class Protocol {
  /** Lines of the plugin: row, text, and whether they are warnings, or pass by. */
  readonly shown: { row: string; text: string; warns: boolean; passing: boolean }[] = [];
  /** How long the engine takes to show a line. */
  busyMs = 0;
  /** Facts that the engine passes with each call. */
  readonly metadata = new Metadata();

  #client!: ResourceProviderClient;
  #end!: (regular: boolean) => void;

  private constructor(private readonly say: Say) {}

  static async start(): Promise<Protocol> {
    const protocol = new Protocol(() => undefined);
    const [engine, plugin] = [new Server(), new Server()];
    engine.addService(EngineService, { log: protocol.#log });
    const service = new ProviderService(`127.0.0.1:${await listening(engine)}`);
    plugin.addService(ResourceProviderService, service.calls);
    return protocol.#connect(`127.0.0.1:${await listening(plugin)}`, (regular) => {
      if (regular) service.left();
      [engine, plugin].forEach((server) => server.forceShutdown());
    });
  }

  /** Without a network. @param say gets each line that is shown, besides `shown` */
  static direct(say: Say): Protocol {
    const protocol = new Protocol(say);
    const engine = serve({ log: protocol.#log });
    const service = new ProviderService(engine);
    const plugin = serve(service.calls);
    return protocol.#connect(plugin, (regular) => {
      if (regular) service.left();
      [engine, plugin].forEach(stopServing);
    });
  }

  /** A provider that runs already. */
  static at(address: string): Protocol {
    return new Protocol(() => undefined).#connect(address, () => undefined);
  }

  #connect(address: string, end: (regular: boolean) => void): this {
    this.#client = new ResourceProviderClient(address, credentials.createInsecure());
    this.#end = end;
    return this;
  }

  readonly #log: IEngineServer["log"] = ({ request }, callback) => {
    const row = request.getUrn().split("::").at(-1)!;
    const show = (): void => {
      const [text, warns] = [request.getMessage(), request.getSeverity() === LogSeverity.WARNING];
      this.shown.push({ row, text, warns, passing: request.getEphemeral() });
      this.say(row, request.getMessage());
      callback(null, new Empty());
    };
    if (this.busyMs > 0) setTimeout(show, this.busyMs);
    else show();
  };

  /** One call: its answer. @throws Failed */
  call<A>(verb: Verb, request: unknown): Promise<A> {
    type Call = (
      request: unknown,
      metadata: Metadata,
      callback: (error: ServiceError | null, answer: A) => void,
    ) => void;
    const call = (this.#client as unknown as Record<Verb, Call>)[verb].bind(this.#client);
    return new Promise((resolve, reject) =>
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- what the engine gets
      call(request, this.metadata, (error, answer) => (error ? reject(failedOf(error)) : resolve(answer))),
    );
  }

  async configure(args: Props = {}, name = "default_0_1_0"): Promise<void> {
    await this.call("configure", message(proto.ConfigureRequest, { args, urn: providerUrn(name) }));
  }

  handshake(): Promise<proto.ProviderHandshakeResponse> {
    return this.call("handshake", new proto.ProviderHandshakeRequest().setEngineAddress("127.0.0.1:1"));
  }

  configured(): Promise<proto.ConfigureResponse> {
    return this.call("configure", message(proto.ConfigureRequest, { args: {} }));
  }

  async checkConfig(news: Props, name = "default_0_1_0"): Promise<proto.CheckResponse.AsObject["failuresList"]> {
    const request = message(proto.CheckRequest, { urn: providerUrn(name), news });
    return (await this.call<proto.CheckResponse>("checkConfig", request)).toObject().failuresList;
  }

  /* Each verb takes a URN, or a kind, whose resource is then "acme". */

  async check(kind: string, news: Props, olds?: Props, autonaming?: proto.CheckRequest.AutonamingOptions) {
    const request = message(proto.CheckRequest, { urn: resourceUrn(kind), olds, news });
    request.setAutonaming(autonaming);
    const answer = await this.call<proto.CheckResponse>("check", request);
    return { inputs: plain(answer.getInputs()), failures: answer.toObject().failuresList };
  }

  async create(kind: string, properties: Props, options: { preview?: boolean; timeout?: number } = {}) {
    const request = message(proto.CreateRequest, { urn: resourceUrn(kind), properties, ...options });
    const answer = await this.call<proto.CreateResponse>("create", request);
    return { id: answer.getId(), outs: plain(answer.getProperties()) };
  }

  diff(kind: string, id: string, olds: Props, news: Props, oldInputs?: Props): Promise<proto.DiffResponse> {
    return this.call("diff", message(proto.DiffRequest, { urn: resourceUrn(kind), id, olds, news, oldInputs }));
  }

  async read(kind: string, id: string, properties: Props, inputs: Props = {}) {
    const request = message(proto.ReadRequest, { urn: resourceUrn(kind), id, properties, inputs });
    const answer = await this.call<proto.ReadResponse>("read", request);
    return { id: answer.getId(), outs: plain(answer.getProperties()), inputs: plain(answer.getInputs()) };
  }

  async update(
    kind: string,
    id: string,
    olds: Props,
    news: Props,
    options: { preview?: boolean; timeout?: number } = {},
  ) {
    const request = message(proto.UpdateRequest, { urn: resourceUrn(kind), id, olds, news, ...options });
    return { outs: plain((await this.call<proto.UpdateResponse>("update", request)).getProperties()) };
  }

  async delete(kind: string, id: string, properties: Props, timeout?: number): Promise<void> {
    await this.call("delete", message(proto.DeleteRequest, { urn: resourceUrn(kind), id, properties, timeout }));
  }

  diffConfig(urn: string, olds: Props, news: Props): Promise<proto.DiffResponse> {
    return this.call("diffConfig", message(proto.DiffRequest, { urn, olds, news }));
  }

  async invoke(name: string, args: Props) {
    const tok = name.includes(":") ? name : `consortium:index:${name}`;
    const answer = await this.call<proto.InvokeResponse>("invoke", message(proto.InvokeRequest, { tok, args }));
    return { result: plain(answer.getReturn()), failures: answer.toObject().failuresList };
  }

  /** The results of a list. @param until ends it early: called with each item */
  list(
    kind: string,
    query: Props = {},
    fields: Partial<Pick<proto.ListRequest.AsObject, "limit" | "pageSize" | "continuationToken">> = {},
    until: (name: string) => boolean = () => false,
  ): Promise<Listed> {
    const request = message(proto.ListRequest, { token: `consortium:index:${kind}`, query, ...fields });
    const stream = this.#client.list(request, this.metadata);
    const listed: Listed = { items: [], next: "", computed: false };
    return new Promise((resolve, reject) => {
      stream.on("data", (response: proto.ListResponse) => {
        const result = response.getResult()?.toObject();
        if (result) listed.items.push(result);
        listed.next = response.getContinuation()?.getContinuationToken() ?? listed.next;
        listed.computed ||= response.hasComputed();
        if (result && until(result.name)) stream.cancel();
      });
      stream.on("end", () => resolve(listed));
      stream.on("error", (error: ServiceError) => reject(failedOf(error) as unknown as Error));
    });
  }

  /** The providers of another tool that it knows, and the mapping of one. */
  async mapping(key: string, provider: string): Promise<{ providers: string[]; provider: string; data: string }> {
    const keys = await this.call<proto.GetMappingsResponse>("getMappings", message(proto.GetMappingsRequest, { key }));
    const request = message(proto.GetMappingRequest, { key, provider });
    const answer = await this.call<proto.GetMappingResponse>("getMapping", request);
    const data = Buffer.from(answer.getData_asU8()).toString();
    return { providers: keys.getProvidersList(), provider: answer.getProvider(), data };
  }

  cancel(): Promise<unknown> {
    return this.call("cancel", new Empty());
  }

  /** @param regular whether the engine ends it after a run, rather than that it is killed */
  close(regular = true): void {
    this.#client.close();
    this.#end(regular);
  }
}
