import { createServer, type Server } from "node:http";
import { createServer as createSecureServer } from "node:https";
import fastify, { type FastifyInstance, type FastifyReply } from "fastify";
import { requireKey } from "./auth";
import { acceptJson } from "./bodies";
import { type Call, type CallLog, type InFlight, masked, routeOf } from "./calls";
import type { Context } from "./context";
import { serve } from "./crud";
import { Refusal } from "./errors";
import type { FaultRule, Faults } from "./faults";
import type { OpenLedger } from "./ledger/open";
import { refuseSocket } from "./ledger/sockets";
import { isSilent, spoil, statusOf, strike, type Stage } from "./mishaps";
import type { TlsOptions } from "./options";
import { credential } from "./routes/appcreds";
import { consortium } from "./routes/consortia";
import { environment } from "./routes/environments";
import { membership } from "./routes/memberships";
import { node, nodeRoutes } from "./routes/nodes";
import { runtimeRoutes } from "./routes/runtime";
import { tetherRoutes } from "./routes/tether";

declare module "fastify" {
  interface FastifyRequest {
    call: Call | undefined;
    fault: FaultRule | undefined;
  }
}

export interface Parts {
  context: Context;
  log: CallLog;
  inFlight: InFlight;
  faults: Faults;
  stage: Stage;
  logging: boolean;
  tls: TlsOptions | undefined;
  ledger: OpenLedger | undefined;
  /** Collects the patterns of all routes. */
  routes: Set<string>;
}

/** The HTTP server with all its routes, not yet listening. */
export async function buildApp(parts: Parts): Promise<{ app: FastifyInstance; server: Server }> {
  const { context, routes } = parts;
  const keepAliveTimeout = 72_000;
  const server: Server = parts.tls
    ? createSecureServer({ ...parts.tls, keepAliveTimeout })
    : createServer({ keepAliveTimeout });
  const app = fastify({
    logger: parts.logging && { redact: ["req.headers.authorization"], hooks: { streamWrite: inAscii } },
    exposeHeadRoutes: false,
    routerOptions: { ignoreTrailingSlash: true },
    frameworkErrors: (error, _request, reply) => void refuse(reply, 400, error.message),
    clientErrorHandler: (error, socket) => refuseSocket(socket, garbled(error)),
    serverFactory(handler) {
      if (parts.ledger) parts.ledger.attach(server, handler);
      else server.on("request", handler);
      return server;
    },
  });
  app.decorateRequest("organization", undefined);
  app.decorateRequest("call", undefined);
  app.decorateRequest("fault", undefined);
  app.addHook("onRoute", ({ url }) => void routes.add(routeOf(url)));
  acceptJson(app);
  watch(app, parts);
  app.setNotFoundHandler((request, reply) => refuse(reply, 404, `There is no ${request.method} ${request.url} here.`));
  app.setErrorHandler((error, request, reply) => {
    if (error instanceof Refusal) return refuse(reply, error.status, error.message);
    const { statusCode = 500, message } = error as { statusCode?: number; message: string };
    if (statusCode >= 500) request.log.error(error);
    return refuse(reply, statusCode, message);
  });

  runtimeRoutes(app, context);
  await app.register(
    (api, _options, done) => {
      requireKey(api, context);
      for (const row of [consortium, membership, environment, node, credential]) serve(api, context, row);
      nodeRoutes(api, context);
      tetherRoutes(api, context);
      done();
    },
    { prefix: "/api/v1" },
  );
  await app.ready();
  return { app, server };
}

/** Everything that happens to every call: it is logged, counted, delayed, and maybe hit by a fault. */
function watch(app: FastifyInstance, { context, log, inFlight, faults, stage }: Parts): void {
  app.addHook("onRequest", async (request, reply) => {
    request.call = log.start(request, context.clock());
    inFlight.enter();
    reply.raw.once("close", () => inFlight.leave());
    const { latency } = context.settings.timing;
    if (latency > 0) await stage.pause(latency);
  });
  app.addHook("preValidation", async (request, reply) => {
    const { call } = request;
    if (!call) return undefined;
    call.body = masked(request.body);
    request.fault = faults.hit(call);
    if (!request.fault) return undefined;
    call.fault = request.fault.kind;
    return strike(request.fault, stage, request, reply);
  });
  app.addHook("onSend", async (request, reply, payload) => {
    const { call, fault } = request;
    // noted before the answer leaves, so that whoever has got it finds the status in the log
    if (call && !isSilent(fault)) call.status = statusOf(fault, reply);
    return fault ? spoil(fault, reply, payload) : payload;
  });
}

function refuse(reply: FastifyReply, status: number, errorMessage: string): FastifyReply {
  return reply.code(status).send({ errorMessage });
}

/** JSON that a terminal can show: it allows characters that move the cursor or turn the direction of writing. */
const inAscii = (json: string): string =>
  json.replace(/[^\n -~]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** What comes is no HTTP. */
function garbled({ code, message }: NodeJS.ErrnoException): Refusal {
  if (code === "HPE_HEADER_OVERFLOW") return new Refusal(431, "The headers are too long.");
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return new Refusal(408, "The request did not come in time.");
  return new Refusal(400, `The request is no HTTP: ${message}.`);
}
