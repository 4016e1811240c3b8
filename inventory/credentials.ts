import { signatureKey } from "../provider/constants";
import { text } from "../provider/plain";
import { type KnownCredential } from "../sdk/runtime/connect";
import { type EnvironmentModel, type NodeModel } from "./model";

/** A credential and where it works. Secret: it never becomes part of a model or a result. */
export interface PlacedCredential extends KnownCredential {
  /** Absent: only its user name, which is its id, shows where it works. */
  environmentId?: string;
  membershipId?: string;
}

/** A secret in plain text: with --show-secrets, Pulumi writes it as an object with the value as JSON text. */
function inClear(value: unknown): unknown {
  if (typeof value !== "object" || value === null || !("plaintext" in value)) return value;
  try {
    return JSON.parse(String(value.plaintext)) as unknown;
  } catch {
    return undefined;
  }
}

/** Properties with the secrets in them that are in plain text; the others stay as Pulumi writes them. */
export function withSecrets(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (signatureKey in value && "plaintext" in value) return inClear(value);
  if (Array.isArray(value)) return value.map(withSecrets);
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, withSecrets(member)]));
}

/** The credential in some properties, if both its user name and its password are in plain text. */
export function credentialIn(props: object): PlacedCredential[] {
  const { username, password, environmentId, membershipId } = props as Record<string, unknown>;
  const [user, secret] = [inClear(username), inClear(password)];
  if (typeof user !== "string" || typeof secret !== "string") return [];
  return [{ username: user, password: secret, environmentId: text(environmentId), membershipId: text(membershipId) }];
}

/** The credentials in the outputs of a stack: objects with a user name and a password, at any depth. */
export const credentialsInOutputs = (outputs: unknown): PlacedCredential[] =>
  objectsWithin(outputs).flatMap((one) => credentialIn(one).map(({ username, password }) => ({ username, password })));

/** All objects and lists in some JSON, at any depth. */
export function objectsWithin(value: unknown): object[] {
  const found: object[] = [];
  const todo: unknown[] = [value];
  for (let one = todo.pop(); one !== undefined; one = todo.pop()) {
    if (typeof one !== "object" || one === null) continue;
    found.push(one);
    todo.push(...(Object.values(one) as unknown[]));
  }
  return found;
}

/** Whether a credential belongs to an environment. The user name of a credential is its id. */
export const belongsTo = (
  { id, credentials }: EnvironmentModel,
  { username, environmentId }: PlacedCredential,
): boolean => environmentId === id || credentials.some((one) => one.id === username);

/** The credentials of the node's member. Credentials of an unknown owner are not among them. */
export const credentialsFor = (
  environment: EnvironmentModel,
  { membershipId }: NodeModel,
  credentials: readonly PlacedCredential[],
): PlacedCredential[] =>
  credentials.filter((credential) => {
    const { membershipId: own } = environment.credentials.find(({ id }) => id === credential.username) ?? credential;
    return belongsTo(environment, credential) && own === membershipId;
  });

/** What to do about a credential that a node refuses. */
export const replaceCredential =
  "Replace the AppCred (a change of its `keepers` does), then give the new credential to the applications.";
