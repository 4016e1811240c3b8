import { Access } from "../../console/server/access";
import { type Console } from "../../console/server/console";
import { start } from "../service/helpers";
import { raw } from "../service/ledgers";
import { consoleOf, type Session, signIn, TestPage } from "./support";

const send = (url: string, headers: Record<string, string>, method = "GET") =>
  raw(url, headers, method === "POST" ? "{}" : "", method);

const opened = async () => {
  const { service } = await start();
  const console = await consoleOf(service);
  return { service, console, session: await signIn(console) };
};
const json = { "content-type": "application/json" };
const statusOf = async ({ place, cookie }: Session) => (await fetch(place, { headers: { cookie } })).status;
const signOut = ({ url: origin }: Console, { place, cookie }: Session) =>
  fetch(`${place}api/sign-out`, { method: "POST", headers: { ...json, cookie, origin }, body: "{}" });

test("a link works once; its cookie is limited to the page's own path and hidden from scripts", async () => {
  const { console } = await opened();
  const link = console.newLink();
  for (const name of ["purpose", "sec-purpose"]) {
    const prefetch = await fetch(link, { headers: { [name]: "prefetch" } });
    expect([prefetch.status, prefetch.headers.get("set-cookie")]).toEqual([403, null]);
  }
  const first = await fetch(link);
  const cookie = first.headers.get("set-cookie")!;
  expect(cookie).toMatch(/^consortium-console-\d+=[\w-]{43}; Path=\/[\w-]{16}; HttpOnly; SameSite=Strict$/);
  const second = await fetch(link);
  expect([second.status, second.headers.get("set-cookie")]).toEqual([401, null]);
  expect((await fetch(`${console.url}/sign-in/${"x".repeat(32)}`)).status).toBe(401);
});

test("an unused link works for ten minutes, and no longer", () => {
  let now = 5_000;
  const access = new Access(() => now);
  access.at(1);
  const [early, late] = [access.newLink(), access.newLink()];
  now += 10 * 60_000 - 1;
  expect(access.signIn(early)).toContain("HttpOnly");
  now += 1;
  expect(() => access.signIn(late)).toThrow("older than 10 minutes");
  now -= 60_000;
  expect(() => access.signIn(late)).toThrow("older than 10 minutes"); // it is gone
});

test("every request needs the cookie, the console's own host name and, for actions, its own origin", async () => {
  const { console, session } = await opened();
  const { place, cookie } = session;
  const own = { origin: console.url, cookie, ...json };
  const host = new URL(console.url).host;
  const statuses = async (rows: [string, Record<string, string>, string?][]) =>
    Promise.all(rows.map(async ([url, headers, method]) => (await send(url, headers, method)).status));
  expect(
    await statuses([
      [place, { cookie }],
      [`${place}assets/icon.svg`, { cookie }],
      [`${place}api/revoke-key`, own, "POST"], // reached, and told what is missing
    ]),
  ).toEqual([200, 200, 400]);
  expect(
    await statuses([
      [place, {}],
      [`${place}assets/icon.svg`, {}],
      [place, { cookie: cookie.replace(/.{4}$/, "AAAA") }],
      [`${place}api/revoke-key`, { origin: console.url, ...json }, "POST"],
    ]),
  ).toEqual([401, 401, 401, 401]);
  expect(
    await statuses([
      [place, { cookie, host: "console.example" }], // DNS rebinding
      [place, { cookie, host: host.replace("127.0.0.1", "127.0.0.1.example") }],
      [place, { cookie, host: "127.0.0.1:1" }],
      [console.newLink(), { host: "console.example" }],
      [place, { cookie, origin: "http://other.example" }],
      [place, { cookie, origin: "null" }],
      [place, { cookie, "sec-fetch-site": "cross-site" }],
      [place, { cookie, "sec-fetch-site": "same-site" }], // another port of this machine
      [`${place}api/sign-out`, { cookie, ...json }, "POST"], // no origin at all
      [`${place}api/sign-out`, { ...own, origin: "http://127.0.0.1:1" }, "POST"],
      [`${place}api/sign-out`, { ...own, origin: `https://${host}` }, "POST"],
    ]),
  ).toEqual(Array.from({ length: 11 }, () => 403));
  expect((await send(place, { cookie })).status).toBe(200); // nobody was signed out
});

test("WebSockets are checked in the same way", async () => {
  const { console, session } = await opened();
  const status = (headers: Record<string, string>, of: Session = session) => new TestPage(of, headers).answered();
  expect(await status({ origin: "http://other.example" })).toBe(403);
  expect(await status({ host: "console.example" })).toBe(403);
  expect(await status({ "sec-fetch-site": "same-site" })).toBe(403);
  expect(await status({ cookie: "" })).toBe(401);
  expect(await status({}, { ...session, place: `${console.url}/elsewhere/` })).toBe(401);
});

test("programs with the service's key can request a new link; web pages cannot", async () => {
  const { service, console } = await opened();
  const ask = (headers: Record<string, string>) => fetch(`${console.url}/links`, { method: "POST", headers });
  const authorization = `Bearer ${service.apiKey}`;
  expect((await ask({})).status).toBe(401);
  expect((await ask({ authorization: `${authorization}x` })).status).toBe(401);
  expect((await ask({ authorization, origin: console.url })).status).toBe(401);
  const { link } = (await (await ask({ authorization })).json()) as { link: string };
  await signIn(console, link);
});

test("the end of a session affects only its own pages and cookie", async () => {
  const { console, session } = await opened();
  const other = await signIn(console);
  const pages = [new TestPage(session), new TestPage(other)] as const;
  for (const page of pages) expect(await page.answered()).toBe(101);
  const ended = pages[0].closed();
  const response = await signOut(console, session);
  expect(response.headers.get("set-cookie")).toContain("Max-Age=0");
  expect(await ended).toBe(4401);
  expect([await statusOf(session), await statusOf(other)]).toEqual([401, 200]);
  expect(await new TestPage(session).answered()).toBe(401);
  pages[1].watch("network");
  await pages[1].has("network");
});

test("at most 32 sessions and 32 unused links exist: the oldest ones end", async () => {
  const { console, session } = await opened();
  const first = console.newLink();
  for (let link = 0; link < 32; link++) console.newLink();
  expect((await fetch(first)).status).toBe(401);
  const all: Session[] = [];
  for (let number = 0; number < 32; number++) all.push(await signIn(console));
  expect([await statusOf(session), await statusOf(all[0]!), await statusOf(all[31]!)]).toEqual([401, 200, 200]);
});

test("the page can load only its own files, and connect only to its own server", async () => {
  const { console, session } = await opened();
  const { headers } = await fetch(session.place, { headers: { cookie: session.cookie } });
  const policy = headers.get("content-security-policy")!;
  expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; /);
  expect(policy).not.toMatch(/unsafe|\*|https:/);
  expect(headers.get("referrer-policy")).toBe("no-referrer");
  expect(headers.get("x-frame-options")).toBe("DENY");
  expect(headers.get("cache-control")).toBe("no-store");
  const unreadable = await fetch(`${console.url}/%zz`);
  expect(await unreadable.json()).toEqual({ error: "This page does not exist." });
  expect(unreadable.headers.get("content-security-policy")).toMatch(/^default-src 'none'/);
  expect(new URL(console.url).hostname).toBe("127.0.0.1");
});

test("a browser that is not let in gets a page, and a program JSON", async () => {
  const { console, session } = await opened();
  const { place, cookie } = session;
  const get = async (url: string, headers: Record<string, string> = {}) => {
    const response = await fetch(url, { headers });
    return [response.status, response.headers.get("content-type")!.split(";")[0], await response.text()];
  };
  const page = (text: string) => expect.stringContaining(`<h1>Consortium console</h1><p>${text}`) as string;
  expect(await get(place, { accept: "text/html,*/*" })).toEqual([401, "text/html", page("You are signed out.")]);
  expect(await get(place)).toEqual([401, "application/json", JSON.stringify({ error: "You are signed out." })]);
  expect(await get(`${console.url}/`)).toEqual([401, "text/html", page("Open the console by its link")]);
  expect(await get(`${console.url}/nothing`)).toEqual([404, "text/html", page("This page does not exist.")]);
  const missing = JSON.stringify({ error: "This file does not exist." });
  expect(await get(`${place}assets/nothing.js`, { cookie })).toEqual([404, "application/json", missing]);
  expect(await get(place, { cookie, "sec-fetch-site": "none" })).toEqual([200, "text/html", expect.any(String)]);
});
