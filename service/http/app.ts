import { STATUS_CODES, type Server } from "node:http";
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest, LogController } from "fastify";
import type { Context } from "./context";
import { carryOut, type FaultRule, type Faults, isActed, type Outages, statusOf } from "../faults";
import { accountRoutes } from "../routes/account";
import { actionRoutes } from "../routes/actions";
import { consortium, consortiumZone, environmentZone, invitation, membership, verification } from "../routes/consortia";
import { configuration, credential, environment, releaseRoutes } from "../routes/environments";
import { node, nodeRoutes } from "../routes/nodes";
import { destinationRoutes, identityRoutes, service, serviceEndpoints } from "../routes/services";
import { serve } from "../routes/crud";
import { targetRoutes } from "../routes/target-networks";
import { embeddedRoutes, observerHeader } from "../routes/embedded";
import { tetherRoutes } from "../routes/tether";
import type { ResolvedOptions } from "../settings/options";
import { callerOf, requireKey } from "./authentication";
import { acceptJson } from "./bodies";
import { type Call, type CallLog, type InFlight, routeOf } from "./call-log";
import { isFull, Refusal, unwritten } from "../errors";
import { refuseStrangers } from "./host-check";
import { createHttpServer, scope } from "./server";

declare module "fastify" {
  interface FastifyRequest {
    call: Call | undefined;
    fault: FaultRule | undefined;
    /** The number of failed writes of the store when the call arrived. */
    failures: number;
  }
  interface FastifyContextConfig {
    /** Whether calls of this route are not logged, counted or hit by faults. */
    quiet?: boolean;
  }
}

export interface Parts {
  context: Context;
  log: CallLog;
  inFlight: InFlight;
  faults: Faults;
  outages: Outages;
  options: Pick<ResolvedOptions, "host" | "allowHosts" | "allowOrigins" | "tls" | "log">;
  /** Collects the patterns of all routes. */
  routes: Set<string>;
}

/** The kinds in the API's specification, and others that other clients use. */
const specified = [consortium, membership, environment, node, credential];
const beyond = [invitation, consortiumZone, environmentZone, configuration, service];

/** Bytes of a body to the API. Messages to nodes, which may be batches, may be longer. */
const mostSent = 300_000;

export async function buildApp(parts: Parts): Promise<{ app: FastifyInstance; server: Server }> {
  const { context, routes, options } = parts;
  const server = createHttpServer(options.tls, context.settings.callLimits);
  const app = fastify({
    logger: options.log && { redact: ["req.headers.authorization"], hooks: { streamWrite: inAscii } },
    logController: new LogController({
      disableRequestLogging: ({ headers }: FastifyRequest) => headers[observerHeader] !== undefined,
    }),
    exposeHeadRoutes: false,
    bodyLimit: Math.min(context.settings.callLimits.request, mostSent),
    routerOptions: { ignoreTrailingSlash: true },
    frameworkErrors: (error, _request, reply) => void refuse(reply, 400, error.message),
    serverFactory: (handler) => server.on("request", handler),
  });
  for (const name of ["organization", "call", "fault"]) app.decorateRequest(name, undefined);
  app.decorateRequest("failures", 0);
  app.addHook("onRoute", ({ url }) => void routes.add(routeOf(url)));
  acceptJson(app);
  refuseStrangers(app, options);
  watch(app, parts);
  app.setNotFoundHandler((request, reply) => refuse(reply, 404, `There is no ${request.method} ${request.url} here.`));
  app.setErrorHandler((error, request, reply) => {
    if (error instanceof Refusal && error.retryAfter !== undefined) reply.header("retry-after", error.retryAfter);
    if (error instanceof Refusal && isPlain(context, request, error))
      return refusePlainly(request, reply, error.status);
    if (error instanceof Refusal) return refuse(reply, error.status, error.message);
    const { statusCode = 500, message, code } = error as { statusCode?: number; message: string; code?: string };
    if (error instanceof RangeError && code === undefined) return refuse(reply, 400, "The body is nested too deeply.");
    if (isFull(error)) return refuse(reply, 507, unwritten("This cannot be written", error).message);
    if (statusCode < 500) return refuse(reply, statusCode, message);
    const hasGone = code === "ERR_STREAM_PREMATURE_CLOSE" && !request.socket.writable; // the caller disconnected before its answer
    if (!hasGone) {
      request.log.error(error);
      context.report(error);
    }
    return refuse(reply, statusCode, "The service failed to do this; its log says why.");
  });

  app.get("/health", { config: { quiet: true } }, () => ({ status: "ok" }));
  await context.backend.serveNodes(app);
  serviceEndpoints(app, context);
  await targetRoutes(app, context);
  const api = (own: FastifyInstance) => {
    requireKey(own, context);
    for (const row of specified) serve(own, context, row);
    nodeRoutes(own, context);
    tetherRoutes(own, context);
    embeddedRoutes(own, context, parts);
    void scope(own, "extended", (others) => extend(others, context));
  };
  await scope(app, "api", api, "/api/v1");
  await app.ready();
  return { app, server };
}

/** Adds routes beyond the specification. Without the setting `extended`, they are unknown (404). */
function extend(app: FastifyInstance, context: Context): void {
  app.addHook("onRequest", (request, _reply, done) => {
    if (!context.settings.quirks.extended && !request.fault) throw nothingAt(request);
    done();
  });
  for (const row of beyond) serve(app, context, row);
  accountRoutes(app, context);
  actionRoutes(app, context);
  verification(app, context);
  releaseRoutes(app, context);
  identityRoutes(app, context);
  destinationRoutes(app, context);
}

const nothingAt = ({ method, url }: FastifyRequest) => new Refusal(404, `There is no ${method} ${url} here.`);

/** Logs, counts and delays every call, and applies faults. */
function watch(app: FastifyInstance, { context, log, inFlight, faults, outages }: Parts): void {
  app.addHook("onRequest", async (request, reply) => {
    request.failures = context.store.failures;
    void reply.header("date", new Date(context.clock()).toUTCString()); // the service's own clock, as in its objects
    if (request.routeOptions.config.quiet || request.headers[observerHeader] !== undefined) return;
    request.call = log.start(request, context.clock());
    inFlight.enter();
    reply.raw.once("close", () => inFlight.leave());
    const { latency } = context.settings.timing;
    if (latency > 0) await outages.pause(latency);
    const caller = callerOf(context, request);
    request.call.organization = caller?.fields.name;
    request.fault = faults.hit(request.call, caller?.id);
    if (request.fault) request.call.fault = request.fault.kind;
    else if (request.is404) throw nothingAt(request); // its body is not read
  });
  app.addHook("preValidation", async (request, reply) => {
    const { call, fault } = request;
    if (call && request.organization) log.keepBody(call, request.body);
    if (!fault || isActed(fault)) return undefined;
    const answer = await carryOut(fault, outages, reply);
    return answer === undefined ? undefined : reply.send(answer);
  });
  app.addHook("onSend", async (request, reply, payload) => {
    const { call, fault } = request;
    const kept = await onDisk(request, reply, context.store);
    if (kept !== undefined) return kept;
    // before the answer is sent, so that its receiver finds the status in the log
    if (call) call.status = statusOf(fault, reply);
    return fault && isActed(fault) ? carryOut(fault, outages, reply, payload) : payload;
  });
}

/** Waits until all changes are on disk. Returns the answer to send instead if that fails. */
async function onDisk({ failures }: FastifyRequest, reply: FastifyReply, store: Context["store"]) {
  try {
    await store.synced(failures);
    return undefined;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    void reply.code(error.status).type("application/json");
    return JSON.stringify({ errorMessage: error.message });
  }
}

function refuse(reply: FastifyReply, status: number, errorMessage: string): FastifyReply {
  return reply.code(status).send({ errorMessage });
}

/** Whether the API refuses a call without JSON. */
const isPlain = ({ settings }: Context, { url }: FastifyRequest, { status }: Refusal): boolean =>
  settings.quirks.plainErrors && [401, 404].includes(status) && /^\/api\/v1\/(?!embedded)/.test(url);

function refusePlainly({ method }: FastifyRequest, reply: FastifyReply, status: number): FastifyReply {
  const text = status === 404 && method !== "GET" ? "" : STATUS_CODES[status]!;
  return reply.code(status).type("text/plain").send(text);
}

/** Escapes all but ASCII in JSON, because other characters may move a terminal's cursor or reverse its text. */
const inAscii = (json: string): string =>
  json.replace(/[^\n -~]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
