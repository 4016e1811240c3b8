import { copyFile, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";

/** Where the chain of a folder keeps its state. */
export const stateFile = (dir: string) => join(dir, "state.json");
const aside = (dir: string) => join(dir, "state.last.json");

/**
 * A chain writes its state over the old one: a machine that fails just then leaves half of it, with which no chain starts. So a
 * whole one is kept aside before each start, and half a one gives way to it.
 * @returns what the chain's log is to say of it, if anything
 */
export async function ensureWholeState(dir: string): Promise<string | undefined> {
  const [file, last] = [stateFile(dir), aside(dir)];
  const text = await readFile(file, "utf8").catch(() => undefined);
  if (text === undefined) return undefined;
  if (isJson(text)) {
    await copyFile(file, `${last}.new`);
    await rename(`${last}.new`, last);
    return undefined;
  }
  const kept = await stat(last).catch(() => undefined);
  if (!kept) {
    await rm(file);
    return "The state on disk was cut off, and there is no earlier one: the chain begins anew.";
  }
  await copyFile(last, file);
  return `The state on disk was cut off: the chain goes on from that of ${kept.mtime.toISOString()}.`;
}

function isJson(text: string): boolean {
  try {
    return typeof JSON.parse(text) === "object";
  } catch {
    return false;
  }
}
