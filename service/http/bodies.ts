import { isDeepStrictEqual } from "node:util";
import type { FastifyInstance } from "fastify";
import { z } from "zod";
import { explain, Refusal } from "../errors";

export const name = z.string().refine((text) => text.trim() !== "", "must not be empty");
export const description = z.string();
export const email = z.email();
/** An optional field. An empty text, and null in a change, mean that it is not set. */
export const optional = z
  .string()
  .nullish()
  .transform((text) => text || undefined);
/** An object that is stored and shown, but has no effect. */
export const details = z.record(z.string(), z.unknown());

/** No body of the API needs more levels, and what is nested too deeply cannot be written. */
const mostNested = 32;

const isDeeper = (value: unknown, levels: number): boolean =>
  typeof value === "object" &&
  value !== null &&
  (levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1)));

/** Parses JSON bodies. A body may be missing although the header announces one, as in `DELETE`. */
export function acceptJson(app: FastifyInstance): void {
  app.removeContentTypeParser("application/json");
  app.addContentTypeParser("application/json", { parseAs: "string" }, (_request, body, done) => {
    try {
      const parsed: unknown = body.length === 0 ? undefined : JSON.parse(body.toString());
      done(isDeeper(parsed, mostNested) ? new Refusal(400, "The body is nested too deeply.") : null, parsed);
    } catch (error) {
      // the wording of the hosted service; JSON.parse has several
      done(new Refusal(400, `Unexpected token in JSON: ${(error as Error).message}`));
    }
  });
}

/**
 * A body without values that are already current, because clients send back the whole object with their changes. Immutable fields may
 * be empty.
 */
export function changesIn(rules: z.ZodObject, body: unknown, shown: Readonly<Record<string, unknown>>): unknown {
  if (typeof body !== "object" || body === null || Array.isArray(body)) return body;
  const says = ([name, value]: [string, unknown]) =>
    !isDeepStrictEqual(value, shown[name]) && (Object.hasOwn(rules.shape, name) || !isEmpty(value));
  return Object.fromEntries(Object.entries(body).filter(says));
}

const isEmpty = (value: unknown) => isDeepStrictEqual(value, "") || isDeepStrictEqual(value, {});

export function unknownIn(rules: z.ZodObject, body: unknown): Record<string, unknown> {
  if (typeof body !== "object" || body === null || Array.isArray(body)) return {};
  return Object.fromEntries(Object.entries(body).filter(([name]) => !Object.hasOwn(rules.shape, name)));
}

/** The known fields of a body. Others are an error if `strict`. */
export function parse<T extends z.ZodRawShape>(rules: z.ZodObject<T>, body: unknown, strict: boolean) {
  const result = (strict ? rules.strict() : rules).safeParse(body ?? {});
  if (!result.success) throw new Refusal(400, `The body is not valid: ${explain(result.error)}`);
  return result.data;
}
