import { type Command, InvalidArgumentError, Option } from "@commander-js/extra-typings";
import {
  accessSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, resolve } from "node:path";
import { createInterface } from "node:readline";
import { printable, printableLines } from "../../provider/api/printable";
import { codedMessage, codeOf, UserError } from "../../provider/errors";
import { messageOf } from "../../provider/plain";

/*
 * What a command tells leaves through `print` (standard output) and `say` (standard error): names and messages of others move no cursor and
 * change no color or direction. In a list, each entry is one line, whatever is in it.
 */
type Told = string | readonly string[];
const shown = (text: Told): string =>
  typeof text === "string" ? printableLines(text) : text.map(printable).join("\n");
export const print = (text: Told): void => console.log(shown(text));
export const say = (text: Told): void => console.error(shown(text));

/** JSON for programs, which a terminal can show as it is. */
export const jsonText = (value: unknown): string => printableLines(JSON.stringify(value, undefined, 2));

/** Prints an error, with --json also as the document that a program waits for, and sets the exit code. */
export function fail(error: unknown, { exitCode = 1, json = false } = {}): void {
  if (json) print(jsonText({ error: { code: codeOf(error), message: messageOf(error) } }));
  say(`consortium: ${codedMessage(error)}`);
  process.exitCode = exitCode;
}

/** A command with any options. */
interface AnyCommand {
  name(): string;
  showHelpAfterError(text: string): unknown;
  readonly commands: readonly AnyCommand[];
}

/** Makes errors in the arguments of a command point to its own help. */
export function pointToHelp(command: AnyCommand, name: string): void {
  command.showHelpAfterError(`(see ${name} --help)`);
  for (const inner of command.commands) pointToHelp(inner, `${name} ${inner.name()}`);
}

/** The values of the options that a function gives to a command. */
export type FlagsOf<Options extends (command: Command) => { opts: () => unknown }> = ReturnType<
  ReturnType<Options>["opts"]
>;

export const stopSignals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

const folder = { EISDIR: "it is a folder" };
const reading: Record<string, string> = {
  ...folder,
  ENOENT: "there is no such file",
  EACCES: "its permissions do not let you read it",
};
const writing: Record<string, string> = {
  ...folder,
  EEXIST: "its folder is a file",
  ENOTDIR: "its folder is a file",
  ENOENT: "there is no such folder",
  EACCES: "the permissions of its folder do not let you write there",
};

function failed(what: string, reasons: Record<string, string>, cause: unknown): Error {
  const { code = "", message } = cause as NodeJS.ErrnoException;
  return new UserError("invalid-file", `${what}: ${reasons[code] ?? message}.`, { cause });
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

/** Writes a file that was named on the command line. Its readers see the old text or the new one, never a part. */
export function replaceFile(file: string, text: string): void {
  const next = `${file}.${process.pid}.new`;
  try {
    // A device, a pipe or a link, such as /dev/stdout, is not replaced.
    if (lstatSync(file, { throwIfNoEntry: false })?.isFile() === false) return writeFileSync(file, text);
    writeFileSync(next, text);
    renameSync(next, file);
  } catch (error) {
    rmSync(next, { force: true });
    throw failed(`${file} cannot be written`, writing, error);
  }
}

/**
 * Call before work whose result goes into the file.
 * @param inNewFolder creates its folder if it does not exist
 * @throws Error if the file cannot be written there
 */
export function writable(file: string, inNewFolder = false): string {
  try {
    if (inNewFolder) mkdirSync(dirname(resolve(file)), { recursive: true });
    if (statSync(file, { throwIfNoEntry: false })?.isDirectory()) throw Object.assign(new Error(), { code: "EISDIR" });
    accessSync(existsSync(file) ? file : dirname(resolve(file)), constants.W_OK);
    return file;
  } catch (error) {
    throw failed(`${file} cannot be written`, writing, error);
  }
}

interface Terminal {
  input: NodeJS.ReadableStream & { isTTY?: boolean };
  output: NodeJS.WritableStream;
}
/** Not a constant: once `process.stdin` has been touched, a read of a pipe that is not ready fails (EAGAIN). */
const ownTerminal = (): Terminal => ({ input: process.stdin, output: process.stderr });

/** Asks for confirmation. False without a terminal, and for any answer but yes. */
export async function confirm(question: string, { input, output } = ownTerminal()): Promise<boolean> {
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

/** An option that may be repeated. @param unset its default, as the help shows it */
export const repeatable = <Flags extends string>(flags: Flags, description: string, unset = "none") =>
  new Option(flags, `${description}; repeatable`)
    .argParser((text, before: readonly string[]) => [...before, text])
    .default([], unset);

/** Parses a whole number. */
export const wholeNumber =
  (least: number, most = Infinity) =>
  (text: string): number => {
    const value = text.trim() === "" ? NaN : Number(text);
    if (Number.isInteger(value) && value >= least && value <= most) return value;
    const range = most === Infinity ? `of at least ${least}` : `from ${least} to ${most}`;
    throw new InvalidArgumentError(`It must be a whole number ${range}.`);
  };

/** An option such as `--target mainnet=https://…`, which may be repeated: the JSON-RPC address of each public network. */
export const targetOption = (description: string) =>
  new Option("--target <network=url>", `${description}; repeatable`).argParser(networkUrl).default({}, "none");

function networkUrl(text: string, before: Readonly<Record<string, string>>): Record<string, string> {
  const [, network, url = ""] = /^([^=]+)=(https?:\/\/.+)$/.exec(text) ?? [];
  if (network === undefined || !URL.canParse(url))
    throw new InvalidArgumentError("It must be network=URL, such as mainnet=https://….");
  return { ...before, [network]: url };
}
