import { hash, randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { parseCookie, stringifySetCookie } from "cookie";

/** Maximum number of links and of sessions; older ones end. */
const most = 32;
/** How long an unused link works (minutes). */
const linkLasts = 10;

const random = (bytes: number) => randomBytes(bytes).toString("base64url");
const digest = (text: string) => hash("sha256", text, "hex");

/** A refused request, with its status and a message. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/**
 * Controls access to the console: opening a one-time link sets a cookie. Browsers send cookies to every port of a host, so
 * the console is at a path that nobody can guess, and its cookie is for that path only.
 */
export class Access {
  readonly place = `/${random(12)}`;
  /** When each link expires. */
  readonly #links = new Map<string, number>();
  readonly #sessions = new Set<string>();
  #hosts = new Set<string>();
  #cookie = "";

  /** @param now a monotonic time in ms */
  constructor(private readonly now: () => number = () => performance.now()) {}

  /** Call this once the port is known. */
  at(port: number): void {
    this.#hosts = new Set([`127.0.0.1:${port}`, `localhost:${port}`]);
    this.#cookie = `consortium-console-${port}`;
  }

  /** The code of a new link. */
  newLink(): string {
    const code = random(24);
    this.#links.set(digest(code), this.now() + linkLasts * 60_000);
    limit(this.#links);
    return code;
  }

  /** The cookie of a new session, for a code that is not too old and was not used before. */
  signIn(code: string): string {
    const known = digest(code);
    const expires = this.#links.get(known) ?? -Infinity;
    this.#links.delete(known);
    if (this.now() >= expires)
      throw new Refused(401, `This link was already used, is older than ${linkLasts} minutes, or was never valid.`);
    const session = random(32);
    this.#sessions.add(digest(session));
    limit(this.#sessions);
    return this.#setCookie(session);
  }

  /** Ends the session. @returns the header that deletes the cookie */
  signOut(headers: IncomingHttpHeaders): string {
    this.#sessions.delete(this.sessionOf(headers) ?? "");
    return this.#setCookie("", 0);
  }

  /** Identifies the session of a request; undefined if it has none. */
  sessionOf({ cookie = "" }: IncomingHttpHeaders): string | undefined {
    const session = parseCookie(cookie)[this.#cookie];
    const known = session === undefined ? "" : digest(session);
    return this.#sessions.has(known) ? known : undefined;
  }

  /**
   * Refuses requests from other pages in the browser, under any host name.
   * @param fromPage whether only the console's own page may send the request, which needs an Origin header
   */
  check({ host = "", ...headers }: IncomingHttpHeaders, fromPage: boolean): void {
    const { origin } = headers;
    if (!this.#hosts.has(host)) throw new Refused(403, "The Host header does not name this console.");
    const own = origin === `http://${host}`;
    if (origin === undefined ? fromPage : !own) throw new Refused(403, "Only the console's own page may request this.");
  }

  /** Refuses requests from other sites. Old browsers do not send this header. */
  checkSite({ "sec-fetch-site": site }: IncomingHttpHeaders): void {
    if (site === undefined || site === "same-origin" || site === "none") return;
    throw new Refused(403, "Another page sent you here. Open the console by its link.");
  }

  #setCookie(value: string, maxAge?: number): string {
    const lasts = maxAge === undefined ? {} : { maxAge };
    return stringifySetCookie(this.#cookie, value, { path: this.place, httpOnly: true, sameSite: "strict", ...lasts });
  }
}

/** Removes the oldest one beyond the maximum. */
function limit(all: Pick<Map<string, unknown>, "keys" | "size" | "delete">): void {
  const [oldest] = all.keys();
  if (all.size > most) all.delete(oldest!);
}

/** Compares texts in constant time. */
export const isSame = (a: string, b: string): boolean =>
  timingSafeEqual(Buffer.from(digest(a), "hex"), Buffer.from(digest(b), "hex"));
