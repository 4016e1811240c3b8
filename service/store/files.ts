import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { z } from "zod";

/** Replaces a file in one step, readable by its owner only: a reader sees the old or the new one, never half. */
export function replaceFile(file: string, text: string): void {
  const temporary = `${file}.new`;
  try {
    const descriptor = openSync(temporary, "w", 0o600);
    try {
      writeFileSync(descriptor, text);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(temporary, file);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** What a text says in JSON; pipe it into the schema of what it must hold. */
export const jsonText = z.string().transform((text, context): unknown => {
  try {
    return JSON.parse(text);
  } catch (error) {
    context.addIssue((error as Error).message);
    return z.NEVER;
  }
});
