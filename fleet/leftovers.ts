import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  type ConsortiumClient,
  isApiError,
  paths,
  isGone,
  Anything,
  anything,
  type LoggedCreate,
  markInterrupted,
  readCreateLog,
} from "pulumi-consortium/internal/fleet";

/* What a killed run left: the log of its creates, objects that no state holds, and torn files of a state. */

/** The file that the providers of a stack log their creates in. */
export function createLogOf(workFolder: string, stack: string): string {
  const file = join(workFolder, "creates", `${stack}.jsonl`);
  mkdirSync(dirname(file), { recursive: true });
  return file;
}

/** Deletes the log: only that of a killed run is needed. */
export const removeCreateLog = (file: string): void => rmSync(file, { force: true });

interface PathsInStates {
  own(): Promise<string[]>;
  /** Those of all other stacks, which are needed only if a create was not answered. */
  others(): Promise<string[]>;
}

/** Marks the creates in the log as those of a killed run: they prove what belongs to the stack. */
export async function continueFrom(file: string, states: PathsInStates): Promise<void> {
  if (!existsSync(file)) return; // it was killed before it created anything
  const { interrupted, current } = readCreateLog(file);
  const isOpen = [...interrupted, ...current].some(({ id }) => id === undefined);
  markInterrupted(file, [...(await states.own()), ...(isOpen ? await states.others() : [])]);
}

interface Leftovers {
  /** Created by the killed run: the service answered. */
  certain: string[];
  /** New since then, with the name of something that the killed run was creating. */
  doubtful: string[];
}

/** Objects that a killed run created, that no state holds, and that still exist. */
export async function leftoversOf(file: string, own: readonly string[], client: ConsortiumClient): Promise<Leftovers> {
  const { interrupted, held } = readCreateLog(file);
  const isHeld = (path: string) => held.has(path) || own.includes(path);
  const lists = new Map<string, Promise<{ id: string; [field: string]: unknown }[]>>();
  const listed = (path: string) => lists.get(path) ?? lists.set(path, existing(client, path)).get(path)!;
  const found: Leftovers = { certain: [], doubtful: [] };
  for (const create of interrupted) {
    if (create.id !== undefined && isHeld(paths.item(create.path, create.id))) continue;
    for (const { id } of (await listed(create.path)).filter(isOf(create))) {
      const path = paths.item(create.path, id);
      if (isHeld(path)) continue;
      const ids = create.id === undefined ? found.doubtful : found.certain;
      ids.push(`${path}${create.name === undefined ? "" : ` ("${create.name}")`}`);
    }
  }
  return found;
}

type Listed = { id: string; name?: unknown; org_name?: unknown; region?: unknown; cloud?: unknown };

/** What may distinguish it from its siblings: its name, or the region and cloud of a zone. */
const namesOf = ({ name, org_name: business, region, cloud }: Listed): unknown[] => [
  ...[name, business],
  `${String(region)} ${String(cloud)}`,
];

const isOf =
  ({ id, name, before }: LoggedCreate) =>
  (item: Listed): boolean =>
    id === undefined ? name !== undefined && namesOf(item).includes(name) && !before.includes(item.id) : item.id === id;

/** The objects that exist there; none if their parent is gone. */
async function existing(client: ConsortiumClient, path: string): Promise<Listed[]> {
  try {
    // The id of a destination is its name.
    const schema = path.endsWith("/destinations") ? anything("name") : Anything;
    return (await client.list(path, schema)).filter((item) => !isGone(item));
  } catch (error) {
    if (isApiError(error, "missing", "denied", "unsupported")) return [];
    throw error;
  }
}

/** The folder of a file backend; undefined for any other backend. */
function stateFolderOf(backend = ""): string | undefined {
  const [, home] = /^file:\/\/~(.*)$/.exec(backend) ?? [];
  if (home !== undefined) return join(homedir(), home);
  return URL.canParse(backend) && backend.startsWith("file:///") ? fileURLToPath(new URL(backend).href) : undefined;
}

function isJson(file: string): boolean {
  try {
    JSON.parse(readFileSync(file, "utf8"));
    return true;
  } catch {
    return false;
  }
}

/**
 * Pulumi keeps a file of attributes beside each file of the state, and a kill while it writes one may leave it empty. Every command
 * for every stack then fails with `error: EOF`. Pulumi needs none of these files, and an update does not read the history.
 */
export function dropTornAttributes(backend: string | undefined): void {
  const state = stateFolderOf(backend);
  const folder = state === undefined ? undefined : join(state, ".pulumi");
  if (folder === undefined || !existsSync(folder)) return;
  for (const file of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    if (!file.endsWith(".attrs") || /^(history|backups)\b/.test(file)) continue;
    const path = join(folder, file);
    const isTorn = !isJson(path);
    if (isTorn) rmSync(path, { force: true });
  }
}
