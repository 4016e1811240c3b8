import { z } from "zod";
import { ConsortiumObject } from "../api";
import { printable } from "../api/printable";
import { Listed } from "../core/collection";
import { type Definition, type Props } from "../core/definition";
import { field } from "../core/field";
import { type Session } from "../core/session";
import { environmentsKey, limits, lossWarnings } from "../constants";
import { common, consortia, description, environments, nameText, outputs } from "./fields";

export const consortium: Definition = {
  type: "Consortium",
  title: "consortium",
  doc: `A business network that several organizations run together. An organization owns at most ${limits.consortia} consortia.`,
  inputs: z.strictObject({
    name: field(nameText("name"), "Name of the consortium.", { default: "the name of the resource" }),
    description: description(),
    ...common(),
  }),
  outputs: outputs({
    owner: field(z.string().optional(), "Id of the organization that owns it."),
  }),
  wire: ConsortiumObject,
  naming: ["name"],
  shownLater: ["owner", "state", "createdAt"],
  place: consortia,
  emptyWhenMade: ["environments"],
  owner: "owner",
  replaceWarning: lossWarnings.replaceConsortium,
  losses: lostEnvironments,
  deleteWarning: survivors,
};

/** What would be lost with it: nobody deletes an environment with `retainOnDelete` or `deletedWith` first, or one of other people. */
async function survivors(session: Session, id: string): Promise<string | undefined> {
  const there = await new Listed(session, environments({ consortiumId: id })).staying(ownAgeMs).catch(() => []);
  const names = there.map((one) => `"${printable(String(one.name))}" (${one.id})`);
  return names.length > 0 ? `${lossWarnings.deleteConsortium}: environment ${names.join(", ")}` : undefined;
}

/** How old the list of environments may be: this run knows those that it has deleted. */
const ownAgeMs = 10_000;

/*
 * Only `check` can see which environments a network has lost: Pulumi shows it the earlier inputs, while a preview asks nothing
 * about resources that it would delete.
 */

/** The names of each environment, and whether a network file declares them. undefined: not known. */
function environmentsIn({ [environmentsKey]: given }: Props): { names: string[][]; inFile: boolean } | undefined {
  const inFile = Array.isArray(given);
  const names: unknown = inFile ? given : (given as { classes?: unknown } | undefined)?.classes;
  return Array.isArray(names)
    ? { names: names.filter((one): one is string[] => Array.isArray(one)), inFile }
    : undefined;
}

const keyInFile = (name: string): string => name.slice(name.lastIndexOf("/") + 1);

/** What to write if an environment that goes only has another key, or another logical name, which may be one of these. */
function renamedHint(environment: string, names: readonly string[], inFile: boolean): string {
  const [name, shown] = [printable(environment), inFile ? names.map(keyInFile) : names];
  const candidates = shown.map((one) => `"${printable(one)}"`).join(" or ");
  const [what, remedy] = inFile
    ? ["you only renamed its key", `write "formerly: ${keyInFile(name)}" there`]
    : [
        "it only has another name now",
        `give that one the resource option aliases: [{ name: ${JSON.stringify(name)} }]`,
      ];
  return `environment "${name}": if ${what} (${candidates}), ${remedy}, and nothing is deleted.`;
}

/** Warnings about environments that are no longer in the file or the program. */
function lostEnvironments(olds: Props, news: Props): string[] {
  const [before, after] = [environmentsIn(olds), environmentsIn(news)];
  if (!before || before.inFile !== after?.inFile) return [];
  const kept = new Set(after.names.flat());
  const known = new Set(before.names.map(([name = ""]) => name));
  const added = after.names.filter((names) => !names.some((name) => known.has(name))).map(([name = ""]) => name);
  const why = after.inFile ? "its key is no longer in the definition of the network" : "it is no longer in the program";
  return before.names.flatMap(([name = ""]) => {
    if (kept.has(name)) return [];
    const loss = `WARNING: environment "${printable(name)}": ${lossWarnings.deleteEnvironment} (${why})`;
    if (added.length === 0) return [loss];
    return [loss, renamedHint(name, added, after.inFile)];
  });
}
