import { Struct } from "google-protobuf/google/protobuf/struct_pb";
import { type Props } from "../core/definition";

/* Properties as they travel between the engine and a plugin (Pulumi's wire format). */

const signatureKey = "4dabf18193072939515e22adb298388d";
const secretSignature = "1b47061264138c4ac30d75fd1eb44270";

type Secret = { [signatureKey]: string; value: unknown };

const isSecret = (value: unknown): value is Secret =>
  typeof value === "object" && value !== null && (value as Partial<Secret>)[signatureKey] === secretSignature;

/** Whether a value is secret, or holds a part that is. */
function holdsSecret(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return isSecret(value) || Object.values(value).some(holdsSecret);
}

function revealed(value: unknown): unknown {
  if (isSecret(value)) return revealed(value.value);
  if (Array.isArray(value)) return value.map(revealed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, revealed(part)]));
}

/** Properties in clear, and which of them the engine holds to be secret: as a whole, even where only a part is. */
export interface Received {
  props: Props;
  secrets: readonly string[];
}

export function received(struct: Struct | undefined): Received {
  const wire = (struct?.toJavaScript() ?? {}) as Props;
  return {
    props: revealed(wire) as Props,
    secrets: Object.keys(wire).filter((key) => holdsSecret(wire[key])),
  };
}

/** @param secrets names of those that are secret */
export function sent(props: Props, secrets: Iterable<string> = []): Struct {
  const hidden = new Set(secrets);
  const known = Object.entries(props).filter(([, value]) => value !== undefined);
  const wire = known.map(([key, value]) => [key, hidden.has(key) ? { [signatureKey]: secretSignature, value } : value]);
  // The text form drops members that are undefined, for which the wire has no value.
  return Struct.fromJavaScript(JSON.parse(JSON.stringify(Object.fromEntries(wire))) as Record<string, never>);
}
