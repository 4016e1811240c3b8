import type { Pool } from "undici";
import { Gathered } from "./gathered";

export interface Forwarded {
  status: number;
  type: string;
  text: string;
}

export type Forward = (body: Buffer) => Promise<Forwarded>;

const json = "application/json";

/** Takes calls to a chain: quick ones gathered, all others each by itself, just as they came. */
export function forwardTo(pool: Pool): Forward {
  const send = async (body: Buffer | string): Promise<Forwarded> => {
    const headers = { "content-type": json };
    const answer = await pool.request({ method: "POST", path: "/", body, headers });
    const type = answer.headers["content-type"];
    return { status: answer.statusCode, type: typeof type === "string" ? type : json, text: await answer.body.text() };
  };
  const gathered = new Gathered(async (batch) => (await send(batch)).text);
  return async (body) => {
    const text = await gathered.ask(body);
    return text === undefined ? send(body) : { status: 200, type: json, text };
  };
}
