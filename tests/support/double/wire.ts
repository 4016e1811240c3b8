/* Properties in Pulumi's wire form, as the engine has them: a secret is marked, an unknown value is a marker. */

export type Props = Record<string, unknown>;

const signatureKey = "4dabf18193072939515e22adb298388d";
const secretSignature = "1b47061264138c4ac30d75fd1eb44270";

export const secret = (value: unknown): Props => ({ [signatureKey]: secretSignature, value });

export const isSecret = (value: unknown): value is { value: unknown } =>
  typeof value === "object" && value !== null && (value as Props)[signatureKey] === secretSignature;

/** Without the marks of secrets. */
export function revealed<T>(value: T): T {
  const open = (part: unknown): unknown => {
    if (isSecret(part)) return open(part.value);
    if (Array.isArray(part)) return part.map(open);
    if (typeof part !== "object" || part === null) return part;
    return Object.fromEntries(Object.entries(part).map(([key, inner]) => [key, open(inner)]));
  };
  return open(value) as T;
}

const isMap = (value: unknown): boolean => typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * Copies secret marks from one to the other, as the engine does for providers that do not know secrets. The mark of a whole map is lost
 * where the other one is a map without it (Pulumi 3.274).
 */
export function withSecretsOf(outs: unknown, ins: unknown): unknown {
  if (isSecret(outs)) return isMap(outs.value) && isMap(ins) && !isSecret(ins) ? withSecretsOf(outs.value, ins) : outs;
  if (isSecret(ins)) return secret(outs);
  if (Array.isArray(outs)) return outs.map((one, at) => withSecretsOf(one, (ins as unknown[] | undefined)?.[at]));
  if (typeof outs !== "object" || outs === null) return outs;
  return Object.fromEntries(
    Object.entries(outs).map(([key, one]) => [key, withSecretsOf(one, (ins as Props | undefined)?.[key])]),
  );
}

/** The wire has plain JSON, without `undefined`. */
export function wire<T>(value: T): T {
  const check = (part: unknown, where: string): void => {
    if (part === undefined) throw new Error(`${where} is undefined: Pulumi's wire format has no such value`);
    if (typeof part !== "object" || part === null) return;
    for (const [key, inner] of Object.entries(part)) check(inner, `${where}.${key}`);
  };
  check(value, "props");
  return JSON.parse(JSON.stringify(value)) as T;
}
