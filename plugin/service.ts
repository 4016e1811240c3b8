import * as proto from "@pulumi/pulumi/proto/provider_pb";
import {
  type handleUnaryCall,
  type sendUnaryData,
  type ServerUnaryCall,
  type ServerWritableStream,
} from "@grpc/grpc-js";
import { type PluginAttach } from "@pulumi/pulumi/proto/plugin_pb";
import { type IResourceProviderServer } from "@pulumi/pulumi/proto/provider_grpc_pb";
import { Empty } from "google-protobuf/google/protobuf/empty_pb";
import { below } from "../provider/api/trace";
import { proveSeen } from "../provider/core/organization";
import { Sessions } from "../provider/pulumi/sessions";
import { about, handshake } from "./about";
import { Components } from "./components";
import { checkConfig, Configuration, diffConfig, failures } from "./configuration";
import { list } from "./list";
import { calledIn, definitionOf, Engine, refusal, Resource } from "./resource";
import { type Props } from "../provider/core/definition";
import { UserError } from "../provider/errors";
import { pluginPrefix, terraformProvider } from "../provider/constants";
import { checkArguments, type Lookup, lookups } from "../provider/lookups";
import { fromEngine, hasUnknown, toEngine } from "./properties";

/** Answers a call with a function of its request. Thrown errors reach the user as messages. */
const unaryOf =
  (shown: (error: unknown, request: object) => Error) =>
  <Q, A>(answer: (request: Q) => A | Promise<A>): handleUnaryCall<Q, A> =>
  (call: ServerUnaryCall<Q, A>, callback: sendUnaryData<A>) =>
    void below(traceOf(call), async () => answer(call.request)).then(
      (done) => callback(null, done),
      (error: unknown) => callback(isStatus(error) ? error : refusal(shown(error, call.request as object))),
    );

/** Pulumi's own trace, if it has one. */
const traceOf = ({ metadata }: Pick<ServerUnaryCall<unknown, unknown>, "metadata">): string | undefined =>
  metadata.get("traceparent")[0]?.toString();

const isStatus = (error: unknown): error is { code: number; details: string } =>
  typeof (error as { details?: unknown }).details === "string";

/** The provider plugin's side of the engine's protocol, for one provider. The engine starts one process for each. */
export class ProviderService {
  #engine?: Engine;
  #interrupt = new AbortController();
  readonly #components = new Components(() => this.#engine?.address);
  readonly #found = new Map<string, string>();
  #sessions = this.#start(new Configuration("", {}));

  /** @param engineAddress the engine's address; otherwise `Attach` or `Handshake` tells it */
  constructor(engineAddress?: string) {
    if (engineAddress !== undefined) this.#engine = new Engine(engineAddress);
  }

  /** Call when the engine is gone: nothing is sent from now on. */
  end(): void {
    this.#interrupt.abort();
    void this.#sessions.end();
  }

  /** Call when the engine ends the process after a run. */
  left(): void {
    this.#sessions.left();
  }

  /** Call when the engine is about to close the connection. */
  leave(): void {
    this.#components.leave();
  }

  /** New sessions with these settings. Earlier cancellations do not affect them. */
  #start(configuration: Configuration): Sessions {
    const interrupt = (this.#interrupt = new AbortController());
    return new Sessions({
      settings: () => configuration.settings,
      say: (message) => void this.#engine?.show(message, "info"),
      interrupted: () => interrupt.signal,
    });
  }

  #resource(request: { getUrn(): string }): Resource {
    return new Resource(request.getUrn(), this.#sessions, this.#engine, this.#found);
  }

  #configure(request: proto.ConfigureRequest): proto.ConfigureResponse {
    this.#sessions = this.#start(Configuration.of(request));
    const response = new proto.ConfigureResponse();
    response.setAcceptsecrets(true);
    response.setSupportspreview(true);
    response.setSupportsAutonamingConfiguration(true);
    return response;
  }

  #handshake(request: proto.ProviderHandshakeRequest): proto.ProviderHandshakeResponse {
    this.#engine = new Engine(request.getEngineAddress());
    return handshake();
  }

  /** Sends the existing objects of a type as they are found. Ends early if nobody waits for them any more. */
  async #list(call: ServerWritableStream<proto.ListRequest, proto.ListResponse>): Promise<void> {
    const { request } = call;
    const definition = definitionOf(request.getToken());
    const { props: query, paths } = fromEngine(request.getQuery());
    this.#sessions.hide(query, paths);
    if (hasUnknown(query))
      return void call.write(new proto.ListResponse().setComputed(new proto.ListResponse.Computed()));
    const session = this.#sessions.current();
    const { signal } = this.#interrupt;
    await session.client.requireOrganization();
    await proveSeen(session);
    const page = list(session, definition, {
      query,
      limit: request.getLimit(),
      pageSize: request.getPageSize(),
      token: request.getContinuationToken(),
    });
    for await (const { id, name } of page.items) {
      if (call.cancelled) return;
      if (signal.aborted) throw new UserError("interrupted", "interrupted while listing.");
      const result = new proto.ListResponse.Result();
      result.setId(id);
      result.setName(name);
      call.write(new proto.ListResponse().setResult(result));
    }
    const next = page.next();
    if (next === undefined) return;
    const continuation = new proto.ListResponse.Continuation();
    continuation.setContinuationToken(next);
    call.write(new proto.ListResponse().setContinuation(continuation));
  }

  #traced<T>(verb: string, token: string, work: () => Promise<T>): Promise<T> {
    return this.#sessions.traced(verb, token.slice(token.lastIndexOf(":") + 1), undefined, work);
  }

  readonly #unary = unaryOf((error, request) =>
    this.#sessions.shown(error, "getUrn" in request ? calledIn((request as proto.CheckRequest).getUrn()) : undefined),
  );

  /** The calls by their names in Pulumi's protocol, without those that it does not need. */
  readonly calls = {
    handshake: this.#unary((request) => this.#handshake(request)),
    attach: this.#unary((request: PluginAttach) => {
      this.#engine = new Engine(request.getAddress());
      return new Empty();
    }),
    ...about,
    checkConfig: this.#unary(checkConfig),
    diffConfig: this.#unary(diffConfig),
    configure: this.#unary((request) => this.#configure(request)),
    check: this.#unary((request) => this.#resource(request).check(request)),
    diff: this.#unary((request) => this.#resource(request).diff(request)),
    create: this.#unary((request) => this.#resource(request).create(request)),
    read: this.#unary((request) => this.#resource(request).read(request)),
    update: this.#unary((request) => this.#resource(request).update(request)),
    delete: this.#unary(async (request) => {
      await this.#resource(request).delete(request);
      return new Empty();
    }),
    invoke: this.#unary((request) => this.#traced("invoke", request.getTok(), () => invoke(request, this.#sessions))),
    list: (call: ServerWritableStream<proto.ListRequest, proto.ListResponse>) =>
      void below(traceOf(call), () => this.#traced("list", call.request.getToken(), () => this.#list(call))).then(
        () => call.end(),
        (error: unknown) => call.emit("error", refusal(this.#sessions.shown(error))),
      ),
    construct: this.#unary((request) => this.#components.construct(request)),
    cancel: this.#unary(() => {
      this.#interrupt.abort();
      return new Empty();
    }),
    getMapping: this.#unary(getMapping),
    getMappings: this.#unary(getMappings),
  } satisfies Partial<IResourceProviderServer>;
}

/** Whether Pulumi's converter from Terraform asks: this plugin knows the names of that provider's resources. */
const isFromTerraform = (request: { getKey(): string }): boolean => ["terraform", "tf"].includes(request.getKey());

function getMappings(request: proto.GetMappingsRequest): proto.GetMappingsResponse {
  const response = new proto.GetMappingsResponse();
  if (isFromTerraform(request)) response.setProvidersList([terraformProvider]);
  return response;
}

/** Without a provider, older converters ask for the only one. */
async function getMapping(request: proto.GetMappingRequest): Promise<proto.GetMappingResponse> {
  const response = new proto.GetMappingResponse();
  if (!isFromTerraform(request) || !["", terraformProvider].includes(request.getProvider())) return response;
  const { terraformMapping } = await import("./terraform.js");
  response.setProvider(terraformProvider);
  response.setData(new TextEncoder().encode(JSON.stringify(terraformMapping())));
  return response;
}

const lookupOf = (token: string): Lookup => {
  const found = Object.values<Lookup>(lookups).find(({ name }) => pluginPrefix + name === token);
  if (!found) throw new UserError("wrong-version", `This plugin has no function ${token}.`);
  return found;
};

/** Answers a lookup. A list is under its key, because functions return objects. */
async function invoke(request: proto.InvokeRequest, sessions: Sessions): Promise<proto.InvokeResponse> {
  const lookup = lookupOf(request.getTok());
  const args = fromEngine(request.getArgs());
  sessions.hide(args.props, args.paths);
  const { inputs, issues } = checkArguments(lookup, args.props);
  const response = new proto.InvokeResponse();
  response.setFailuresList(failures(issues, args));
  if (issues.length > 0) return response;
  const session = sessions.current();
  await session.client.requireOrganization();
  await proveSeen(session); // a key of another organization would list that organization's objects
  const found = await lookup.run(session.client, inputs);
  response.setReturn(toEngine(lookup.list === undefined ? (found as Props) : { [lookup.list]: found }));
  return response;
}
