import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { labelsOf, previewFolder, previewName, programFolder, stackName } from "./manifests";
import { type Fleet } from "./schema";

/* The folder that manifests are written to: what is in it already, and what it lacks. */

/** Files of this fleet in the folder of its manifests whose stacks have left it. */
export function leftManifests(fleet: Fleet, out: string): string[] {
  const own = new Set(fleet.stacks.flatMap((stack) => [stackName(stack), `${previewFolder}/${previewName(stack)}`]));
  const isMade = (text: string) =>
    Object.entries(labelsOf(fleet)).every(([key, value]) => new RegExp(`^ +${key}: "?${value}"?$`, "m").test(text));
  return ["", `${previewFolder}/`].flatMap((folder) => {
    if (!existsSync(join(out, folder))) return [];
    const names = readdirSync(join(out, folder)).flatMap((name) => /^(.*)\.yaml$/.exec(name)?.[1] ?? []);
    return names
      .filter((name) => name !== "access" && !own.has(folder + name))
      .map((name) => join(out, folder, `${name}.yaml`))
      .filter((file) => isMade(readFileSync(file, "utf8")));
  });
}

/** What is missing for pods to install what was tested: the lock of the shared program, of these versions. */
export function lockRemark(files: Record<string, string>, out: string): string | undefined {
  const text = files[`${programFolder}/package.json`];
  if (text === undefined) return undefined;
  const { dependencies } = JSON.parse(text) as { dependencies: object };
  const lock = join(out, programFolder, "package-lock.json");
  const locked = existsSync(lock) && (JSON.parse(readFileSync(lock, "utf8")) as Lock).packages?.[""]?.dependencies;
  if (isDeepStrictEqual(locked, dependencies)) return undefined;
  return `${lock} ${locked ? "is of other versions" : "is missing"}: run \`npm install --package-lock-only\` in its folder, and commit it.`;
}
interface Lock {
  packages?: Record<string, { dependencies?: object }>;
}
