import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { homedir, hostname } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Journal } from "./journal";
import { endRemains, isRunning, remainsOf } from "./processes";

/**
 * After runs that were killed, before anything else: what they started is ended, and what they were writing is made readable
 * again. @throws when something of them does not end
 */
export async function clearAfterDeadRuns(journal: Journal, stacks: readonly string[], backend = ""): Promise<void> {
  const dead = await journal.deadRuns(stacks);
  for (const run of dead) {
    if (await endRemains(run)) continue;
    const pids = remainsOf(run).join(", ");
    throw new Error(
      `Processes of a fleet run that was killed (${run.command}, begun ${run.startedAt}) do not end: ${pids}. End them by hand.`,
    );
  }
  const folder = dead.length > 0 ? stateFolderOf(backend) : undefined;
  if (folder !== undefined) dropTornAttributes(join(folder, ".pulumi"));
}

/** The folder of a state in files; undefined: it is elsewhere. */
function stateFolderOf(backend: string): string | undefined {
  const [, home] = /^file:\/\/~(.*)$/.exec(backend) ?? [];
  if (home !== undefined) return join(homedir(), home);
  return URL.canParse(backend) && backend.startsWith("file:///") ? fileURLToPath(new URL(backend).href) : undefined;
}

/**
 * Pulumi keeps a file of attributes beside each file of the state, and does not write that one in one piece: a kill may leave it
 * empty, and then `error: EOF` is all that Pulumi says, for every stack. It needs none, and reads no history for an update.
 */
export function dropTornAttributes(folder: string): void {
  if (!existsSync(folder)) return;
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

/** Who holds the lock of a stack, as the CLI says it. */
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
 * machine that has ended. Anything less is somebody else's lock. Nor may it where another run has begun with this stack
 * meanwhile: Pulumi ends all locks of a stack at once, and one may be that run's by now.
 */
export async function mayClear(stack: string, holders: readonly Holder[], journal: Journal): Promise<boolean> {
  const ours = journal.own.unfinished[stack] ?? [];
  const hasEnded = ({ host, pid }: Holder) => host === hostname() && (ours.includes(pid) || !isRunning(pid));
  const isLeft = journal.left.has(stack) && holders.length > 0;
  return isLeft && holders.every(hasEnded) && (await journal.othersAt(stack)).length === 0;
}

/** Who is at work on a stack, and what to do. */
export async function lockedMessage(
  stack: string,
  holders: readonly Holder[],
  journal: Journal,
  workFolder: string,
): Promise<string> {
  const [run] = await journal.othersAt(stack);
  const who = [
    ...(run ? [`a fleet run (${run.command}) of process ${run.pid} on ${run.host}, begun ${run.startedAt}`] : []),
    ...holders.map(({ user, host, pid, since }) => `${user}@${host}, process ${pid}, since ${since}`),
  ];
  return (
    `the stack is locked by ${who.length > 0 ? who.join("; ") : "another update"}. Wait until that has ended. ` +
    `If it is surely no longer at work, end its lock: pulumi cancel --yes --stack ${stack} (in ${workFolder}), and run this again.`
  );
}
