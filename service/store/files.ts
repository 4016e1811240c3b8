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
import { draftOf, generationOf } from "./generation";

/**
 * Replaces a file atomically, readable by its owner only, if this process still holds its folder. Follows a link to its target, but
 * no link that somebody planted at the temporary path.
 */
export function replaceFile(file: string, content: string | Buffer | ((descriptor: number) => void)): void {
  const target = existsSync(file) ? realpathSync(file) : file;
  const generation = generationOf(file);
  const temporary = draftOf(target, generation);
  generation?.check();
  rmSync(temporary, { force: true });
  try {
    const descriptor = openSync(temporary, "wx", 0o600);
    try {
      if (typeof content === "function") content(descriptor);
      else writeFileSync(descriptor, content);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    generation?.check();
    renameSync(temporary, target);
    syncFolder(dirname(target));
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** Syncs a folder. A new file in it survives a power cut only after that. */
export function syncFolder(folder: string): void {
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
