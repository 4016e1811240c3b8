import { type EnvironmentModel, type NodeModel } from "./model";

/** A pair that somebody holds. It is a secret: it never becomes part of a model or a result. */
export interface Held {
  username: string;
  password: string;
  /** Where it works; absent: only its user name tells. */
  environmentId?: string;
  membershipId?: string;
}

/** Pulumi writes a secret as an object with its value as JSON text, when it is told to show secrets; else encrypted. */
function inClear(value: unknown): unknown {
  if (typeof value !== "object" || value === null || !("plaintext" in value)) return value;
  try {
    return JSON.parse(String(value.plaintext)) as unknown;
  } catch {
    return undefined;
  }
}

const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

/** The pair among some properties, if both parts of it are in clear. */
export function pairIn(props: object): Held[] {
  const { username, password, environmentId, membershipId } = props as Record<string, unknown>;
  const [user, secret] = [inClear(username), inClear(password)];
  if (typeof user !== "string" || typeof secret !== "string") return [];
  return [{ username: user, password: secret, environmentId: text(environmentId), membershipId: text(membershipId) }];
}

/** The pairs anywhere in the outputs of a stack: objects with a user name and a password. */
export function heldInOutputs(outputs: unknown): Held[] {
  const found: Held[] = [];
  const todo: unknown[] = [outputs];
  for (let one = todo.pop(); one !== undefined; one = todo.pop()) {
    if (typeof one !== "object" || one === null) continue;
    const pair = pairIn(one).map(({ username, password }) => ({ username, password }));
    if (pair.length > 0) found.push(...pair);
    else todo.push(...(Object.values(one) as unknown[]));
  }
  return found;
}

/** Whether a pair belongs to an environment: the user name of a credential is its id. */
export const isOf = ({ id, credentials }: EnvironmentModel, { username, environmentId }: Held): boolean =>
  environmentId === id || credentials.some((one) => one.id === username);

/** Those of the pairs that may open a node, as far as is known whose they are. */
export const pairsFor = (environment: EnvironmentModel, { membershipId }: NodeModel, held: readonly Held[]): Held[] =>
  held.filter((pair) => {
    const { membershipId: own } = environment.credentials.find(({ id }) => id === pair.username) ?? pair;
    return isOf(environment, pair) && own === membershipId;
  });

/** The header that logs in to a node. */
export const basic = ({ username, password }: Held): string =>
  `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;

/** What to do about a pair that a node refuses. */
export const newPair =
  "Make a new pair: replace the AppCred (a change of its `keepers` does), then give it to the applications.";
