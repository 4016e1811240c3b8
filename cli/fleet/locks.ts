import { type Journal, type Run } from "./journal";

/** Who holds a lock, as the CLI says it. */
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
 * Whether a lock may be cleared: every holder was a process of this machine that has ended, and a run of ours that is dead, and
 * of which nothing is left, was at work on this stack. Anything less is somebody else's lock. Nor may it where another run has
 * begun with this stack meanwhile: Pulumi ends all locks of a stack at once, and one may be that run's by now.
 */
export function mayClear(stack: string, holders: readonly Holder[], journal: Journal): boolean {
  const { machine } = journal;
  const dead = deadRuns(stack, journal).filter((run) => !journal.remains(run));
  return (
    dead.length > 0 &&
    othersAt(stack, journal).length === 0 &&
    holders.length > 0 &&
    holders.every((holder) => holder.host === machine.host && machine.beginningOf(holder.pid) === undefined)
  );
}

/** Runs that were killed while they were at work on this stack. */
export const deadRuns = (stack: string, journal: Journal): Run[] =>
  journal.runs().filter((run) => run.unfinished.includes(stack) && journal.verdict(run) === "dead");

/** Runs of other processes that are at work on this stack. */
const othersAt = (stack: string, journal: Journal): Run[] =>
  journal
    .runs()
    .filter((run) => run.pid !== process.pid && run.unfinished.includes(stack) && journal.verdict(run) !== "dead");

/** Who is at work on a stack, and what to do. */
export function lockedMessage(stack: string, holders: readonly Holder[], journal: Journal, workFolder: string): string {
  const [run] = othersAt(stack, journal);
  const who = [
    ...(run ? [`a fleet run (${run.command}) of process ${run.pid} on ${run.host}, begun ${run.startedAt}`] : []),
    ...holders.map(({ user, host, pid, since }) => `${user}@${host}, process ${pid}, since ${since}`),
  ];
  return (
    `the stack is locked by ${who.length > 0 ? who.join("; ") : "another update"}. Wait until that has ended. ` +
    `If it is surely no longer at work, end its lock: pulumi cancel --yes --stack ${stack} (in ${workFolder}), and run this again.`
  );
}
