import { hash } from "node:crypto";
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { z } from "zod";

/** Replaces a file atomically, readable by its owner only. Does not follow a link at the temporary path. */
export function replaceFile(file: string, content: string): void {
  const temporary = `${file}.new`;
  rmSync(temporary, { force: true });
  try {
    const descriptor = openSync(temporary, "wx", 0o600);
    try {
      writeFileSync(descriptor, content);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(temporary, file);
    syncFolder(dirname(file));
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** Syncs a folder, so that new files in it survive a power cut. */
function syncFolder(folder: string): void {
  const descriptor = openSync(folder, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

export const sha256 = (content: string | Buffer) => hash("sha256", content, "hex");
export const sha256OfFile = (file: string) => sha256(readFileSync(file));

/** Parses JSON. Pipe it into the schema of the content. */
export const jsonText = z.string().transform((text, context): unknown => {
  try {
    return JSON.parse(text);
  } catch (error) {
    context.addIssue((error as Error).message);
    return z.NEVER;
  }
});
