import { readdirSync } from "node:fs";
import fc from "fast-check";
import { random } from "../../support/random";
import { exchange, head } from "../bytes";
import { built, serveJson } from "../child";
import { basic, build } from "../helpers";
import { until } from "../../support/until";
import { blockNumber, eth, rpc } from "../ledgers";

beforeAll(built);

/** A service in a separate process, because these tests try to crash it. */
async function served(env: Record<string, string> = {}) {
  const args = ["--node-start", "0", "--environment-start", "0"];
  const { child, ready, key, send } = await serveJson(args, env);
  const world = await build(send);
  const { urls } = (await send("GET", `${world.paths.node}/status`)).body;
  await blockNumber(urls.rpc, world.credential);
  const stands = async () => {
    expect(child.exitCode ?? child.signalCode).toBeNull();
    expect((await send("GET", "/consortia")).status).toBe(200);
    expect((await rpc(urls.rpc, world.credential, eth("eth_chainId"))).status).toBe(200);
  };
  return { child, ready, key, send, ...world, urls, stands };
}

/** Valid requests, which the others mutate. */
function proper({ key, paths, credential, urls }: Awaited<ReturnType<typeof served>>): string[] {
  const call = JSON.stringify(eth("eth_blockNumber"));
  const { pathname: runtime } = new URL(urls.rpc);
  const pair = `authorization: ${basic(credential.username, credential.password).authorization}`;
  const bearer = `authorization: Bearer ${key}`;
  const socket = ["connection: Upgrade", "upgrade: websocket", "sec-websocket-version: 13"];
  const to = (line: string, ...more: string[]) => [`${line} HTTP/1.1`, "host: localhost", ...more];
  const chunked = `${call.length.toString(16)}\r\n${call}\r\n0\r\n\r\n`;
  const small = '{"name":"x"}';
  const [json, length] = ["content-type: application/json", `content-length: ${call.length}`];
  const http2 = "http2-settings: AAMAAABkAAQAAP__";
  return [
    head(...to("GET /api/v1/consortia", bearer)),
    head(...to(`PATCH /api/v1${paths.consortium}`, bearer, json, `content-length: ${small.length}`)) + small,
    head(...to(`POST ${runtime}`, pair, json, length)) + call,
    head(...to(`POST ${runtime}`, pair, "transfer-encoding: chunked")) + chunked,
    head(...to(`POST ${runtime}`, pair, "expect: 100-continue", length)) + call,
    head(...to(`GET ${runtime}`, pair, ...socket, "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==")) +
      "\x81\x85\0\0\0\0hello",
    head(...to(`POST ${runtime}`, pair, "connection: Upgrade, HTTP2-Settings", "upgrade: h2c", http2, length)) + call,
    head("GET"),
    head("POST /runtime/ HTTP/1.1"),
    head("CONNECT localhost:1 HTTP/1.1", "host: localhost"),
    head("PRI * HTTP/2.0") + "SM\r\n\r\n",
  ];
}

type Edit = (bytes: Buffer) => Buffer;

/** Random changes of bytes. */
function edits(all: readonly string[]): fc.Arbitrary<Edit> {
  const at = fc.noBias(fc.nat(9_999)).map((nat) => nat / 10_000);
  const place = (bytes: Buffer, where: number) => Math.floor(where * (bytes.length + 1));
  const put = (bytes: Buffer, where: number, added: Uint8Array, over = 0) => {
    const index = place(bytes, where);
    return Buffer.concat([bytes.subarray(0, index), added, bytes.subarray(index + over)]);
  };
  const tokens = fc.constantFrom(
    ...["\r\n", "\n", "\r\n\r\n", "\0", " ", ":", "host:", "host: evil.example\r\n", "expect: foo\r\n"],
    ...["upgrade: websocket\r\n", "connection: upgrade\r\n", "content-length: 99999999999\r\n"],
    ...["content-length: -1\r\n", "transfer-encoding: chunked\r\n", "authorization:\r\n", "HTTP/0.9", "HTTP/1.0"],
    ...["%", "/..", "{", "[[[[", '"\\ud800"', "x".repeat(20_000)],
  );
  const edit = <T>(drawn: fc.Arbitrary<T>, how: (bytes: Buffer, value: T) => Buffer) =>
    drawn.map(
      (value): Edit =>
        (bytes) =>
          how(bytes, value),
    );
  const some = (most: number) => fc.tuple(at, fc.uint8Array({ minLength: 1, maxLength: most }));
  return fc.oneof(
    edit(some(8), (bytes, [where, more]) => put(bytes, where, more)),
    edit(some(4), (bytes, [where, other]) => put(bytes, where, other, other.length)),
    edit(fc.tuple(at, tokens), (bytes, [where, token]) => put(bytes, where, Buffer.from(token))),
    edit(fc.tuple(at, fc.nat(40)), (bytes, [where, count]) => put(bytes, where, Buffer.alloc(0), count)),
    edit(at, (bytes, where) => bytes.subarray(0, place(bytes, where))),
    edit(fc.constantFrom(...all), (bytes, more) => Buffer.concat([bytes, Buffer.from(more, "latin1")])), // pipelined
  );
}

test("2,000 random and mutated requests, split at every byte: the service answers or closes, and survives", async () => {
  const service = await served();
  const all = proper(service);
  const mutated = fc
    .tuple(fc.constantFrom(...all), fc.array(edits(all), { maxLength: 3 }))
    .map(([text, changes]) => changes.reduce<Buffer>((bytes, change) => change(bytes), Buffer.from(text, "latin1")));
  const request: fc.Arbitrary<Buffer> = fc.oneof(
    { weight: 9, arbitrary: mutated },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)) },
  );
  const { numRuns: batches, ...replay } = random(20);
  const size = 100;
  const open = () => readdirSync(`/proc/${service.ready.pid}/fd`).length;
  const before = process.platform === "linux" ? open() : 0;
  let sent = 0;
  const answered = new Set<number | undefined>();
  await fc.assert(
    fc.asyncProperty(fc.array(request, { minLength: size, maxLength: size }), async (requests) => {
      const heard = await Promise.all(
        requests.map((bytes) => {
          const cut = sent++ % (bytes.length + 1);
          return exchange(service.ready.url, [bytes.subarray(0, cut), bytes.subarray(cut)]);
        }),
      );
      for (const { status, text } of heard) {
        expect(text).toMatch(/^(HTTP\/1\.1 \d{3} |$)/);
        answered.add(status);
      }
      expect(service.child.exitCode ?? service.child.signalCode).toBeNull();
    }),
    { numRuns: batches, ...replay, endOnFailure: true },
  );
  expect(sent).toBe(batches * size);
  // a good mix: accepted requests, open WebSockets, and invalid HTTP
  expect([...answered]).toEqual(expect.arrayContaining([101, 200, 400, 401, 403, 404, undefined]));
  await service.stands();
  if (process.platform === "linux") await until(() => open() < before + 20);
});

test("an upgrade request during an answer ends the connection, not the service", async () => {
  const service = await served();
  const [first = "", ...others] = proper(service);
  const socket = others.find((text) => text.includes("websocket"))!;
  for (const before of [first, first + first]) await exchange(service.ready.url, [before + socket]);
  await service.stands();
});

test("a few short requests, one byte at a time", async () => {
  const service = await served();
  for (const text of proper(service))
    await exchange(
      service.ready.url,
      [...Buffer.from(text, "latin1")].map((byte) => Buffer.from([byte])),
    );
  await service.stands();
});
