import { Struct } from "google-protobuf/google/protobuf/struct_pb";
import { secretSignature, signatureKey } from "../provider/constants";
import { type Props } from "../provider/core/definition";
import { isUnknown } from "../provider/core/values";
import { type Path } from "../provider/plain";

/* Properties as they travel between the engine and a plugin (Pulumi's wire format). */

/** Marks a value that a component receives with its dependencies. */
const outputSignature = "d0e6a833031e9bbcd3f4e8bde6ca49a4";

type Wrapped = { [signatureKey]: string; value?: unknown; secret?: boolean };

function isWrapped(value: object): value is Wrapped {
  const { [signatureKey]: signature } = value as Partial<Wrapped>;
  return signature === secretSignature || signature === outputSignature;
}

const isSecret = (value: Wrapped): boolean => value[signatureKey] === secretSignature || value.secret === true;

/** Whether a value, or a part of it, is unknown. That includes an output without a value. */
export function hasUnknown(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return isUnknown(value);
  if (isWrapped(value)) return !("value" in value) || hasUnknown(value.value);
  return Object.values(value).some(hasUnknown);
}

const isPart = (value: unknown): value is object => typeof value === "object" && value !== null;

/** The plain value, made in place. @param secrets gets the paths of the secrets in it */
function opened(value: unknown, secrets: Path[], path: Path = []): unknown {
  if (!isPart(value)) return value;
  if (isWrapped(value)) {
    const isOuter = isSecret(value);
    if (isOuter) secrets.push(path);
    return opened(value.value, isOuter ? [] : secrets, path);
  }
  const parts = value as Record<string | number, unknown>;
  for (const key of Array.isArray(value) ? value.keys() : Object.keys(value))
    if (isPart(parts[key])) parts[key] = opened(parts[key], secrets, [...path, key]);
  return value;
}

/** Plain properties, and the names of those that the engine treats as secret, even if only a part is. */
export interface Received {
  props: Props;
  secrets: readonly string[];
  /** Paths of the secrets themselves. */
  paths: readonly Path[];
}

export function fromEngine(struct: Struct | undefined): Received {
  const paths: Path[] = [];
  const props = opened(struct?.toJavaScript() ?? {}, paths) as Props;
  return { props, secrets: [...new Set(paths.map(([key]) => String(key)))], paths };
}

/** A copy without members that are undefined, for which the wire has no value. */
function copied(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((one) => copied(one ?? null));
  if (!isPart(value)) return value;
  const copy: Props = {};
  for (const [key, one] of Object.entries(value)) if (one !== undefined) copy[key] = copied(one);
  return copy;
}

/** @param secrets names or paths of the secret ones */
export function toEngine(props: Props, secrets: Iterable<string | Path> = []): Struct {
  const wire = copied(props) as Record<string, never>;
  const paths = [...secrets].map((one) => (typeof one === "string" ? [one] : one));
  for (const path of paths.toSorted((a, b) => a.length - b.length)) hide(wire, path);
  return Struct.fromJavaScript(wire);
}

/** Marks the value at that path as a secret, in place. Within a secret, nothing is left to mark. */
function hide(within: unknown, [key, ...rest]: Path): void {
  if (!isPart(within) || isWrapped(within) || key === undefined) return;
  const parts = within as Record<string | number, unknown>;
  const value = parts[key];
  if (rest.length > 0) hide(value, rest);
  else if (value !== undefined && !(isPart(value) && isWrapped(value)))
    parts[key] = { [signatureKey]: secretSignature, value };
}
