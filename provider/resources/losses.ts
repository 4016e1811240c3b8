import { printable } from "../api/printable";
import { type Props } from "../core/definition";
import { contentsKey, lossWarnings } from "../constants";

/*
 * Warnings about environments and nodes that the program no longer contains. Only `check` can tell: Pulumi shows it the earlier inputs,
 * while a preview asks no provider about resources that it would delete.
 */

/** The names of each environment or node, and whether a network file declares them. undefined: unknown. */
function contentsOf({ [contentsKey]: given }: Props): { names: string[][]; inFile: boolean } | undefined {
  const inFile = Array.isArray(given);
  const names: unknown = inFile ? given : (given as { classes?: unknown } | undefined)?.classes;
  return Array.isArray(names)
    ? { names: names.filter((one): one is string[] => Array.isArray(one)), inFile }
    : undefined;
}

/** The names that the file or the program no longer has, and those that are new in it. */
function differenceIn(olds: Props, news: Props): { gone: string[]; added: string[]; inFile: boolean } | undefined {
  const [before, after] = [contentsOf(olds), contentsOf(news)];
  if (!before || before.inFile !== after?.inFile) return undefined;
  const kept = new Set(after.names.flat());
  const known = new Set(before.names.map(([name = ""]) => name));
  const added = after.names.filter((names) => !names.some((name) => known.has(name))).map(([name = ""]) => name);
  const gone = before.names.map(([name = ""]) => name).filter((name) => !kept.has(name));
  return { gone, added, inFile: after.inFile };
}

const keyInFile = (name: string): string => name.slice(name.lastIndexOf("/") + 1);

const quoted = (names: readonly string[], word: string): string =>
  new Intl.ListFormat("en", { type: word === "or" ? "disjunction" : "conjunction" }).format(
    names.map((name) => `"${printable(name)}"`),
  );

/** What to write if an environment was only renamed, perhaps to one of these keys or logical names. */
function renamedHint(environment: string, names: readonly string[], inFile: boolean): string {
  const [name, shown] = [printable(environment), inFile ? names.map(keyInFile) : names];
  const [what, remedy] = inFile
    ? ["you only renamed its key", `write "formerly: ${keyInFile(name)}" there`]
    : ["you only renamed it", `set the resource option aliases: [{ name: ${JSON.stringify(name)} }] on that one`];
  return `environment "${name}": if ${what} (${quoted(shown, "or")}), ${remedy}, and nothing is deleted.`;
}

/** Warnings about environments that are no longer in the file or the program. */
export function lostEnvironments(olds: Props, news: Props): string[] {
  const { gone = [], added = [], inFile = false } = differenceIn(olds, news) ?? {};
  const why = inFile ? "its key is no longer in the definition of the network" : "it is no longer in the program";
  return gone.flatMap((name) => {
    const loss = `WARNING: environment "${printable(name)}": ${lossWarnings.deleteEnvironment} (${why})`;
    return added.length === 0 ? [loss] : [loss, renamedHint(name, added, inFile)];
  });
}

/** What to write if nodes were only renamed: else they are made anew. */
export function renamedNodes(olds: Props, news: Props): string[] {
  const { gone = [], added = [], inFile = false } = differenceIn(olds, news) ?? {};
  if (gone.length === 0 || added.length === 0) return [];
  const shown = (names: readonly string[]): string => quoted(inFile ? names.map(keyInFile) : names, "and");
  const remedy = inFile ? 'formerly: "<its old key>"' : 'the resource option aliases: [{ name: "<its old name>" }]';
  return [
    `environment "${printable(String(news.name))}": creates nodes ${shown(added)}, and deletes ${shown(gone)}, which are no longer declared. ` +
      `If you only renamed them, give each ${remedy}: then nothing is created or deleted. A member that was renamed needs that, too.`,
  ];
}
