import { output, type Output, secret } from "@pulumi/pulumi";
import { execFileSync } from "node:child_process";
import { createServer, type IncomingMessage, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo } from "node:net";
import { join } from "node:path";
import type * as Tls from "node:tls";
import { inspect } from "node:util";
import { Wallet } from "ethers";
import { WebSocket, WebSocketServer } from "ws";
import * as sdk from "../../../sdk";
import { startService } from "../../../service/index";
import { build, client } from "../../service/helpers";
import { result as raw } from "../../service/ledgers";
import { cert, key } from "../../support/certificate";
import { peer as answering, text } from "../../support/peer";
import { program, valueOf } from "../../support/program";
import { until } from "../../support/until";

/* Addresses with credentials in them, and providers that log in, against a node that only plays the protocol. */

// Node's usual certificates are, here, the one of these tests.
jest.mock("node:tls", () => ({
  ...jest.requireActual<typeof Tls>("node:tls"),
  rootCertificates: [jest.requireActual<{ cert: string }>("../../support/certificate").cert],
}));
const others = jest.requireActual<typeof Tls>("node:tls").rootCertificates.slice(0, 2);
const username = "u-test";
const password = "p:ss/wörd";
const header = `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;

const results: Record<string, string> = { eth_chainId: "0x539", eth_blockNumber: "0x7" };
interface Payload {
  id: number;
  method: string;
}
const result = ({ id, method }: Payload): object => ({ jsonrpc: "2.0", id, result: results[method] ?? null });
const answer = (text: string): string => {
  const asked = JSON.parse(text) as Payload | Payload[];
  return JSON.stringify(Array.isArray(asked) ? asked.map(result) : result(asked));
};

/**
 * Plays a node's endpoints for one credential: as much of the protocol as a provider needs to log in.
 * @param refusal answer to every WebSocket that is opened
 */
async function ledger(tls = false, refusal?: { status: number; body: string }) {
  const seen: string[] = [];
  const calls: string[] = [];
  const refused = { status: 401, body: JSON.stringify({ errorMessage: "Not this one." }) };
  const open = ({ headers, url }: IncomingMessage): boolean => {
    seen.push(String(url));
    return headers.authorization === header;
  };
  const server: Server = tls ? createTlsServer({ key, cert }) : createServer();
  server.on("request", (request: IncomingMessage, response) => {
    let body = "";
    request.on("data", (part: Buffer) => (body += part.toString()));
    request.on("end", () => {
      if (open(request)) response.setHeader("content-type", "application/json").end(answer(body));
      else response.writeHead(refused.status).end(refused.body);
    });
  });
  const sockets = new WebSocketServer({ noServer: true });
  sockets.on("connection", (socket: WebSocket) => {
    socket.on("message", (data: Buffer) => {
      const { method } = JSON.parse(data.toString()) as Payload;
      calls.push(method);
      if (method !== "peer_hang") socket.send(answer(data.toString()));
    });
  });
  server.on("upgrade", (request, socket, head) => {
    const no = open(request) ? refusal : refused;
    if (!no) return sockets.handleUpgrade(request, socket, head, (one) => sockets.emit("connection", one, request));
    socket.end(`HTTP/1.1 ${no.status} No\r\ncontent-length: ${Buffer.byteLength(no.body)}\r\n\r\n${no.body}`);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const where = `://127.0.0.1:${(server.address() as AddressInfo).port}/runtime/e/n`;
  const made = {
    urls: { rpc: `http${tls ? "s" : ""}${where}`, wss: `ws${tls ? "s" : ""}${where}` },
    ca: tls ? cert : undefined,
    seen,
    calls,
    drop: () => sockets.clients.forEach((socket) => socket.terminate()),
    close: () =>
      new Promise<void>((done) => {
        sockets.clients.forEach((socket) => socket.terminate());
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
  running.push(made.close);
  return made;
}

const running: (() => Promise<void>)[] = [];
afterAll(() => Promise.all(running.map((close) => close())));

const login = { username, password };
const within = { environmentId: "e", consortiumId: "c", membershipId: "m" };
const urls = { rpc: "https://node.example/x?y=1", wss: "wss://node.example/x" };

describe("runtimeUrl", () => {
  test.each([
    [undefined, "user", "pass", "https://user:pass@node.example/x?y=1"],
    ["rpc", "us@r", "p/:?#% ü", "https://us%40r:p%2F%3A%3F%23%25%20%C3%BC@node.example/x?y=1"],
    ["wss", "user", "a+b'c", "wss://user:a+b'c@node.example/x"],
  ] as const)("%s, %s, %s", (via, user, pass, wanted) => {
    const url = sdk.runtimeUrl({ urls }, { username: user, password: pass }, via);
    expect(decodeURIComponent(new URL(url).password)).toBe(pass);
    expect(decodeURIComponent(new URL(url).username)).toBe(user);
    expect(decodeURIComponent(url)).toBe(decodeURIComponent(wanted));
    if (via !== "wss") expect(url).toBe(wanted);
  });

  test.each<[sdk.KnownNode, sdk.Via, RegExp]>([
    [{ urls: { rpc: urls.rpc } }, "wss", /no wss address \(yet\)/],
    [{}, "rpc", /no rpc address \(yet\)/],
    [urls.rpc, "wss", /cannot be used as the wss address/],
    [urls.wss, "rpc", /cannot be used as the rpc address/],
  ])("%j as %s is refused", (node, via, message) => {
    expect(() => sdk.runtimeUrl(node, login, via)).toThrow(message);
    expect(() => sdk.connect(node, login, { via } as { via: "rpc" })).toThrow(message);
  });

  test("of a node and a credential of the program: a secret output", async () => {
    await program({ Node: { urls }, AppCred: { username, password } });
    const [node, cred] = [new sdk.Node("n", within), new sdk.AppCred("a", within)];
    const ways: Output<string>[] = [
      sdk.runtimeUrl(node, cred, "wss"),
      sdk.runtimeUrl(output(urls.wss), login, "wss"),
      sdk.runtimeUrl(output({ urls }), login, "wss"),
      sdk.runtimeUrl(Promise.resolve({ urls }), { username: output(username), password: secret(password) }, "wss"),
    ];
    for (const url of ways) {
      expect(await (url as unknown as { isSecret: Promise<boolean> }).isSecret).toBe(true);
      expect(await valueOf(url)).toBe(sdk.runtimeUrl({ urls }, login, "wss"));
    }
  });
});

describe.each([false, true])("connect (TLS: %s)", (tls) => {
  let peer: Awaited<ReturnType<typeof ledger>>;
  beforeAll(async () => void (peer = await ledger(tls)));
  const open = (via: sdk.Via, pair = login) =>
    via === "wss" ? sdk.connect(peer, pair, { via, ca: peer.ca }) : sdk.connect(peer, pair, { via, ca: peer.ca });

  test.each(["rpc", "wss"] as const)("%s: logs in with the Basic header, and the address stays clean", async (via) => {
    const provider = open(via);
    expect(await Promise.all([provider.getBlockNumber(), provider.send("eth_chainId", [])])).toEqual([7, "0x539"]);
    expect((await provider.getNetwork()).chainId).toBe(1337n);
    expect(peer.seen.every((address) => !address.includes(password))).toBe(true);
    await provider.destroy();
  });

  test.each(["rpc", "wss"] as const)("%s: a refused credential always fails at once and shows nothing", async (via) => {
    const provider = open(via, { username, password: "wrong-9f8e" });
    for (const ask of [
      () => provider.getBlockNumber(),
      () => provider.send("eth_chainId", []),
      () => provider.getNetwork(),
    ]) {
      const error: Error = await ask().then(
        () => Promise.reject(new Error("it was let in")),
        (reason: Error) => reason,
      );
      expect(error).toBeInstanceOf(sdk.CredentialRefused);
      expect(error.message).toMatch(
        / \(HTTP 401\): the user name or the password is wrong.* The node said: Not this one\. A credential opens only/,
      );
      expect(inspect(error, { depth: 9 })).not.toMatch(/wrong-9f8e|Basic /);
    }
    await provider.destroy();
  });
});

test.each(["rpc", "wss"] as const)(
  "%s: certificates that the program names are trusted beside the usual ones",
  async (via) => {
    const peer = await ledger(true);
    for (const ca of others) {
      const provider = via === "wss" ? sdk.connect(peer, login, { via, ca }) : sdk.connect(peer, login, { via, ca });
      expect(await provider.getBlockNumber()).toBe(7);
      await provider.destroy();
    }
  },
);

describe("connect, when the node goes wrong", () => {
  test.each([403, 503])("a refusal that is not about the credential (%i) does not say that it is", async (status) => {
    const { baseUrl } = await answering(text(status, '{"errorMessage":"not now"}'));
    const provider = sdk.connect({ urls: { rpc: baseUrl } }, login);
    const error: unknown = await provider.send("eth_chainId", []).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(Error);
    expect(error).not.toBeInstanceOf(sdk.CredentialRefused);
    provider.destroy();
  });

  test.each(["rpc", "wss"] as const)("%s: an untrusted certificate is an error", async (via) => {
    const peer = await ledger(true);
    const provider = via === "wss" ? sdk.connect(peer, login, "wss") : sdk.connect(peer, login);
    await expect(provider.getBlockNumber()).rejects.toThrow(/self-signed|unable to verify/);
  });

  test.each(["rpc", "wss"] as const)("%s: nobody there", async (via) => {
    const peer = await ledger();
    await peer.close();
    const provider = via === "wss" ? sdk.connect(peer, login, "wss") : sdk.connect(peer, login);
    await expect(provider.getBlockNumber()).rejects.toThrow(/ECONNREFUSED/);
  });

  test("a WebSocket that closes fails calls in progress, and later ones", async () => {
    const peer = await ledger();
    const provider = sdk.connect(peer, login, "wss");
    await provider.getBlockNumber();
    const waiting = Promise.allSettled(["peer_hang", "peer_hang"].map((method) => provider.send(method, [])));
    await until(() => peer.calls.filter((method) => method === "peer_hang").length === 2);
    peer.drop();
    for (const one of await waiting)
      expect(one).toMatchObject({ reason: { message: expect.stringMatching("closed") as string } });
    await expect(provider.send("eth_chainId", [])).rejects.toThrow(/connection was closed/);
  });

  test.each([
    [503, "not JSON", /HTTP 503: not JSON/],
    [404, '{"errorMessage":"No such node."}', /HTTP 404: No such node\./],
  ])("a WebSocket that is answered with %s is an error that says so", async (status, body, message) => {
    const peer = await ledger(false, { status, body });
    const provider = sdk.connect(peer, login, "wss");
    const { websocket } = provider;
    await expect(provider.getBlockNumber()).rejects.toThrow(message);
    await until(() => (websocket as WebSocket).readyState === WebSocket.CLOSED);
    await expect(provider.send("eth_chainId", [])).rejects.toThrow(message); // and not that it was closed, which comes after
  });

  test("of a node and a credential of the program: an output with the provider itself", async () => {
    const peer = await ledger();
    await program({ Node: { urls: peer.urls }, AppCred: login });
    const [node, cred] = [new sdk.Node("n", within), new sdk.AppCred("a", within)];
    const height = sdk.connect(node, cred).apply((provider) => provider.getBlockNumber());
    expect(await valueOf(height)).toBe(7);
    expect(await (height as unknown as { isSecret: Promise<boolean> }).isSecret).toBe(true);
  });
});

test.each(["rpc", "wss"] as const)(
  "%s: transactions in a row, each awaited, on a ledger of raft, in seconds",
  async (via) => {
    const timing = { nodeStart: 0, environmentStart: 0 };
    const service = await startService({ ledger: true, timing, answers: { like: "hosted" } });
    const send = client(service.baseUrl, service.apiKey);
    const { paths, credential } = await build(send, { provider: "quorum", consensus_type: "raft" });
    const { urls } = (await send("GET", `${paths.node}/status`)).body;
    const provider = sdk.connect({ urls }, credential, { via });
    try {
      const wallet = new Wallet(Wallet.createRandom().privateKey, provider);
      const nonces: number[] = [];
      for (let at = 0; at < 6; at++) {
        const sent = await wallet.sendTransaction({ to: wallet.address, gasPrice: 0 });
        const receipt = at % 2 === 0 ? await sent.wait() : undefined; // some programs wait for the block, some do not
        expect(receipt === undefined || receipt?.status === 1).toBe(true);
        nonces.push(sent.nonce);
      }
      expect(nonces).toEqual([0, 1, 2, 3, 4, 5]);
      expect(await provider.getBlockNumber()).toBe(6);
      type Block = { timestamp: string };
      const { timestamp } = await raw<Block>(urls.rpc, credential, "eth_getBlockByNumber", "latest", false);
      expect(Number(timestamp)).toBeGreaterThan(1e18); // raft's nanoseconds
      const block = await provider.getBlock("latest");
      expect(Math.abs(block!.timestamp - Date.now() / 1_000)).toBeLessThan(3_600);
      expect(await provider.getFeeData()).toMatchObject({ gasPrice: 0n, maxFeePerGas: null });
    } finally {
      await provider.destroy();
      await service.close();
    }
  },
);

test("only programs that connect load ethers", () => {
  const script = `
    const { connect } = require("pulumi-consortium");
    const loaded = () => Object.keys(require.cache).some((file) => /node_modules.ethers./.test(file));
    const before = loaded();
    connect("http://127.0.0.1:9", { username: "u", password: "p" }).destroy();
    console.log(before, loaded());`;
  const text = execFileSync(process.execPath, ["-e", script], { cwd: join(__dirname, "../../.."), encoding: "utf8" });
  expect(text.trim()).toBe("false true");
});
