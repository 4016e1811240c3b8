import { InvalidArgumentError, Option } from "commander";
import { lstatSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";

const folder = { EISDIR: "it is a folder" };
const reading: Record<string, string> = {
  ...folder,
  ENOENT: "there is no such file",
  EACCES: "its permissions do not let you read it",
};
const writing: Record<string, string> = {
  ...folder,
  ENOENT: "there is no such folder",
  EACCES: "the permissions of its folder do not let you write there",
};

function failed(what: string, reasons: Record<string, string>, cause: unknown): Error {
  const { code = "", message } = cause as NodeJS.ErrnoException;
  return new Error(`${what}: ${reasons[code] ?? message}.`, { cause });
}

/** The text of a file that was named on the command line; `-` is standard input. */
export function textOf(file: string): string {
  if (file === "-") return readFileSync(0, "utf8");
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw failed(`${file} cannot be read`, reading, error);
  }
}

/** Writes a file that was named on the command line at once: whoever reads it sees the old text or the new one, never a part. */
export function replaceFile(file: string, text: string): void {
  const next = `${file}.${process.pid}.new`;
  try {
    // nothing takes the place of a device, a pipe or a link, such as /dev/stdout
    if (lstatSync(file, { throwIfNoEntry: false })?.isFile() === false) return writeFileSync(file, text);
    writeFileSync(next, text);
    renameSync(next, file);
  } catch (error) {
    rmSync(next, { force: true });
    throw failed(`${file} cannot be written`, writing, error);
  }
}

export interface Terminal {
  input: NodeJS.ReadableStream & { isTTY?: boolean };
  output: NodeJS.WritableStream;
}

/** False without a terminal, and for any answer but yes. */
export async function confirm(question: string, { input, output }: Terminal): Promise<boolean> {
  if (!input.isTTY) return false;
  const lines = createInterface({ input, output });
  try {
    const answer = await new Promise<string>((done) => {
      lines.once("close", () => done("")); // Ctrl-D, or Ctrl-C
      lines.question(`${question} [y/N] `, done);
    });
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    lines.close();
  }
}

/** An option that may be repeated. @param unset what there is without it, as the help says it */
export const repeatable = (flags: string, description: string, unset = "none"): Option =>
  new Option(flags, `${description}; repeatable`)
    .argParser((text, before: readonly string[]) => [...before, text])
    .default([], unset);

/** Parses a repeatable option such as `rinkeby=https://…`: the JSON-RPC address of each public network. */
export function networkUrl(text: string, before: Readonly<Record<string, string>>): Record<string, string> {
  const [, network, url = ""] = /^([^=]+)=(https?:\/\/.+)$/.exec(text) ?? [];
  if (network === undefined || !URL.canParse(url))
    throw new InvalidArgumentError("It must be network=URL, such as rinkeby=https://….");
  return { ...before, [network]: url };
}
