import { renameSync, writeFileSync } from "node:fs";

/** Writes a file at once: whoever reads it sees the old text or the new one, and never a part. */
export function replaceFile(file: string, text: string): void {
  const next = `${file}.${process.pid}.new`;
  writeFileSync(next, text);
  renameSync(next, file);
}
