import { type Http } from "../../../provider/api/http";
import { type WireAnswer, type WireRequest } from "../../../provider/api/transport";
import { apiKey, failure, http, json, type Peer, peer, type Reply } from "../../support/peer";
import { virtualTime } from "../../support/virtual-time";

/* A token in place of the key in long runs, against a plain server that answers as each test says. */

const encoded = (part: object): string => Buffer.from(JSON.stringify(part)).toString("base64url");
const tokenOf = (claims: object = {}): string => `${encoded({ alg: "HS256" })}.${encoded(claims)}.signature`;
const hour = 3_600;

/** The service's answers to the n-th request for a token, and to calls with that token. */
interface Manner {
  token: (asked: number) => Reply;
  calls?: (sent: string) => Reply;
}

interface Seen extends Peer {
  /** How many times a token was asked for. */
  asked: () => number;
  /** The credentials of calls since the last look, each with the number of its calls. */
  sent: () => Record<string, number>;
}

async function service({ token, calls = () => json(200, {}) }: Manner): Promise<Seen> {
  let asked = 0;
  let counts: Record<string, number> = {};
  const server = await peer((response, seen, socket) => {
    const { url, headers } = server.requests[seen - 1]!;
    const bearer = headers.authorization!.replace("Bearer ", "");
    if (url.endsWith("/authtoken")) return token(++asked)(response, seen, socket);
    counts[bearer] = (counts[bearer] ?? 0) + 1;
    calls(bearer)(response, seen, socket);
  });
  const sent = (): Record<string, number> => {
    const seen = counts;
    counts = {};
    return seen;
  };
  return Object.assign(server, { asked: () => asked, sent });
}

/** Calls one after the other. */
async function call(client: Http, times: number): Promise<void> {
  for (let index = 0; index < times; index++) await client.request("GET", "/x");
}

/** Goes on with exactly this token. */
async function expectToken(client: Http, { sent }: Seen, claims: object): Promise<void> {
  sent();
  await call(client, 5);
  expect(sent()).toEqual({ [tokenOf(claims)]: 5 });
}

/** The call after which it is so, and those before. */
async function callUntil(client: Http, isSo: () => boolean): Promise<void> {
  while (!isSo()) await call(client, 1);
}

const given =
  (claims: object = {}) =>
  (asked: number): Reply =>
    json(200, { token: tokenOf({ ...claims, jti: asked }) });
const first = tokenOf({ jti: 1 });

test("a short run requests no token; a long one requests one with the key, and continues with it", async () => {
  const server = await service({ token: given() });
  const client = http(server.baseUrl);
  await call(client, 100);
  expect([server.asked(), server.sent()]).toEqual([0, { [apiKey]: 100 }]);
  await call(client, 200);
  expect([server.asked(), server.sent()]).toEqual([1, { [first]: 200 }]);
  const { method, headers, body } = server.requests.find(({ url }) => url.endsWith("/authtoken"))!;
  expect([method, headers.authorization, JSON.parse(body)]).toEqual(["POST", `Bearer ${apiKey}`, { apikey: apiKey }]);
});

test("clients with deadlines of their own share it", async () => {
  const server = await service({ token: given() });
  const client = http(server.baseUrl);
  for (let index = 0; index < 200; index++) await client.until({ at: Infinity, limit: "" }).request("GET", "/x");
  expect(server.asked()).toBe(1);
});

const refusals: [string, Reply][] = [
  ...[400, 401, 403, 404, 405, 409, 501].map((status): [string, Reply] => [`HTTP ${status}`, json(status, {})]),
  ["a redirection", (response) => void response.writeHead(302, { location: "/login" }).end()],
  ["a page", (response) => void response.writeHead(200).end("<html>")],
  ["no token", json(200, { ok: true })],
  ["a token that cannot be sent", json(200, { token: "two words\r\n and more" })],
  ["a token that is good for a minute", json(200, { token: tokenOf({ iat: 1_000, exp: 1_060 }) })],
  ["a redirection with a token", json(302, { token: tokenOf() })],
  ["a token of several organizations", json(200, { token: tokenOf({ orgs: ["o1", "o2"] }) })],
];

test.each(refusals)("a service that answers with %s is asked once, and gets the key", async (_, reply) => {
  const server = await service({ token: () => reply });
  await call(http(server.baseUrl), 350);
  expect([server.asked(), server.sent()]).toEqual([1, { [apiKey]: 350 }]);
});

test.each([429, 500, 503, 504])("after HTTP %i it is asked again, once in a hundred calls", async (status) => {
  const server = await service({ token: (asked) => (asked < 3 ? json(status, {}) : given()(asked)) });
  const client = http(server.baseUrl);
  await call(client, 299);
  expect(server.asked()).toBe(2);
  await callUntil(client, () => server.asked() === 3);
  await expectToken(client, server, { jti: 3 });
});

test.each([
  ["an hour, if it does not say", {}, hour],
  ["as long as it says", { iat: 5_000, exp: 5_600 }, 600],
  ["two minutes, the least", { iat: 5_000, exp: 5_120 }, 120],
])("it is renewed before it ends: %s", async (_, claims, seconds) => {
  const time = virtualTime();
  const server = await service({ token: given(claims) });
  const client = http(server.baseUrl, {}, { clock: time });
  await call(client, 300);
  expect(server.asked()).toBe(1);
  await time.sleep(seconds * 850);
  await call(client, 20);
  expect(server.asked()).toBe(1);
  await time.sleep(seconds * 100);
  await callUntil(client, () => server.asked() === 2);
  await expectToken(client, server, { ...claims, jti: 2 });
});

test("a token that has ended is not sent, and few calls do not renew it", async () => {
  const time = virtualTime();
  const server = await service({ token: given() });
  const client = http(server.baseUrl, {}, { clock: time });
  await callUntil(client, () => server.asked() === 1);
  await call(client, 10);
  await time.sleep(hour * 1_000);
  server.sent();
  await call(client, 20);
  expect([server.asked(), server.sent()]).toEqual([1, { [apiKey]: 20 }]);
});

test.each(["GET", "POST"] as const)("a %s that is refused with a token (401) is sent with the key", async (method) => {
  let ended = "";
  const server = await service({ token: given(), calls: (sent) => (sent === ended ? json(401, {}) : json(200, {})) });
  const client = http(server.baseUrl);
  await call(client, 150);
  ended = first;
  server.sent();
  await client.request(method, "/x");
  expect(server.sent()).toEqual({ [first]: 1, [apiKey]: 1 });
  await callUntil(client, () => server.asked() === 2);
  await expectToken(client, server, { jti: 2 });
});

test("a service that refuses its own tokens gets the key after two of them", async () => {
  const server = await service({ token: given(), calls: (sent) => (sent === apiKey ? json(200, {}) : json(401, {})) });
  await call(http(server.baseUrl), 1_000);
  expect(server.asked()).toBe(2);
});

test("a key that is refused, too, is an error of the key, and neither it nor the token is shown", async () => {
  let token = "";
  const server = await service({
    token: given(),
    calls: (sent) => {
      if (sent !== apiKey) token = sent;
      return token === "" || server.requests.length < 130 ? json(200, {}) : json(401, { errorMessage: `no ${token}` });
    },
  });
  const client = http(server.baseUrl);
  await call(client, 125);
  const error = await failure(call(client, 10));
  expect(error.message).toMatch(/HTTP 401: no \[secret\]\. The API key from .* was refused/);
  expect(JSON.stringify(error) + String(error.stack)).not.toMatch(new RegExp(`${apiKey}|${first.slice(0, 20)}`));
});

test("a service that never answers the request for a token delays a single call", async () => {
  const server = await service({ token: () => () => undefined });
  const client = http(server.baseUrl, { requestTimeout: 2 });
  const done: number[] = [];
  await Promise.all(Array.from({ length: 150 }, (_, at) => client.request("GET", "/x").then(() => done.push(at))));
  expect([server.asked(), done.at(-1)]).toEqual([1, 100]);
});

test("it counts among the requests in flight: no more are sent, so waiting takes none of the time", async () => {
  const time = virtualTime();
  let [now, most, asked] = [0, 0, 0];
  const send = async ({ url }: WireRequest): Promise<WireAnswer> => {
    most = Math.max(most, ++now);
    await time.sleep(100);
    now--;
    return {
      status: 200,
      headers: {},
      text: url.endsWith("/authtoken") ? JSON.stringify({ token: tokenOf({ jti: ++asked }) }) : "",
    };
  };
  const transport = { send, close: () => Promise.resolve() };
  const client = http("http://unused.localhost/api/v1", { maxConcurrency: 4 }, { transport });
  await Promise.all(Array.from({ length: 150 }, () => client.request("GET", "/x")));
  expect([asked, most]).toEqual([1, 4]);
});
