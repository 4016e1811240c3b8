import { type NetworkModel } from "../model";
import { recordsIn } from "../stack";

/** A pair that somebody holds. It is a secret: it never becomes part of a model or a result. */
export interface Held {
  username: string;
  password: string;
  /** Where it works; absent: only its user name tells. */
  environmentId?: string;
  membershipId?: string;
}

/** What opens a node; undefined: nothing that is held. */
export type Opener = (environmentId: string, membershipId: string | undefined) => Held | undefined;

/** Pulumi writes a secret as an object with its value as JSON text, when it is told to show secrets. */
function plain(value: unknown): unknown {
  if (typeof value !== "object" || value === null || !("plaintext" in value)) return value;
  return JSON.parse(String(value.plaintext)) as unknown;
}

/** The pairs in the state of a stack, exported with --show-secrets. */
export function heldInStack(document: unknown, what: string): Held[] {
  return recordsIn(document, what).flatMap(({ kind, props }) => {
    const [username, password] = [plain(props.username), plain(props.password)];
    if (kind !== "credential" || typeof username !== "string" || typeof password !== "string") return [];
    const { environmentId, membershipId } = props as Record<string, string>;
    return [{ username, password, environmentId, membershipId }];
  });
}

/** The pairs anywhere in the outputs of a stack: objects with a user name and a password. */
export function heldInOutputs(outputs: unknown): Held[] {
  const found: Held[] = [];
  const todo: unknown[] = [outputs];
  for (let one = todo.pop(); one !== undefined; one = todo.pop()) {
    if (typeof one !== "object" || one === null) continue;
    const { username, password } = one as Record<string, unknown>;
    if (typeof username === "string" && typeof password === "string") found.push({ username, password });
    else todo.push(...(Object.values(one) as unknown[]));
  }
  return found;
}

/** Finds the pair of a member in an environment: the user name of a credential is its id. */
export function openerOf(held: readonly Held[], { consortia }: NetworkModel): Opener {
  const pairs = new Map<string, Held>();
  const environments = consortia.flatMap((one) => one.environments);
  for (const { id, credentials } of environments) {
    for (const one of held) {
      const known = credentials.find((credential) => credential.id === one.username);
      if (known) pairs.set(`${id} ${known.membershipId}`, one);
    }
  }
  for (const one of held)
    if (one.environmentId !== undefined) pairs.set(`${one.environmentId} ${one.membershipId}`, one);
  return (environmentId, membershipId) => pairs.get(`${environmentId} ${membershipId}`);
}
