import { randomUUID } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join } from "node:path";
import { type Environment, environmentName, processEnvironment } from "../api/environment";
import { paths } from "../api/paths";
import { messageOf } from "../plain";
import { type Before, type Line, type LoggedCreate, type Logs, readCreateLog, write, written } from "./create-log";
import { engineAddress } from "./engine";
import { logKeptMs } from "./times";

/*
 * The logs of creates of stacks, in the user's state folder, or in a fleet's: a folder for each organization, project and stack, and a file
 * for each process of a run that creates something. So no two processes write to one file. A run that ends as it should removes its file:
 * everything that it created is in the state. A file that remains belongs to a killed run, or lists objects that a service did not delete
 * alone.
 */

/** The variable that names the folder of a fleet's logs. */
export const createLogVariable = environmentName("fleetCreates");

/** A stack, as its program or its URNs name it. */
interface StackName {
  /** Absent: the engine does not tell. */
  organization?: string;
  project: string;
  stack: string;
}

/** So many files of one stack are read, the newest ones. */
const mostFiles = 64;

/** XDG's folder for what programs keep between runs; on Windows, the one that does not roam. */
function stateFolder({ XDG_STATE_HOME: xdg = "", LOCALAPPDATA: local = "", ...env }: Environment): string {
  const own = env[createLogVariable];
  if (own !== undefined) return own;
  const base = isAbsolute(xdg) ? xdg : process.platform === "win32" && local !== "" ? local : undefined;
  return join(base ?? join(homedir(), ".local", "state"), "pulumi-consortium", "creates");
}

const namesIn = (folder: string): string[] => {
  try {
    return readdirSync(folder).map((name) => join(folder, name));
  } catch {
    return []; // nothing was created yet
  }
};

/** The log of one process. */
export class StackLog implements Logs {
  /** The same for all processes of a run. */
  readonly #run = engineAddress() ?? randomUUID();
  readonly #own = `${randomUUID()}.jsonl`;
  #name?: StackName;
  #folder?: string;
  #before?: Before;
  #isKept = true;
  #begun = false;
  /** Creates in progress: their objects are not in the state yet. */
  #open = 0;

  /** @param say shows one line to the user */
  constructor(private readonly say: (line: string) => void) {}

  /** Call with each request that names the stack. A program tells more than a URN: it decides, unless a URN has been used already. */
  nameStack(name: StackName): void {
    if (this.#folder === undefined && this.#name?.organization === undefined) this.#name = name;
  }

  /** The folder of the stack. undefined: the stack is unknown, or nothing can be kept. */
  get #place(): string | undefined {
    if (!this.#name || !this.#isKept) return undefined;
    const { organization, project, stack } = this.#name;
    // Backends of one's own call it "organization", and a destroy, which runs no program, does not tell it.
    const owner = organization === "organization" ? "" : (organization ?? "");
    return (this.#folder ??= join(stateFolder(processEnvironment()), [owner, project, stack].join("+")));
  }

  async write(line: Line): Promise<void> {
    const folder = this.#place;
    if (folder === undefined) return;
    try {
      if (!this.#begun) mkdirSync(folder, { recursive: true, mode: 0o700 });
      const first = this.#begun ? [] : [{ run: this.#run }];
      this.#begun = true;
      await written(join(folder, this.#own), ...first, line);
    } catch (error) {
      this.#isKept = false;
      this.say(
        `No log of creates is kept (${messageOf(error)}). If this run is killed, see "A killed run without its log" in docs/recovery.md.`,
      );
    }
  }

  /** Creates logged by killed runs of the stack. */
  get before(): Before {
    const folder = this.#place;
    if (folder === undefined) return { interrupted: [], isContinued: false };
    if (this.#before) return this.#before;
    const all = this.#recent(folder).map(readCreateLog);
    const logs = all.filter(({ run }) => run !== this.#run);
    const killed = logs.flatMap(({ creates }) => creates);
    // An object that the service did not delete is found like one of a killed run, but no run was killed.
    const interrupted = [...killed, ...logs.flatMap(({ left }) => left)].sort((one, other) => one.at - other.at);
    return (this.#before = { interrupted, isContinued: killed.length > 0 });
  }

  /** The files of a stack but this process's own, the oldest first. Removes those that are too old. */
  #recent(folder: string): string[] {
    const all = namesIn(folder)
      .filter((file) => file.endsWith(".jsonl") && basename(file) !== this.#own)
      .flatMap((file) => {
        const mtimeMs = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
        if (Date.now() - mtimeMs <= logKeptMs) return [{ file, mtimeMs }];
        rmSync(file, { force: true });
        return [];
      });
    return all.sort((one, other) => one.mtimeMs - other.mtimeMs).slice(-mostFiles).map(({ file }) => file); // prettier-ignore
  }

  /** The other stacks of this user on this machine. */
  others(): { stack: string; file: string }[] {
    const folder = this.#place;
    if (folder === undefined) return [];
    return namesIn(dirname(folder))
      .filter((one) => one !== folder)
      .flatMap((one) => this.#recent(one).map((file) => ({ stack: nameIn(one), file })));
  }

  /** Whether another process of this run, for another provider, has created the object, or goes on with it. */
  isMadeElsewhere(path: string): boolean {
    const folder = this.#place;
    if (folder === undefined) return false;
    const logs = this.#recent(folder).map(readCreateLog);
    return logs.some(({ run, creates }) => run === this.#run && creates.some((one) => pathOf(one) === path));
  }

  /** Counts a create as open meanwhile. */
  async creating<T>(work: () => Promise<T>): Promise<T> {
    this.#open++;
    try {
      return await work();
    } finally {
      this.#open--;
    }
  }

  /** Another stack of this user on this machine that had the object when it was last run. */
  holder(path: string): string | undefined {
    const folder = this.#place;
    if (folder === undefined) return undefined;
    const found = namesIn(dirname(folder)).find((one) => one !== folder && heldIn(one).includes(path));
    return found && nameIn(found);
  }

  /** Keeps which objects the stack has, after a run that has created or deleted some. */
  #keep(created: readonly LoggedCreate[], shown: ReadonlySet<string>, deleted: ReadonlySet<string>): void {
    const folder = this.#place;
    if (folder === undefined || created.length + deleted.size === 0) return;
    const all = new Set([...heldIn(folder), ...shown, ...created.map(pathOf)].filter((path) => !deleted.has(path)));
    if (all.size === 0) return rmSync(join(folder, heldFile), { force: true });
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(join(folder, heldFile), JSON.stringify([...all]), { mode: 0o600 });
  }

  /**
   * Call when the engine ends this process as it should: everything that it has created is in the state. It also forgets creates of
   * killed runs that are in a state or succeeded after all.
   * @param shown paths of the objects in the states that the engine has shown @param deleted paths of those that it deleted
   */
  end(shown: ReadonlySet<string>, deleted: ReadonlySet<string> = new Set()): void {
    if (this.#open > 0) return;
    try {
      const own = this.#begun ? join(this.#place!, this.#own) : undefined;
      const created = own === undefined ? [] : readCreateLog(own).creates.filter(({ id }) => id !== undefined);
      this.#keep(created, shown, deleted);
      for (const folder of namesIn(stateFolder(processEnvironment()))) {
        const files = this.#recent(folder).map((file) => ({ file, ...readCreateLog(file) }));
        // Several stacks may create the same object: only an id proves which stack did.
        const isOwn = folder === this.#place;
        const later = isOwn ? files.flatMap(({ creates }) => creates) : [];
        const again = isOwn
          ? [...created, ...later.filter((one) => one.id !== undefined && shown.has(pathOf(one)))]
          : [];
        const isDone = (one: LoggedCreate): boolean =>
          shown.has(pathOf(one)) || again.some((mine) => isSame(mine, one) && mine.at >= one.at);
        for (const { file, run, creates, left } of files) {
          const all = [...creates, ...left];
          if (run !== this.#run && all.length > 0 && all.every(isDone)) rmSync(file, { force: true });
        }
      }
      if (own === undefined) return;
      const { left } = readCreateLog(own);
      const lines = left.map((one) => ({ left: one }));
      if (lines.length > 0) write(join(this.#place!, `${randomUUID()}.jsonl`), { run: this.#run }, ...lines);
      rmSync(own, { force: true });
    } catch {
      // A file that could not be removed is still proof.
    }
  }
}

/** The file with the paths of the objects that a stack has. */
const heldFile = "held.json";

function heldIn(folder: string): string[] {
  try {
    const all: unknown = JSON.parse(readFileSync(join(folder, heldFile), "utf8"));
    return Array.isArray(all) ? all.map(String) : [];
  } catch {
    return []; // there is none, or a power cut has left half of it
  }
}

/** The stack of a folder. */
const nameIn = (folder: string): string => basename(folder).split("+").slice(1).join(".");

/** Path of the object that was created, or of its collection if nobody saw an answer. */
const pathOf = ({ path, id }: LoggedCreate): string => (id === undefined ? path : paths.item(path, id));

const isSame = (one: LoggedCreate, other: LoggedCreate): boolean =>
  one.path === other.path && one.name === other.name && one.resource === other.resource;
