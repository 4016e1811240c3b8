import { InvalidArgumentError } from "@commander-js/extra-typings";
import { readFileSync } from "node:fs";
import { z } from "zod";
import { checked, ServiceError } from "../errors";
import type { ServiceOptions } from "../settings/options";
import { apiQuirks, timing } from "../settings/settings";

export const stopSignals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** The text of a file that was named on the command line. */
export function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const why = code === "ENOENT" ? "there is no such file" : message;
    throw new ServiceError(`${file} cannot be read: ${why}.`, { cause: error });
  }
}

export const wholeNumber =
  (least: number, most = Infinity) =>
  (text: string): number => {
    const value = text.trim() === "" ? NaN : Number(text);
    if (Number.isInteger(value) && value >= least && value <= most) return value;
    const range = most === Infinity ? `of at least ${least}` : `from ${least} to ${most}`;
    throw new InvalidArgumentError(`It must be a whole number ${range}.`);
  };

export function number(text: string): number {
  const value = Number(text);
  if (text.trim() === "" || !(value >= 0)) throw new InvalidArgumentError("It must be a number of at least 0.");
  return value;
}

/** The file that `consortium probe --save` writes. Missing answers get the service's defaults. */
const probed = z.strictObject({
  answers: apiQuirks,
  timing: timing.partial().optional(),
  seen: z.looseObject({}).optional(),
});

/** Whom a service is like: `specification`, `hosted`, or the file of a probe. */
export function likeWhom(whom: string): Pick<ServiceOptions, "answers" | "timing"> {
  if (whom === "specification" || whom === "hosted") return { answers: { like: whom } };
  const otherwise = "--like takes specification, hosted, or a file that `consortium probe --save` wrote";
  let like: unknown;
  try {
    like = JSON.parse(textOf(whom));
  } catch (error) {
    const why = error instanceof SyntaxError ? `${whom} is not valid JSON.` : (error as Error).message;
    throw new ServiceError(`${otherwise}. ${why}`, { cause: error });
  }
  checked(`${otherwise}. ${whom}`, probed, like);
  const { answers, timing: times } = like as ServiceOptions;
  return { answers, timing: times };
}
