import { createServer, type Server } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import fc from "fast-check";
import { Refusal } from "../../service/errors";
import { type Admit, Lane } from "../../service/ledger/lane";
import { until } from "./helpers";

/** What came to the HTTP server itself. */
let long: string[];
let server: Server;
let lane: Lane;
let sockets: Socket[];
let held: (() => void)[] | undefined;

const admit: Admit = ({ path, login }) => {
  if (login.username !== "user") throw new Refusal(401, "Not you.");
  return async (body) => {
    if (held) await new Promise<void>((done) => held!.push(done));
    if (path.endsWith("broken")) throw new Error("no chain");
    return { status: 200, type: "text/plain", text: `short ${path} ${body.toString()}\n` };
  };
};

beforeEach(async () => {
  [long, sockets, held] = [[], [], undefined];
  server = createServer((request, response) => {
    let body = "";
    request.on("data", (part: Buffer) => (body += part.toString()));
    request.on("end", () => {
      long.push(`${request.method} ${request.url} ${body}`);
      response.end(`long ${body}\n`);
    });
  });
  lane = new Lane(admit);
  lane.attach(server);
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
});

afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await new Promise<void>((done) => {
    server.close(() => done());
    server.closeAllConnections();
    lane.drop();
  });
});

async function open() {
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1").setNoDelay();
  sockets.push(socket);
  const seen = { text: "", closed: false };
  socket.on("data", (part: Buffer) => (seen.text += part.toString()));
  socket.on("close", () => (seen.closed = true)).on("error", () => undefined);
  await new Promise((done) => socket.once("connect", done));
  const lines = () => seen.text.match(/^(short|long) .*$/gm) ?? [];
  const answers = (count: number) => until(() => Promise.resolve(lines().length >= count)).then(lines);
  return { socket, seen, lines, answers };
}

const basic = (user: string) => `Basic ${Buffer.from(`${user}:p`).toString("base64")}`;
const request = (body: string, { path = "/runtime/e/n", user = "user", more = "", version = "1.1" } = {}) =>
  `POST ${path} HTTP/${version}\r\nhost: x\r\nauthorization: ${basic(user)}\r\n${more}content-length: ${body.length}\r\n\r\n${body}`;

test("calls on one connection go the short way, each with its own answer", async () => {
  const { socket, answers, seen } = await open();
  for (const [index, body] of ["a", "b", "longer", "c"].entries()) {
    socket.write(request(body));
    expect((await answers(index + 1)).at(-1)).toBe(`short /runtime/e/n ${body}`);
  }
  expect(seen.text).toMatch(/^HTTP\/1\.1 200 OK\r\ncontent-type: text\/plain\r\ncontent-length: 21\r\n\r\n/);
  expect(long).toEqual([]);
});

test.each([
  ["another path", request("x", { path: "/api/v1/consortia" })],
  ["another method", "GET /runtime/e/n HTTP/1.1\r\nhost: x\r\n\r\n"],
  ["a credential that is refused", request("x", { user: "other" })],
  ["HTTP/1.0", request("x", { version: "1.0" })],
  ["a connection that is to close", request("x", { more: "connection: close\r\n" })],
  ["a question before the body", request("x", { more: "expect: 100-continue\r\n" })],
  ["a body in chunks", request("").replace("content-length: 0", "transfer-encoding: chunked") + "1\r\nx\r\n0\r\n\r\n"],
])("%s goes to the server, whole", async (_what, text) => {
  const { socket, answers } = await open();
  socket.write(text);
  expect(await answers(1)).toEqual([text.startsWith("GET") ? "long " : "long x"]);
  expect(long).toHaveLength(1);
});

test("what is no HTTP goes to the server, which refuses it", async () => {
  const { socket, seen } = await open();
  socket.write("POST /runtime/e/n HTTP/1.1\r\n\x01: \r\n\r\n");
  await until(() => Promise.resolve(seen.closed));
  expect(seen.text).toMatch(/^HTTP\/1\.1 400 /);
});

test("something else after plain calls", async () => {
  const { socket, answers } = await open();
  socket.write(request("one") + request("two") + "GET /other HTTP/1.1\r\nhost: x\r\n\r\n" + request("three"));
  expect(await answers(4)).toEqual(["short /runtime/e/n one", "short /runtime/e/n two", "long ", "long three"]);
  expect(long).toEqual(["GET /other ", "POST /runtime/e/n three"]);
});

test("however the bytes arrive, each call gets its answer, in order", async () => {
  const bodies = fc.array(fc.stringMatching(/^[a-z]{0,300}$/), { minLength: 1, maxLength: 8 });
  const cuts = fc.array(fc.nat({ max: 3_000 }), { maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(bodies, cuts, async (sent, at) => {
      const { socket, answers } = await open();
      const text = sent.map((body) => request(body)).join("");
      const places = [0, ...at.filter((place) => place < text.length).sort((a, b) => a - b), text.length];
      for (const [index, place] of places.slice(1).entries()) {
        socket.write(text.slice(places[index], place));
        await new Promise((done) => setImmediate(done));
      }
      const bodiesOf = (lines: string[]) => lines.map((line) => line.split(" ").at(-1));
      expect(bodiesOf(await answers(sent.length))).toEqual(sent);
      socket.destroy();
    }),
    { numRuns: 60 },
  );
});

test("calls that come faster than they are answered wait, and none is lost", async () => {
  held = [];
  const { socket, answers } = await open();
  const body = "y".repeat(40_000);
  for (let index = 0; index < 20; index++) socket.write(request(body));
  const releasing = setInterval(() => held!.shift()?.(), 1);
  expect(await answers(20)).toHaveLength(20);
  clearInterval(releasing);
  expect(long).toEqual([]);
});

test("a chain that does not answer is told of, and the connection ends", async () => {
  const { socket, seen } = await open();
  socket.write(request("x", { path: "/runtime/e/broken" }));
  await until(() => Promise.resolve(seen.closed));
  expect(seen.text).toMatch(/^HTTP\/1\.1 502 .*"The ledger did not answer: no chain\."/s);
});

test.each([
  ["a call", request("a"), ["short /runtime/e/n a"]],
  ["two calls", request("a") + request("b"), ["short /runtime/e/n a", "short /runtime/e/n b"]],
  ["a call that is refused", request("x", { user: "other" }), ["long x"]],
])("%s by who then sends no more is answered", async (_what, text, expected) => {
  const { socket, answers, seen } = await open();
  socket.end(text);
  expect(await answers(expected.length)).toEqual(expected);
  await until(() => Promise.resolve(seen.closed));
});

test("calls that waited when the caller had sent its last are all answered", async () => {
  held = [];
  const { socket, answers, seen } = await open();
  socket.end(request("a") + request("b"));
  await until(() => Promise.resolve(held!.length === 1));
  for (let turn = 0; turn < 50; turn++) await new Promise((done) => setImmediate(done)); // its end arrives
  held.shift()!();
  await until(() => Promise.resolve(held!.length === 1));
  held.shift()!();
  expect(await answers(2)).toEqual(["short /runtime/e/n a", "short /runtime/e/n b"]);
  await until(() => Promise.resolve(seen.closed));
});

test("a caller that sends no more gets its answer; one that goes away is forgotten; all can be dropped", async () => {
  held = [];
  const [last, gone, idle] = [await open(), await open(), await open()];
  last.socket.end(request("last"));
  gone.socket.write(request("gone"));
  await until(() => Promise.resolve(held!.length === 2));
  gone.socket.destroy();
  for (const go of held) go();
  expect(await last.answers(1)).toEqual(["short /runtime/e/n last"]);
  await until(() => Promise.resolve(last.seen.closed));
  lane.drop();
  await until(() => Promise.resolve(idle.seen.closed));
});
