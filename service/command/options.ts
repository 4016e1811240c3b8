import { InvalidArgumentError, Option } from "commander";
import { readFileSync } from "node:fs";

export const stopSignals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** The text of a file that was named on the command line. */
export function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new Error(`${file} cannot be read: ${code === "ENOENT" ? "there is no such file" : message}.`, {
      cause: error,
    });
  }
}

/** An option that may be repeated. @param unset its default, as the help shows it */
export const repeatable = (flags: string, description: string, unset = "none"): Option =>
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

/** Parses a number of at least 0. */
export function number(text: string): number {
  const value = Number(text);
  if (text.trim() === "" || !(value >= 0)) throw new InvalidArgumentError("It must be a number of at least 0.");
  return value;
}
