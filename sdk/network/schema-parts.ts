import { z } from "zod";
import { mapping } from "../yaml/shape";

const keyText =
  'a key has at most 64 letters, digits, ".", "_" and "-", and begins with a letter or a digit; other names go into name, or orgName of a member';

/** Keys become logical names in Pulumi, where a slash stands between them. */
export const key = z
  .string({ error: "a key must be text" })
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, keyText)
  .max(64, keyText);

/** A mapping with the name that it has in the JSON schema and in TypeScript. */
export const named = <S extends z.ZodRawShape>(id: string, description: string, what: string, shape: S) =>
  mapping(what, shape).meta({ id, description });
