import { readdirSync, readFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { extname, join } from "node:path";
import type { Duplex } from "node:stream";
import fastify, { type FastifyInstance, type FastifyReply } from "fastify";
import { type WebSocket, WebSocketServer } from "ws";
import { printableLines, UserError } from "pulumi-consortium/internal/console";
import type { Section, Watch } from "../protocol";
import { type Access, isSame, Refused } from "./access";
import { act } from "./actions";
import type { Live, Page } from "./live";
import type { Observer, ObserverOptions } from "./observer";

interface Parts {
  access: Access;
  live: Live;
  observer: Observer;
  options: ObserverOptions;
  /** Callers with the service's key may request a link. */
  apiKey: string;
}

/** Headers that restrict the page to its own files and its own server. */
const headers = (host: string) => ({
  "content-security-policy":
    `default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self' ws://${host}; ` +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "cache-control": "no-store",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=()",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
});

/** The console's own HTTP server. Every request and WebSocket goes through `access` first. */
export function buildApp(parts: Parts): FastifyInstance {
  const { access, options, observer, live } = parts;
  const assets = readAssets();
  const app = fastify({
    exposeHeadRoutes: false,
    bodyLimit: 65_536,
    forceCloseConnections: true,
    // Hooks do not run for malformed paths.
    frameworkErrors: (_error, _request, reply: FastifyReply) => {
      void reply.code(400).headers(headers("")).send({ error: "This page does not exist." });
    },
  });
  const dropPages = pages(app, parts);
  app.addHook("onRequest", ({ headers, method, routeOptions }, _reply, done) => {
    access.check(headers, method !== "GET" && routeOptions.url !== linksPath);
    done();
  });
  app.addHook("onSend", async (request, reply) => void reply.headers(headers(request.headers.host ?? "")));
  app.setErrorHandler((error: Error & { statusCode?: number }, { headers }, reply) => {
    const status = error instanceof Refused ? error.status : (error.statusCode ?? 500);
    const asPage = headers.accept?.includes("text/html");
    if (asPage) return reply.code(status).type("text/html").send(note(error.message, wayIn));
    return reply
      .code(status)
      .type(json)
      .send(shownJson({ error: error.message }));
  });
  app.setNotFoundHandler((_request, reply) =>
    reply.code(404).type("text/html").send(note("This page does not exist.")),
  );
  signingIn(app, parts);

  void app.register(
    (inner, _options, done) => {
      inner.addHook("onRequest", ({ headers }, _reply, next) => {
        access.checkSite(headers);
        if (access.sessionOf(headers) === undefined) throw new Refused(401, "You are signed out.");
        next();
      });
      inner.get("/", (_request, reply) => {
        const { type, content } = assets.get("index.html")!;
        return reply.type(type).send(content);
      });
      inner.get("/assets/:name", (request, reply) => {
        const asset = assets.get((request.params as { name: string }).name);
        if (!asset) throw new Refused(404, "This file does not exist.");
        return reply.type(asset.type).send(asset.content);
      });
      inner.post("/api/sign-out", (request, reply) => {
        dropPages(request.headers);
        return reply.header("set-cookie", access.signOut(request.headers)).send({});
      });
      inner.post("/api/:action", async (request, reply) => {
        const { action } = request.params as { action: string };
        const answer = (await act(action, request.body, options, observer)) ?? {};
        observer.forget();
        live.refresh();
        return reply.type(json).send(shownJson(answer));
      });
      done();
    },
    { prefix: access.place },
  );
  return app;
}

const linksPath = "/links";
const wayIn = "<code>npm start</code> prints a new link, and so does every <code>consortium console</code>.";

/** Signing in with a one-time link, and new links for callers with the key. */
function signingIn(app: FastifyInstance, { access, apiKey, observer }: Parts): void {
  app.get("/", (_request, reply) =>
    reply
      .code(401)
      .type("text/html")
      .send(note("Open the console by its link, which works once, within ten minutes.", wayIn)),
  );
  app.post(linksPath, ({ headers }, reply) => {
    const isKeyHolder = isSame(headers.authorization ?? "", `Bearer ${apiKey}`);
    if (headers.origin !== undefined || !isKeyHolder) throw new Refused(401, "A new link needs the service's API key.");
    return reply.send({ link: `http://${headers.host}/sign-in/${access.newLink()}` });
  });
  app.get("/sign-in/:code", (request, reply) => {
    const { purpose, "sec-purpose": secPurpose } = request.headers;
    const html = reply.type("text/html");
    if ([purpose, secPurpose].some((one) => String(one).includes("prefetch"))) return reply.code(403).send();
    try {
      const cookie = access.signIn((request.params as { code: string }).code);
      observer.look("maps").catch(() => undefined); // so that it is ready when the page asks
      // This page redirects, because browsers do not send a strict cookie after a click on a link elsewhere.
      const next = `<meta http-equiv="refresh" content="0; url=${access.place}/">`;
      return html.header("set-cookie", cookie).send(note("Signing in …", "", next));
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      return html.code(error.status).send(note(error.message, wayIn));
    }
  });
}

/** A page with one message. Messages come from this file and from `Refused`, and never contain input. */
const note = (text: string, more = "", head = "") =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">` +
  `<title>Consortium console</title><link rel="icon" href="data:,">${head}</head><body><main><h1>Consortium console</h1><p>${text}</p><p>${more}</p></main></body></html>`;

/** WebSockets of the pages. @returns a function that closes a session's WebSockets */
function pages(app: FastifyInstance, { access, live }: Parts): (headers: IncomingMessage["headers"]) => void {
  const sockets = new WebSocketServer({ noServer: true, maxPayload: 16_384 });
  const open = new Map<WebSocket, string>();
  app.addHook("preClose", (done) => {
    for (const page of open.keys()) page.terminate(); // closing the server waits for them
    done();
  });
  app.server.on("upgrade", (request, socket: Duplex, head) => {
    try {
      access.check(request.headers, true);
      access.checkSite(request.headers);
      const session = access.sessionOf(request.headers);
      if (session === undefined || request.url !== `${access.place}/live`) throw new Refused(401, "Unauthorized");
      sockets.handleUpgrade(request, socket, head, (page) => {
        open.set(page, session);
        const looking: Page = { watching: new Set(), send: (shown) => page.send(shownJson(shown)) };
        live.join(looking);
        page.on("message", (data) => live.watch(looking, sectionsIn((data as Buffer).toString())));
        page.on("error", () => page.terminate());
        page.on("close", () => {
          live.leave(looking);
          open.delete(page);
        });
      });
    } catch (error) {
      const status = error instanceof Refused ? error.status : 500;
      socket.end(`HTTP/1.1 ${status} Refused\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
    }
  });
  return (headers) => {
    const session = access.sessionOf(headers);
    for (const [page, own] of open) if (own === session) page.close(4401, "signed out");
  };
}

/** JSON for pages: foreign text changes no writing direction, wherever a page shows it. A new secret stays as it is. */
export const shownJson = (value: unknown): string =>
  JSON.stringify(value, (key, one: unknown) =>
    typeof one === "string" && key !== "secret" ? printableLines(one) : one,
  );

const json = "application/json; charset=utf-8";

const mostSections = 20;

function sectionsIn(text: string): Section[] {
  try {
    const { watch } = JSON.parse(text) as Partial<Watch>;
    return Array.isArray(watch) ? watch.filter((one) => typeof one === "string").slice(0, mostSections) : [];
  } catch {
    return [];
  }
}

/** The page, built by `npm run build`. It is self-contained and requests nothing from other sites. */
const folder = join(__dirname, "..", "page");

const types: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** The files of the page by name. @throws Error if they are missing */
function readAssets(): Map<string, { type: string; content: Buffer }> {
  try {
    const names = readdirSync(folder).filter((name) => types[extname(name)] !== undefined);
    const content = (name: string) => ({ type: types[extname(name)]!, content: readFileSync(join(folder, name)) });
    const all = new Map(names.map((name) => [name, content(name)]));
    if (all.has("index.html")) return all;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  throw new UserError("not-installed", `The console's page is not in ${folder}: run \`npm run build\`.`);
}
