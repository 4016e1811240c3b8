import { readdirSync, readFileSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Journal } from "./journal";

/**
 * After runs that were killed, before anything else: what they started is ended, and what they were writing is made readable
 * again. @throws when something of them does not end
 */
export async function clearAfterDeadRuns(journal: Journal, backend: string | undefined): Promise<void> {
  const dead = journal.runs().filter((run) => journal.verdict(run) === "dead");
  for (const run of dead) {
    if (await journal.endRemains(run)) continue;
    const pids = journal.machine.remainsOf(run.id).join(", ");
    throw new Error(
      `Processes of a fleet run that was killed (${run.command}, begun ${run.startedAt}) do not end: ${pids}. End them by hand.`,
    );
  }
  const folder = dead.length > 0 ? stateFolderOf(backend) : undefined;
  if (folder !== undefined) dropTornAttributes(join(folder, ".pulumi"));
}

/** The folder of a state in files; undefined: it is elsewhere. */
function stateFolderOf(backend = ""): string | undefined {
  const [, home] = /^file:\/\/~(.*)$/.exec(backend) ?? [];
  if (home !== undefined) return join(homedir(), home);
  return URL.canParse(backend) && backend.startsWith("file:///") ? fileURLToPath(new URL(backend).href) : undefined;
}

/** History is not read for an update. */
const skipped = new Set(["history", "backups"]);

/**
 * Pulumi keeps a file of attributes beside each file of the state, and does not write that one in one piece: a kill may leave it
 * empty, and then `error: EOF` is all that Pulumi says, for every stack. It needs none.
 */
export function dropTornAttributes(folder: string): void {
  const entries = (() => {
    try {
      return readdirSync(folder, { withFileTypes: true });
    } catch {
      return [];
    }
  })();
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.isDirectory() && !skipped.has(entry.name)) dropTornAttributes(path);
    if (entry.isFile() && entry.name.endsWith(".attrs") && isTorn(path)) rmSync(path, { force: true });
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
