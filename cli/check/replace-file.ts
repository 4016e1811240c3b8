import { renameSync, rmSync, writeFileSync } from "node:fs";

const reasons: Record<string, string> = {
  ENOENT: "there is no such folder",
  EISDIR: "it is a folder",
  EACCES: "the permissions of its folder do not let you write there",
};

/** Writes a file at once: whoever reads it sees the old text or the new one, and never a part. */
export function replaceFile(file: string, text: string): void {
  const next = `${file}.${process.pid}.new`;
  try {
    writeFileSync(next, text);
    renameSync(next, file);
  } catch (error) {
    rmSync(next, { force: true });
    const { code = "", message } = error as NodeJS.ErrnoException;
    throw new Error(`${file} cannot be written: ${reasons[code] ?? message}.`, { cause: error });
  }
}
