import { channel } from "node:diagnostics_channel";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import tls from "node:tls";
import { cert, key } from "../../support/certificate";
import { apiKey, failure, http, json, peer } from "../../support/peer";
import { virtualTime } from "../../support/virtual-time";

/* Failures that count as "not sent", and may be repeated: on real sockets, at each moment at which a connection can fail. */

const servers: Server[] = [];
const sockets: Socket[] = [];

/** Listens on a free port; it ends with the test, and so does every connection to it. */
async function listen(server: Server): Promise<number> {
  servers.push(server);
  server.on("connection", (socket) => sockets.push(socket));
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return (server.address() as AddressInfo).port;
}

/** A server of bare sockets. */
const bare = (onSocket: (socket: Socket) => void): Promise<number> => listen(createServer(onSocket));

afterEach(() => {
  jest.restoreAllMocks();
  servers.splice(0).forEach((server) => server.close());
  sockets.splice(0).forEach((socket) => socket.destroy());
});

/** The certificate of the tests counts as one of a known authority. */
function trust(): void {
  const { connect } = tls;
  jest
    .spyOn(tls, "connect")
    .mockImplementation(((options: tls.ConnectionOptions) => connect({ ...options, ca: cert })) as typeof tls.connect);
}

const create = (baseUrl: string, more?: Record<string, unknown>): ReturnType<typeof failure> =>
  failure(http(baseUrl, more).request("POST", "/consortia", { body: { name: "a" } }));

describe("a failure after the request was written counts as lost, and a create is not sent again", () => {
  test.each([
    ["bytes that are no TLS", (raw: Socket) => raw.end("HTTP/1.1 400 Bad Request\r\n\r\n")],
    ["a fatal alert", (raw: Socket) => raw.end(Buffer.from([21, 3, 3, 0, 2, 2, 80]))],
  ])("%s in the middle of TLS", async (_, breakIt) => {
    virtualTime();
    trust();
    const requests: string[] = [];
    let client: Socket;
    const secure = tls.createServer({ cert, key }, (socket) =>
      socket
        .on("error", () => undefined)
        .on("data", (data: Buffer) => {
          requests.push(data.toString());
          breakIt(client);
        }),
    );
    const securePort = await listen(secure);
    const port = await bare((socket) => {
      client = socket.on("error", () => undefined);
      const onward = connect(securePort, "127.0.0.1").on("error", () => undefined);
      socket.pipe(onward).pipe(socket);
    });
    const error = await create(`https://127.0.0.1:${port}/api/v1`);
    expect(requests).toHaveLength(1);
    expect(requests[0]).toMatch(/^POST \/api\/v1\/consortia/);
    expect(error.kind).toBe("lost");
  });

  const codes = ["EHOSTUNREACH", "ENETUNREACH", "EPROTO", "ECONNREFUSED", "ENOTFOUND", "UND_ERR_CONNECT_TIMEOUT"];
  test.each(codes)("%s on the socket: the code alone does not tell", async (code) => {
    virtualTime();
    const sockets: Socket[] = [];
    const keep = (message: unknown): void => void sockets.push((message as { socket: Socket }).socket);
    channel("undici:client:connected").subscribe(keep);
    const server = await peer(() => sockets[0]!.destroy(Object.assign(new Error(code), { code })));
    const error = await create(server.baseUrl);
    channel("undici:client:connected").unsubscribe(keep);
    expect(error.kind).toBe("lost");
    expect(server.requests).toHaveLength(1);
  });

  test("a connection of an earlier call that breaks", async () => {
    virtualTime();
    const server = await peer((response, seen, socket) =>
      seen === 1 ? json(200, {})(response, seen, socket) : socket.resetAndDestroy(),
    );
    const client = http(server.baseUrl, { maxConcurrency: 1 });
    await client.request("GET", "/x");
    expect((await failure(client.request("POST", "/x", { body: {} }))).kind).toBe("lost");
    expect([server.requests.length, server.connections]).toEqual([2, 1]);
  });
});

describe("a request that fails earlier was not sent, and is retried", () => {
  test.each<[string, (socket: Socket) => void, RegExp]>([
    [
      "a connection that is reset in the handshake",
      (socket) => socket.once("data", () => socket.resetAndDestroy()),
      /reset|closed/,
    ],
    [
      "a host that does not speak TLS",
      (socket) => socket.once("data", () => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n")),
      /TLS|SSL|wrong version|packet length/i,
    ],
    [
      "a certificate of nobody",
      (socket) => new tls.TLSSocket(socket, { isServer: true, cert, key }).on("error", () => undefined),
      /self-signed/,
    ],
  ])("%s", async (_, onSocket, why) => {
    virtualTime();
    let connections = 0;
    const port = await bare((socket) => {
      connections++;
      socket.on("error", () => undefined);
      onSocket(socket);
    });
    const error = await create(`https://127.0.0.1:${port}/api/v1`);
    expect(error).toMatchObject({ kind: "unsent", errorMessage: expect.stringMatching(why) as string });
    expect(error.message).toContain("cannot be reached");
    expect(connections).toBeGreaterThan(1);
  });

  test("a handshake that never ends takes the time of one request, and no more", async () => {
    virtualTime();
    const port = await bare((socket) => void socket.on("error", () => undefined));
    const error = await create(`https://127.0.0.1:${port}/api/v1`, { requestTimeout: 0.1 });
    expect(error).toMatchObject({ kind: "unsent", errorMessage: expect.stringMatching(/no connection/) as string });
  });

  test("a create that failed to connect is made once, as soon as the service is up", async () => {
    virtualTime();
    trust();
    const requests: string[] = [];
    let connections = 0;
    const port = await bare((raw) => {
      raw.on("error", () => undefined);
      if (++connections < 3) return void raw.resetAndDestroy();
      const secure = new tls.TLSSocket(raw, { isServer: true, cert, key });
      secure.on("data", (data: Buffer) => {
        requests.push(data.toString());
        secure.end("HTTP/1.1 201 Created\r\ncontent-length: 2\r\n\r\n{}");
      });
    });
    const client = http(`https://127.0.0.1:${port}/api/v1`);
    expect(await client.request("POST", "/x", { body: {} })).toMatchObject({ status: 201, body: {} });
    expect(requests).toHaveLength(1);
    expect(requests[0]).toContain(apiKey);
  });
});
