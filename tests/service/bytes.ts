import { connect } from "node:net";

/** The response on a connection that the service closed. */
export interface Heard {
  text: string;
  status: number | undefined;
}

/**
 * Sends raw bytes in pieces, and reads until the service closes. Half-closes after sending everything, or after the first answer.
 */
export function exchange(
  url: string,
  pieces: readonly (string | Buffer)[],
  end: "sent" | "answered" = "sent",
): Promise<Heard> {
  const { hostname, port } = new URL(url);
  return new Promise((done) => {
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    let text = "";
    socket.on("data", (part: Buffer) => (text += part.toString("latin1")));
    socket.on("error", () => undefined); // a reset is a way to close
    socket.once("close", () => done({ text, status: Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1]) || undefined }));
    const next = ([piece, ...rest]: readonly (string | Buffer)[]): void => {
      if (piece !== undefined) return void socket.write(piece, () => setImmediate(next, rest));
      if (end === "sent") socket.end();
      else socket.once("data", () => socket.end());
    };
    socket.once("connect", () => next(pieces));
  });
}

export const head = (...lines: string[]) => `${lines.join("\r\n")}\r\n\r\n`;
