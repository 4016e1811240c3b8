import { createHmac, randomBytes } from "node:crypto";
import { type ConsortiumClient, type Settings } from "../api";

/* The record in a state about the organization of its object. organization.ts decides by it. */

/** The organization of an object, as recorded in its state. */
export interface Ownership {
  /** Ids of the organizations that it may be, usually one. Absent: the service did not show it. */
  organizations?: string[];
  /** Fingerprints of the keys that were proved to belong to it, and of the addresses where: `salt:key:address`, newest last. */
  keys: string[];
}

/** An object of a state, with what identifies its organization. */
export interface StateObject {
  /** Its name in messages. */
  what: string;
  ownership: Ownership;
  /** Asks whether the key sees it, for objects outside any consortium. */
  isShown?: (client: ConsortiumClient) => Promise<boolean>;
  /** The consortium that it is or is in; undefined for a tether service. */
  consortiumId?: string;
  id: string;
  /** Its path, which identifies it everywhere. */
  path: string;
}

const mostKeys = 8;

/** Made fingerprints of settings, by salt: the states of a stack share a few salts. */
const fingerprints = new WeakMap<Settings, Map<string, string>>();

function fingerprint(salt: string, settings: Settings): string {
  const made = fingerprints.get(settings) ?? new Map<string, string>();
  fingerprints.set(settings, made);
  const known = made.get(salt);
  if (known !== undefined) return known;
  const { apiKey, baseUrl } = settings;
  const hash = createHmac("sha256", salt).update(`${apiKey.reveal()}\n${baseUrl}`).digest("hex");
  const found = `${salt}:${hash.slice(0, 32)}`;
  made.set(salt, found);
  return found;
}

/** One salt per process, so that all states of a run get the same fingerprint. */
const ownSalt = randomBytes(16).toString("hex");

const addressMark = (salt: string, { baseUrl }: Settings): string =>
  createHmac("sha256", salt).update(baseUrl).digest("hex").slice(0, 8);

/** Whether this key was proved before. */
export const isKnown = ({ keys }: Ownership, settings: Settings): boolean =>
  keys.some((key) => key.startsWith(fingerprint(key.split(":")[0]!, settings)));

export function withKey(origin: Ownership, settings: Settings): Ownership {
  if (isKnown(origin, settings)) return origin;
  const key = `${fingerprint(ownSalt, settings)}:${addressMark(ownSalt, settings)}`;
  return { ...origin, keys: [...origin.keys, key].slice(-mostKeys) };
}

/** Whether all its keys were proved at other addresses. Some states do not tell. */
export const isElsewhere = ({ keys }: Ownership, settings: Settings): boolean =>
  keys.length > 0 &&
  keys.every((key) => {
    const [salt = "", , address = addressMark(salt, settings)] = key.split(":");
    return address !== addressMark(salt, settings);
  });
