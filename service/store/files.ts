import { hash } from "node:crypto";
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { z } from "zod";

/**
 * Replaces a file in one step, readable by its owner only: a reader sees the old or the new one, never half. Of a link, what it leads
 * to is replaced; what somebody put where the new one is written is not followed.
 */
export function replaceFile(file: string, content: string | Buffer): void {
  const target = existsSync(file) ? realpathSync(file) : file;
  const temporary = `${target}.new`;
  rmSync(temporary, { force: true });
  try {
    const descriptor = openSync(temporary, "wx", 0o600);
    try {
      writeFileSync(descriptor, content);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(temporary, target);
    syncFolder(dirname(target));
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** A file that is new in a folder is there after a power cut only once the disk has the folder, too. */
export function syncFolder(folder: string): void {
  if (process.platform === "win32") return; // which syncs no folders
  const descriptor = openSync(folder, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

export const sha256 = (content: string | Buffer) => hash("sha256", content, "hex");
export const sha256OfFile = (file: string) => sha256(readFileSync(file));

/** What a text says in JSON; pipe it into the schema of what it must hold. */
export const jsonText = z.string().transform((text, context): unknown => {
  try {
    return JSON.parse(text);
  } catch (error) {
    context.addIssue((error as Error).message);
    return z.NEVER;
  }
});
