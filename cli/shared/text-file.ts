import { readFileSync } from "node:fs";

const reasons: Record<string, string> = {
  ENOENT: "there is no such file",
  EISDIR: "it is a folder",
  EACCES: "its permissions do not let you read it",
};

/** The text of a file that was named on the command line; `-` is standard input. */
export function textOf(file: string): string {
  if (file === "-") return readFileSync(0, "utf8");
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    const { code = "", message } = error as NodeJS.ErrnoException;
    throw new Error(`${file} cannot be read: ${reasons[code] ?? message}.`, { cause: error });
  }
}
