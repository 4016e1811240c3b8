import type { IncomingMessage } from "node:http";
import { Refusal } from "../errors";

/** The most a call, or a batch of calls, may be long. */
export const mostBytes = 1_048_576;

/** The body of a call, whole. */
export function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const tooLong = () => new Refusal(413, `The body is too long: at most ${mostBytes} bytes are allowed.`);
  return new Promise((done, fail) => {
    if (Number(request.headers["content-length"] ?? 0) > mostBytes) return fail(tooLong());
    const parts: Buffer[] = [];
    let length = 0;
    request.on("data", (part: Buffer) => {
      length += part.length;
      if (length > mostBytes) return fail(tooLong());
      parts.push(part);
    });
    request.once("end", () => done(parts.length === 1 ? parts[0]! : Buffer.concat(parts)));
    request.once("error", fail);
    request.once("close", () => {
      if (!request.complete) fail(new Refusal(400, "The body is not complete."));
    });
  });
}
