import { createHash, randomUUID } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import { parse } from "yaml";
import { type Environment, processEnvironment } from "../api/environment";
import { paths } from "../api/paths";
import { messageOf } from "../plain";
import { type Line, type LogContents, type LoggedCreate, type Logs, readCreateLog, write, written } from "./create-log";
import { engineAddress } from "./engine";
import { logKeptMs } from "./times";

/*
 * The logs of creates of stacks without a fleet, in the user's state folder: a folder for each stack of each backend, and a file for each
 * process of a run that creates something. So no two processes write to one file. A run that ends as it should removes its file: everything
 * that it created is in the state. A file that remains belongs to a killed run, or lists objects that a service did not delete alone.
 */

/** A stack, as its program or its URNs name it. */
interface StackName {
  /** Absent: the engine does not tell. */
  organization?: string;
  project: string;
  stack: string;
}

/** So many files of one stack are read, the newest ones, and none that is larger. */
const mostFiles = 64;
const mostBytes = 2 ** 20;

/** XDG's folder for what programs keep between runs; on Windows, the one that does not roam. */
function stateFolder({ XDG_STATE_HOME: xdg = "", LOCALAPPDATA: local = "" }: Environment): string {
  const base = isAbsolute(xdg) ? xdg : process.platform === "win32" && local !== "" ? local : undefined;
  return join(base ?? join(homedir(), ".local", "state"), "pulumi-consortium", "creates");
}

/** The text of a file. undefined: it cannot be read. */
function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}

/** The backend in the project's settings: in this folder, or above it where the program is in a folder of its own. */
function projectBackend(folder: string): string | undefined {
  const text = ["Pulumi.yaml", "Pulumi.yml", "Pulumi.json"].map((name) => textOf(join(folder, name))).find(Boolean);
  if (text !== undefined) return (parse(text) as { backend?: { url?: string } } | null)?.backend?.url;
  return dirname(folder) === folder ? undefined : projectBackend(dirname(folder));
}

/** The backend of the run, found as Pulumi's CLI finds it. */
export function backendOf(env: Environment, folder: string): string {
  const home = env.PULUMI_HOME || join(homedir(), ".pulumi");
  const account = (): string | undefined =>
    (JSON.parse(textOf(join(home, "credentials.json")) ?? "{}") as { current?: string }).current;
  const url = env.PULUMI_BACKEND_URL || projectBackend(folder) || account() || "https://api.pulumi.com";
  const [, relative] = /^file:\/\/(\.\.?(?:\/.*)?)$/.exec(url) ?? [];
  return (relative === undefined ? url : `file://${resolve(folder, relative)}`).replace(/\/+$/, "");
}

const filesIn = (folder: string): string[] => {
  try {
    return readdirSync(folder).filter((name) => name.endsWith(".jsonl")).map((name) => join(folder, name)); // prettier-ignore
  } catch {
    return []; // nothing was created yet
  }
};

const nothing: LogContents = readCreateLog("");

/** The log of one process. */
export class StackLog implements Logs {
  readonly isFleets = false;
  /** The same for all processes of a run. */
  readonly #run = engineAddress() ?? randomUUID();
  readonly #own = `${randomUUID()}.jsonl`;
  #name?: StackName;
  #folder?: string;
  #before?: LogContents;
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
    if (this.#folder !== undefined) return this.#folder;
    try {
      const env = processEnvironment();
      const { organization, project, stack } = this.#name;
      // Backends of one's own call it "organization", and a destroy, which runs no program, does not tell it.
      const owner = organization === "organization" ? "" : (organization ?? "");
      const all = JSON.stringify([backendOf(env, process.cwd()), owner, project, stack]);
      const hash = createHash("sha256").update(all).digest("hex").slice(0, 16); // an address may hold a password
      return (this.#folder = join(stateFolder(env), `${project}.${stack}.${hash}`));
    } catch (error) {
      return this.#giveUp(error);
    }
  }

  #giveUp(error: unknown): undefined {
    this.#isKept = false;
    this.say(
      `No log of creates is kept (${messageOf(error)}). If this run is killed, see "A killed run without its log" in docs/recovery.md.`,
    );
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
      this.#giveUp(error);
    }
  }

  /** Creates logged by killed runs of the stack. */
  get before(): LogContents {
    const folder = this.#place;
    if (folder === undefined) return nothing;
    if (this.#before) return this.#before;
    const all = this.#recent(folder).map(readCreateLog);
    const logs = all.filter(({ run }) => run !== this.#run);
    const killed = logs.flatMap(({ current }) => current);
    // An object that the service did not delete is found like one of a killed run, but no run was killed.
    const interrupted = [...killed, ...logs.flatMap(({ left }) => left)].sort((one, other) => one.at - other.at);
    return (this.#before = { ...nothing, interrupted, isContinued: killed.length > 0 });
  }

  /** The files of a stack but this process's own, the oldest first. Removes those that are too old. */
  #recent(folder: string): string[] {
    const all = filesIn(folder)
      .filter((file) => basename(file) !== this.#own)
      .flatMap((file) => {
        const { mtimeMs, size } = statSync(file, { throwIfNoEntry: false }) ?? { mtimeMs: 0, size: Infinity };
        if (Date.now() - mtimeMs > logKeptMs) rmSync(file, { force: true });
        return size > mostBytes ? [] : [{ file, mtimeMs }];
      });
    return all.sort((one, other) => one.mtimeMs - other.mtimeMs).slice(-mostFiles).map(({ file }) => file); // prettier-ignore
  }

  /** The other stacks of this user on this machine. */
  others(): { stack: string; file: string }[] {
    const folder = this.#place;
    if (folder === undefined) return [];
    return stacksIn(dirname(folder))
      .filter((one) => one !== folder)
      .flatMap((one) => this.#recent(one).map((file) => ({ stack: nameIn(one), file })));
  }

  /** Whether another process of this run, for another provider, has created the object, or goes on with it. */
  isMadeElsewhere(path: string): boolean {
    const folder = this.#place;
    if (folder === undefined) return false;
    const logs = this.#recent(folder).map(readCreateLog);
    return logs.some(({ run, current }) => run === this.#run && current.some((one) => pathOf(one) === path));
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
    const found = stacksIn(dirname(folder)).find((one) => one !== folder && heldIn(one).includes(path));
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
      const created = own === undefined ? [] : readCreateLog(own).current.filter(({ id }) => id !== undefined);
      this.#keep(created, shown, deleted);
      for (const folder of stacksIn(stateFolder(processEnvironment()))) {
        const files = this.#recent(folder).map((file) => ({ file, ...readCreateLog(file) }));
        // Several stacks may create the same object: only an id proves which stack did.
        const isOwn = folder === this.#place;
        const later = isOwn ? files.flatMap(({ current }) => current) : [];
        const again = isOwn
          ? [...created, ...later.filter((one) => one.id !== undefined && shown.has(pathOf(one)))]
          : [];
        const isDone = (one: LoggedCreate): boolean =>
          shown.has(pathOf(one)) || again.some((mine) => isSame(mine, one) && mine.at >= one.at);
        for (const { file, run, current, left } of files) {
          const all = [...current, ...left];
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
    const all: unknown = JSON.parse(textOf(join(folder, heldFile)) ?? "[]");
    return Array.isArray(all) ? all.map(String) : [];
  } catch {
    return []; // a power cut may leave half of it
  }
}

/** The stack of a folder. */
const nameIn = (folder: string): string => basename(folder).replace(/\.\w+$/, "");

const stacksIn = (folder: string): string[] => {
  try {
    return readdirSync(folder).map((name) => join(folder, name));
  } catch {
    return [];
  }
};

/** Path of the object that was created, or of its collection if nobody saw an answer. */
const pathOf = ({ path, id }: LoggedCreate): string => (id === undefined ? path : paths.item(path, id));

const isSame = (one: LoggedCreate, other: LoggedCreate): boolean =>
  one.path === other.path && one.name === other.name && one.resource === other.resource;
