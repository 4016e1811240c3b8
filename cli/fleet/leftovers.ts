import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { type ConsortiumClient, isApiError } from "../../provider/api";
import { paths } from "../../provider/api/paths";
import { isGone } from "../../provider/api/states";
import { Anything, anything } from "../../provider/api/wire";
import { type LoggedCreate, markInterrupted, readCreateLog } from "../../provider/core/create-log";

/* What a killed run created: the file that its providers wrote it into, and what of it no state holds. */

/** The file that the providers of a stack write their creates into. */
export function createsOf(workFolder: string, stack: string): string {
  const file = join(workFolder, "creates", `${stack}.jsonl`);
  mkdirSync(dirname(file), { recursive: true });
  return file;
}

/** Deletes the file when nothing is left over. */
export const forgetCreates = (file: string): void => rmSync(file, { force: true });

export interface States {
  /** Ids in the state of the stack. */
  own(): Promise<string[]>;
  /** Ids in the states of all other stacks, which nobody needs where every create was answered. */
  others(): Promise<string[]>;
}

/** Ends what a killed run wrote: from now on it proves what is the stack's own. */
export async function continueFrom(file: string, states: States): Promise<void> {
  if (!existsSync(file)) return; // it was killed before it created anything
  const { interrupted, current } = readCreateLog(file);
  const isOpen = [...interrupted, ...current].some(({ id }) => id === undefined);
  markInterrupted(file, [...(await states.own()), ...(isOpen ? await states.others() : [])]);
}

/** Ids of all resources in a file that `pulumi stack export` wrote. */
export function idsIn(file: string): string[] {
  const { deployment } = JSON.parse(readFileSync(file, "utf8")) as {
    deployment?: { resources?: { id?: string }[] };
  };
  return (deployment?.resources ?? []).flatMap(({ id }) => (id === undefined ? [] : [id]));
}

export interface Leftovers {
  /** What the killed run created, as the service answered it. */
  certain: string[];
  /** What has the name of something that the killed run was creating, and was not there before. */
  doubtful: string[];
}

/** What a killed run created and no state holds, as far as it is still there. */
export async function leftoversOf(file: string, own: readonly string[], client: ConsortiumClient): Promise<Leftovers> {
  const { interrupted, held } = readCreateLog(file);
  const isHeld = (id: string) => held.has(id) || own.includes(id);
  const lists = new Map<string, Promise<{ id: string; [field: string]: unknown }[]>>();
  const listed = (path: string) => lists.get(path) ?? lists.set(path, there(client, path)).get(path)!;
  const found: Leftovers = { certain: [], doubtful: [] };
  for (const create of interrupted) {
    if (create.id !== undefined && isHeld(create.id)) continue;
    for (const { id } of (await listed(create.path)).filter(isOf(create))) {
      if (isHeld(id)) continue;
      const ids = create.id === undefined ? found.doubtful : found.certain;
      ids.push(`${paths.item(create.path, id)}${create.name === undefined ? "" : ` ("${create.name}")`}`);
    }
  }
  return found;
}

type Listed = { id: string; name?: unknown; org_name?: unknown; region?: unknown; cloud?: unknown };

/** What may tell it from its siblings: its name, or of a zone where it is. */
const namesOf = ({ name, org_name: business, region, cloud }: Listed): unknown[] => [
  ...[name, business],
  `${String(region)} ${String(cloud)}`,
];

const isOf =
  ({ id, name, before }: LoggedCreate) =>
  (item: Listed): boolean =>
    id === undefined ? name !== undefined && namesOf(item).includes(name) && !before.includes(item.id) : item.id === id;

/** An empty list if its parent is gone. */
async function there(client: ConsortiumClient, path: string): Promise<Listed[]> {
  try {
    // A destination has no id but its name.
    const schema = path.endsWith("/destinations") ? anything("name") : Anything;
    return (await client.list(path, schema)).filter((item) => !isGone(item));
  } catch (error) {
    if (isApiError(error, "missing", "denied", "unsupported")) return [];
    throw error;
  }
}
