import { readdirSync, readFileSync } from "node:fs";
import { userInfo } from "node:os";
import { dirname, join, resolve, sep } from "node:path";
import { z } from "zod";
import { fieldsOf } from "../../provider/plain";
import { type Finding, note, wrong } from "./findings";
import { parsed } from "./versions";

/* What blocks a stack: locks of other runs, and operations that a killed run left pending. */

export interface Holder {
  user: string;
  host: string;
  pid: number;
  since: string;
}

export interface Lock {
  /** Such as `organization/net/dev`. */
  path: string;
  holder: Holder;
}

/** The backend, as `pulumi whoami --json` tells it: only Pulumi knows where it looks, such as which home it takes. */
export function backendIn(said: string): string | undefined {
  const { url } = fieldsOf(parsed(said));
  return typeof url === "string" && url !== "" ? url : undefined;
}

/**
 * The locks in a backend. Only folders list them; other backends report them when a run starts.
 * @param project the folder of the project, to which its address may be relative
 * @returns undefined if the backend cannot list them
 */
export function locksIn(backend: string, project: string): Lock[] | undefined {
  if (!backend.startsWith("file://")) return undefined;
  // As Pulumi does, it takes the user's home from the system, and not from the variable HOME.
  const state = backend.slice("file://".length).replace(/^~/, () => userInfo().homedir);
  const folder = join(resolve(project, state), ".pulumi", "locks");
  const files = filesIn(folder).filter((file) => file.endsWith(".json"));
  return files.flatMap((file) => {
    const holder = holderIn(join(folder, file));
    return holder ? [{ path: dirname(file).split(sep).join("/"), holder }] : [];
  });
}

function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, encoding: "utf8" });
  } catch {
    return []; // no run has ever locked anything
  }
}

function holderIn(file: string): Holder | undefined {
  try {
    const { username, hostname, pid, timestamp } = fieldsOf(parsed(readFileSync(file, "utf8")));
    return { user: String(username), host: String(hostname), pid: Number(pid), since: String(timestamp) };
  } catch {
    return undefined; // its run has just ended
  }
}

/** Whether a lock is on this stack. @param project absent: any */
export function isOn({ path }: Lock, project: string | undefined, stack: string): boolean {
  const [inProject, name] = path.split("/").slice(-2);
  return name === stack && (project === undefined || inProject === project);
}

export const holdersText = (holders: readonly Holder[]): string =>
  holders.map(({ user, host, pid, since }) => `${user}@${host} (process ${pid}) since ${since}`).join(" and ");

const Pending = z.looseObject({
  deployment: z.looseObject({
    pending_operations: z
      .array(z.looseObject({ type: z.string(), resource: z.looseObject({ urn: z.string() }) }))
      .nullish(),
  }),
});

/**
 * The operations that a killed run left pending, from the exported state of a stack. @param next the next step
 * @param isLocked whether the run that began it may still be at work
 */
export function pendingIn(document: unknown, next: string, isLocked: boolean): Finding[] {
  const pending = Pending.safeParse(document).data?.deployment.pending_operations ?? [];
  if (pending.length === 0) return [];
  const names = pending.map(({ type, resource }) => `${type} ${resource.urn.split("::").at(-1)}`);
  if (isLocked) return [note("pending operations", `${names.join(", ")}, by the run that has the lock`)];
  return [wrong("pending operations", `a run was killed: ${names.join(", ")}`, next)];
}

/** What to do where a run was killed while it wrote a state, by what Pulumi says of it. undefined: it says something else. */
export const cutOff = (said: string): string | undefined =>
  /failed to load checkpoint|unexpected end of JSON input|\bEOF$/m.test(said)
    ? "Put the backup of the state in place: docs/recovery.md#a-state-file-that-was-cut-off."
    : undefined;

/** The address of a backend may hold a password. */
export const withoutLogin = (url: string): string => url.replace(/\/\/[^/@]*@/, "//");
