import { existsSync } from "node:fs";
import { hostname } from "node:os";
import { basename, join } from "node:path";
import { classOf, networkType, partsOfUrn, readNetwork } from "pulumi-consortium/internal/fleet";
import { legacyProject } from "./file";
import { type Fleet, type FleetStack } from "./schema";
import { pulumi, PulumiFailed, type PulumiOptions, resourcesIn } from "./pulumi";

/*
 * Each stack remembers its fleet file in a tag. Otherwise another file, on the same backend and with the same names, would delete
 * the network of this one.
 */

const tag = "consortium:fleet";
const longestTag = 256;

/** The fleet that a file describes. */
interface Identity {
  id: string;
  /** Where the file is, if it has no `id`: two files of the same name are not one fleet. */
  host?: string;
  path?: string;
}

export function identityOf({ id, file, folder }: Pick<Fleet, "id" | "file" | "folder">): Identity {
  if (id !== undefined) return { id };
  return { id: `${basename(folder)}/${basename(file)}`, host: hostname(), path: join(folder, basename(file)) };
}

function textOf({ id, host, path }: Identity): string {
  const text = path === undefined ? id : `${id} [${host}:${path}]`;
  return text.length > longestTag ? id : text;
}

function identityIn(text: string): Identity {
  const [, id, host, path] = /^(.*) \[([^:]*):(.*)\]$/.exec(text) ?? [];
  return id === undefined ? { id: text } : { id, host, path };
}

/** A copy on another machine, such as a pipeline's, is the same fleet. On one machine, a second file is another fleet. */
export function isSame(recorded: Identity, mine: Identity, isThere: (path: string) => boolean = existsSync): boolean {
  if (recorded.id !== mine.id) return false;
  if (recorded.path === undefined || mine.path === undefined) return true;
  return recorded.host !== mine.host || recorded.path === mine.path || !isThere(recorded.path);
}

const titleOf = ({ id, host, path }: Identity): string => (path === undefined ? id : `${id} (${path} on ${host})`);

/** The name of the network that a stack has a file for. */
const networkOf = ({ network, definition }: FleetStack): string | undefined =>
  definition && readNetwork(definition, network).name;

/** A stack as the backend lists it. */
interface Listed {
  name: string;
  resourceCount?: number;
}

/** Tells which stacks of a backend belong to the fleet. */
export class Ownership {
  readonly #mine: Identity;
  #own = new Set<string>();

  constructor(
    private readonly fleet: Fleet,
    /** Of commands for all stacks but those with a program of their own. */
    private readonly options: PulumiOptions,
  ) {
    this.#mine = identityOf(fleet);
  }

  /** Lists the stacks of the project. */
  async list(project = this.fleet.project): Promise<Listed[]> {
    return listIn(await pulumi(["stack", "ls", "--json", "--project", project], this.options));
  }

  /** Learns with one call which stacks remember this very file. The others are asked one by one. */
  async learn(): Promise<void> {
    const args = ["stack", "ls", "--json", "--all", "--tag", `${tag}=${textOf(this.#mine)}`];
    const output = await pulumi(args, this.options).catch((error: unknown) => {
      if (error instanceof PulumiFailed) return "[]"; // a backend without tags
      throw error;
    });
    const { project } = this.fleet;
    const own = listIn(output).map(({ name }) => name.split("/"));
    this.#own = new Set(
      own.filter((parts) => parts.length === 1 || parts.at(-2) === project).map((one) => one.at(-1)!),
    );
  }

  /** Why this file must not change the stack; undefined if it may. */
  async refusal(stack: FleetStack, options = this.options, name = stack.name): Promise<string | undefined> {
    if (stack.program === undefined && this.#own.has(name)) return undefined;
    const recorded = await this.#recorded(name, options);
    if (recorded !== undefined) return isSame(recorded, this.#mine) ? undefined : this.#ofAnother(stack, recorded);
    if (stack.program !== undefined) return undefined;
    // Earlier versions did not mark their stacks: one belongs to the file that describes the network in it.
    const networks = await this.#networksIn(name);
    const mine = networkOf(stack);
    if (mine === undefined || networks.length === 0 || networks.includes(mine)) return undefined;
    return (
      `the stack ${stack.name} holds the network ${networks.join(" and ")}, and not ${mine}, and does not say which ` +
      `fleet file it belongs to. Nothing was changed. ${this.#advice(stack)}`
    );
  }

  #ofAnother(stack: FleetStack, recorded: Identity): string {
    const mine = this.#mine;
    const same = recorded.id === mine.id ? "both files" : "this file";
    return (
      `the stack ${stack.name} belongs to the fleet ${titleOf(recorded)}, and this file is ${titleOf(mine)}. Nothing was changed. ` +
      `If they are one fleet, write id: ${recorded.id} into ${same}. ${this.#advice(stack)}`
    );
  }

  #advice({ name }: FleetStack): string {
    const { file } = this.fleet;
    return (
      `To take the stack over with all that is in it, run: consortium fleet up ${file} --only ${name} --take-over. ` +
      "Otherwise give this fleet a project of its own: project: <name>."
    );
  }

  /** Marks the stack with this file. */
  async claim(stack: FleetStack, options = this.options, { isNew = false } = {}): Promise<void> {
    if (stack.program === undefined && this.#own.has(stack.name)) return;
    const recorded = isNew ? undefined : await this.#recorded(stack.name, options);
    const mine = textOf(this.#mine);
    // A copy on another machine keeps the tag: otherwise the two would take turns in writing it.
    if (recorded && (textOf(recorded) === mine || (isSame(recorded, this.#mine) && recorded.host !== this.#mine.host)))
      return;
    await pulumi(["stack", "tag", "set", tag, mine, "--stack", stack.name], options).catch((error: unknown) => {
      if (!isUntagged(error)) throw error;
    });
  }

  /** Stacks of the project that are not empty, and in no fleet file. */
  async strays(all: readonly Listed[]): Promise<string[]> {
    const named = new Set(this.fleet.stacks.map(({ name }) => name));
    const others = all.filter(({ name, resourceCount }) => !named.has(lastOf(name)) && resourceCount !== 0);
    const found = await Promise.all(
      others.map(async ({ name }) => {
        if (this.#own.has(lastOf(name))) return [name];
        const recorded = await this.#recorded(lastOf(name), this.options);
        return recorded === undefined || isSame(recorded, this.#mine) ? [name] : [];
      }),
    );
    return found.flat().map(lastOf);
  }

  /** Whether an earlier version made stacks of this file in the project that was the default then. */
  async isLegacy(): Promise<boolean> {
    const named = new Map(this.fleet.stacks.flatMap((one) => (one.program === undefined ? [[one.name, one]] : [])));
    for (const { name } of await this.list(legacyProject)) {
      const stack = named.get(lastOf(name));
      if (stack && (await this.refusal(stack, this.options, name)) === undefined) return true;
    }
    return false;
  }

  async #recorded(stack: string, options: PulumiOptions): Promise<Identity | undefined> {
    try {
      const output = await pulumi(["stack", "tag", "ls", "--json", "--stack", stack], options);
      const json = output.slice(output.indexOf("{"), output.lastIndexOf("}") + 1);
      const { [tag]: text } = JSON.parse(json) as Record<string, string>;
      return text === undefined ? undefined : identityIn(text);
    } catch (error) {
      if (isUntagged(error)) return undefined;
      throw error;
    }
  }

  /** Names of the networks in a stack; none if it holds no object. */
  async #networksIn(stack: string): Promise<string[]> {
    const resources = await resourcesIn(stack, this.options);
    if (resources.every(({ id }) => id === undefined)) return [];
    const components = resources.filter(({ type }) => type === networkType);
    // In YAML there is no component: the names of its consortia begin with that of the network.
    const named = components.length > 0 ? components : resources.filter(({ type }) => classOf(type) === "Consortium");
    return [...new Set(named.map(({ urn }) => partsOfUrn(urn).name.split("/")[0]!))];
  }
}

const lastOf = (name: string): string => name.split("/").at(-1)!;

/** Whether there is no such stack, or its backend keeps no tags. */
const isUntagged = (error: unknown): boolean =>
  error instanceof PulumiFailed && /no stack named|does not support|not supported|unknown flag/.test(error.output);

const listIn = (output: string): Listed[] =>
  JSON.parse(output.slice(output.indexOf("["), output.lastIndexOf("]") + 1)) as Listed[];
