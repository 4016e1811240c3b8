import { z } from "zod";
import { printable } from "../../provider/api/printable";
import { didYouMean } from "../../provider/core/suggest";

/** Names of types in the JSON schema and in TypeScript. */
export const types = z.registry<{ id: string; description: string }>();

export function named<S extends z.ZodType>(id: string, description: string, schema: S): S {
  types.add(schema, { id, description });
  return schema;
}

const keyText =
  'a key has at most 64 letters, digits, ".", "_" and "-", and begins with a letter or a digit; other names go into name, or orgName of a member';

/** Keys become logical names in Pulumi, where a slash stands between them. */
export const key = z
  .string({ error: "a key must be text" })
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, keyText)
  .max(64, keyText);

/** A strict object whose errors say what it is, and what an unknown key may have been meant to be: one line for each key. */
export const mapping = <S extends z.ZodRawShape>(what: string, shape: S) =>
  z.strictObject(shape, {
    error: (issue) => {
      if (issue.code !== "unrecognized_keys") return `${what} is a mapping of settings`;
      const known = Object.keys(shape);
      return issue.keys.map((one) => `${what} has no "${printable(one)}"${didYouMean(one, known)}`).join("\n");
    },
  });
