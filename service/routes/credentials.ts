import { randomBytes } from "node:crypto";
import { z } from "zod";
import { withUnknownFields } from "./responses";
import { name } from "../http/bodies";
import { passwordHash } from "../http/node-credentials";
import { resource } from "./resource";
import { memberOf } from "./nodes";

export const credential = resource({
  kind: "credential",
  parents: ["consortium", "environment"],
  create: z.object({ membership_id: name, name: name.optional() }),
  patch: z.object({ name: name.optional() }),
  make(making, body) {
    memberOf(making, body.membership_id);
    const password = randomBytes(32).toString("base64url");
    return {
      id: `u${randomBytes(5).toString("hex")}`,
      fields: { ...body, passwordHash: passwordHash(password) },
      once: { password },
    };
  },
  view(context, { id, revision, fields }) {
    return withUnknownFields(context, {
      ...fields,
      passwordHash: undefined,
      auth_type: "basic_auth",
      // The specification says `id`; other clients know a credential as they know all objects, by `_id`.
      [context.settings.answers.idField]: id,
      id,
      username: id,
      _revision: String(revision),
    });
  },
});
