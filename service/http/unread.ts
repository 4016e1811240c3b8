import type { FastifyInstance } from "fastify";
import type { CallLimits } from "../settings/settings";

/**
 * Refuses to read more to an organization that leaves too much of what it asked for unread: the service would have to keep it all.
 */
export function limitUnread(app: FastifyInstance, { answer }: CallLimits): void {
  const most = 2 * answer;
  const unread = new Map<string, number>();
  app.addHook("onSend", (request, reply, payload, done) => {
    const id = request.organization?.id;
    if (id === undefined || request.method !== "GET" || typeof payload !== "string") return done(null, payload);
    const before = unread.get(id) ?? 0;
    if (before > 0 && before + payload.length > most) {
      void reply.code(429).header("retry-after", "1");
      const errorMessage = `Your organization has not read ${before} bytes of responses yet; with this one, there would be more than ${most}. Read the earlier responses first.`;
      return done(null, JSON.stringify({ errorMessage }));
    }
    unread.set(id, before + payload.length);
    reply.raw.once("close", () => {
      const left = unread.get(id)! - payload.length;
      if (left > 0) unread.set(id, left);
      else unread.delete(id);
    });
    return done(null, payload);
  });
}
