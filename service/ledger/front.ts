import { createServer, type Server } from "node:http";
import { WebSocketServer } from "ws";
import { answerTo, type Caller, converse } from "./rpc";

/**
 * HTTP and WebSocket for a chain, on a Unix socket in a folder that only this user can enter: the chain itself speaks on a
 * socket beside it, and has no port that a web page or another user could reach.
 */
export async function openFront(caller: Caller, chainPath: string, frontPath: string): Promise<Server> {
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.once("end", () => {
      caller.ask(Buffer.concat(parts).toString()).then(
        (answer) => response.writeHead(200, { "content-type": "application/json" }).end(answer),
        (error: Error) => response.writeHead(502).end(error.message),
      );
    });
  });
  new WebSocketServer({ server, perMessageDeflate: false }).on("connection", (socket) => {
    const chain = converse(chainPath, (line) => socket.send(line));
    chain.once("close", () => socket.terminate()).on("error", () => undefined);
    socket.once("close", () => chain.destroy()).on("error", () => undefined);
    socket.on("message", (data: Buffer) => {
      const message = data.toString();
      const known = answerTo(message);
      if (known === undefined) chain.write(`${message}\n`);
      else socket.send(known);
    });
  });
  await new Promise<void>((done, fail) => server.once("error", fail).listen(frontPath, done));
  return server;
}
