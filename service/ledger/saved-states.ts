import { existsSync, readFileSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { files } from "./watcher";

/** A state that can be given to a chain. */
export interface Saved {
  state: Buffer;
  /** What the chain's log is to say of it, if anything. */
  note?: string;
}

/** How a state of version 0.1.0 is called. */
const plain = "state.json";

/**
 * The newest whole state of a folder. One that is not whole, since the machine failed or somebody changed it, is put aside, and
 * the one before is taken; none is ever erased.
 */
export function lastWhole(dir: string): Saved | undefined {
  const notes: string[] = [];
  for (const name of [files.state, files.last, plain]) {
    const file = join(dir, name);
    if (!existsSync(file)) continue;
    const state = readFileSync(file);
    if (isWhole(state)) {
      const from = `the chain goes on from that of ${statSync(file).mtime.toISOString()}`;
      return { state, ...(notes.length > 0 ? { note: `${notes.join(" ")} So ${from}.` } : {}) };
    }
    renameSync(file, `${file}.damaged`);
    notes.push(`The state in ${name} was cut off; it is kept as ${name}.damaged.`);
  }
  return notes.length === 0 ? undefined : { state: Buffer.alloc(0), note: `${notes.join(" ")} The chain begins anew.` };
}

/** The height that the chain had when it was last seen. */
export function heightSeen(dir: string): number {
  const file = join(dir, files.height);
  return existsSync(file) ? Number(readFileSync(file, "utf8")) || 0 : 0;
}

const gzip = Buffer.from([0x1f, 0x8b]);

function isWhole(state: Buffer): boolean {
  try {
    const text = state.subarray(0, 2).equals(gzip) ? gunzipSync(state).toString() : state.toString();
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null;
  } catch {
    return false;
  }
}
