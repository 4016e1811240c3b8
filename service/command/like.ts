import { z } from "zod";
import { checked } from "../errors";
import { type ServiceOptions } from "../settings/options";
import { apiQuirks, timing } from "../settings/settings";
import { textOf } from "./options";

/** Whom a service is like: what `consortium probe --save` writes, and `consortium serve --like` reads. */
export type Like = Pick<ServiceOptions, "answers" | "timing">;

const rules = z.strictObject({ answers: apiQuirks, timing: timing.partial().optional() });

/** @throws Error that says in one sentence what is wrong with it */
export function checkedLike(where: string, like: unknown): Like {
  checked(where, rules, like); // the answers' own defaults are the service's
  return like as Like;
}

/** `specification`, `hosted`, or the file of a probe. */
export function likeWhom(whom: string): Like {
  if (whom === "specification" || whom === "hosted") return { answers: { like: whom } };
  const otherwise = "--like takes specification, hosted, or a file that `consortium probe --save` wrote";
  let like: unknown;
  try {
    like = JSON.parse(textOf(whom));
  } catch (error) {
    const why = error instanceof SyntaxError ? `${whom} is not JSON.` : (error as Error).message;
    throw new Error(`${otherwise}. ${why}`, { cause: error });
  }
  return checkedLike(`${otherwise}. ${whom}`, like);
}
