import { createServer } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";

export interface ProxyServer {
  address: string;
  /** The requested targets, with the user name and password of each request. */
  asked: { target: string; credentials?: string }[];
  close: () => Promise<void>;
}

const running: ProxyServer[] = [];

/** An HTTP proxy as companies have one: makes tunnels, to `to` instead of the target if given, or refuses with `status`. */
export async function proxyServer({ status = 200, to }: { status?: number; to?: number } = {}): Promise<ProxyServer> {
  const sockets = new Set<Socket>();
  const server = createServer((_request, response) => void response.writeHead(405).end());
  server.on("connection", (socket: Socket) => sockets.add(socket));
  server.on("connect", (request, client: Socket) => {
    proxy.asked.push({ target: request.url!, credentials: request.headers["proxy-authorization"] });
    client.on("error", () => undefined);
    if (status !== 200) return void client.end(`HTTP/1.1 ${status} No\r\ncontent-length: 0\r\n\r\n`);
    const { hostname, port } = new URL(`http://${request.url}`);
    const onward = connect(to ?? Number(port || 80), to === undefined ? hostname : "127.0.0.1");
    sockets.add(onward);
    const refuse = (): unknown => client.end("HTTP/1.1 502 Bad Gateway\r\n\r\n");
    onward.once("error", refuse).once("connect", () => {
      onward.off("error", refuse).on("error", () => client.resetAndDestroy());
      client.write("HTTP/1.1 200 Connection established\r\n\r\n");
      onward.pipe(client).pipe(onward);
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const close = (): Promise<void> =>
    new Promise((done) => {
      server.close(() => done());
      sockets.forEach((socket) => socket.destroy());
    });
  const proxy: ProxyServer = {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: [],
    close,
  };
  running.push(proxy);
  return proxy;
}

afterEach(async () => {
  for (const { close } of running.splice(0)) await close();
});
