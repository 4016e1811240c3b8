import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { homedir, hostname } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { atWork, type Journal } from "./journal";
import { isRunning } from "./processes";

/** The folder of a file backend; undefined for any other backend. */
function stateFolderOf(backend = ""): string | undefined {
  const [, home] = /^file:\/\/~(.*)$/.exec(backend) ?? [];
  if (home !== undefined) return join(homedir(), home);
  return URL.canParse(backend) && backend.startsWith("file:///") ? fileURLToPath(new URL(backend).href) : undefined;
}

/**
 * Pulumi keeps a file of attributes beside each file of the state, and does not write that one in one piece: a kill may leave it
 * empty, and then `error: EOF` is all that Pulumi says, for every stack. It needs none, and reads no history for an update.
 */
export function dropTornAttributes(backend: string | undefined): void {
  const state = stateFolderOf(backend);
  const folder = state === undefined ? undefined : join(state, ".pulumi");
  if (folder === undefined || !existsSync(folder)) return;
  for (const file of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    if (!file.endsWith(".attrs") || /^(history|backups)\b/.test(file)) continue;
    const path = join(folder, file);
    if (isTorn(path)) rmSync(path, { force: true });
  }
}

function isTorn(file: string): boolean {
  try {
    JSON.parse(readFileSync(file, "utf8"));
    return false;
  } catch {
    return true;
  }
}

/** A holder of the lock of a stack, as the CLI names it. */
export interface Holder {
  user: string;
  host: string;
  pid: number;
  since: string;
}

const lockedText = /the stack is currently locked by|\[409\] Conflict: Another update is currently in progress/;
const holderText = /created by (\S+)@(\S+) \(pid (\d+)\) at (\S+)/g;

export const isLocked = (text: string): boolean => lockedText.test(text);

export const holdersOf = (text: string): Holder[] =>
  [...text.matchAll(holderText)].map(([, user = "", host = "", pid, since = ""]) => ({
    ...{ user, host, since },
    pid: Number(pid),
  }));

/**
 * Whether the lock of a stack may be cleared: a killed run left the stack unfinished, and every holder was a process of this
 * machine that has ended. Anything less is somebody else's lock. No other run begins with the stack meanwhile: this one has it.
 */
export function mayClear(stack: string, holders: readonly Holder[], journal: Journal): boolean {
  const hasEnded = ({ host, pid }: Holder) =>
    host === hostname() && (journal.startedFor(stack).includes(pid) || !isRunning(pid));
  return journal.left.has(stack) && holders.length > 0 && holders.every(hasEnded);
}

/** Who is at work on a stack, and what to do. */
export function lockedMessage(stack: string, holders: readonly Holder[], journal: Journal, workFolder: string): string {
  const entry = journal.left.has(stack) ? undefined : journal.entryOf(stack);
  const who = [
    ...(entry && entry.pid !== process.pid ? [atWork(entry)] : []),
    ...holders.map(({ user, host, pid, since }) => `${user}@${host}, process ${pid}, since ${since}`),
  ];
  return (
    `the stack is locked by ${who.length > 0 ? who.join("; ") : "another update"}. Wait until that has ended. ` +
    `If it is surely no longer at work, end its lock: pulumi cancel --yes --stack ${stack} (in ${workFolder}), and run this again.`
  );
}
