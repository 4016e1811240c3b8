import { existsSync, readFileSync, rmSync } from "node:fs";
import { hostname } from "node:os";
import { basename, join } from "node:path";
import { kindOf, networkType, partsOfUrn } from "../../provider/constants";
import { readNetwork } from "../../sdk/network/load";
import { legacyProject } from "./file";
import { type Fleet, type FleetStack } from "./schema";
import { pulumi, PulumiFailed, type PulumiOptions } from "./pulumi";

/*
 * Each stack remembers its fleet file in a tag: another file, on the same backend and with the same names, would take its network
 * for something to delete.
 */

const tag = "consortium:fleet";
const longestTag = 256;

/** Which fleet a file is. */
export interface Identity {
  id: string;
  /** Where the file is, when it does not say its `id`: two files that are called alike are not one fleet. */
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

/** A copy elsewhere, such as that of a pipeline, is the same fleet; another file that is there beside it is none. */
export function isSame(recorded: Identity, mine: Identity, isThere: (path: string) => boolean = existsSync): boolean {
  if (recorded.id !== mine.id) return false;
  if (recorded.path === undefined || mine.path === undefined) return true;
  return recorded.host !== mine.host || recorded.path === mine.path || !isThere(recorded.path);
}

const titleOf = ({ id, host, path }: Identity): string => (path === undefined ? id : `${id} (${path} on ${host})`);

/** What an earlier version made says nothing of its fleet file: it is that of a file which describes the same network. */
export interface Contents {
  resources: number;
  networks: string[];
}

const networkOf = ({ network, definition }: FleetStack): string | undefined =>
  definition && readNetwork(definition, network).name;

function isLikely(stack: FleetStack, { resources, networks }: Contents): boolean {
  const name = networkOf(stack);
  return name === undefined || resources === 0 || networks.length === 0 || networks.includes(name);
}

/** A stack as the backend lists it. */
interface Listed {
  name: string;
  resourceCount?: number;
}

/** The stacks of a backend, and which of them are the fleet's own. */
export class Ownership {
  readonly #mine: Identity;
  #own = new Set<string>();

  constructor(
    private readonly fleet: Fleet,
    /** Where commands run that are about no stack of a program. */
    private readonly options: PulumiOptions,
  ) {
    this.#mine = identityOf(fleet);
  }

  /** Lists the stacks of the project, once. */
  async list(project = this.fleet.project): Promise<Listed[]> {
    return listed(await this.#pulumi(["stack", "ls", "--json", "--project", project]));
  }

  /** Learns which stacks remember this very file; the others are asked one by one. */
  async learn(): Promise<void> {
    const args = ["stack", "ls", "--json", "--all", "--tag", `${tag}=${textOf(this.#mine)}`];
    const output = await this.#pulumi(args).catch((error: unknown) => {
      if (error instanceof PulumiFailed) return "[]"; // a backend without tags
      throw error;
    });
    const { project } = this.fleet;
    const own = listed(output).map(({ name }) => name.split("/"));
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
    const contents = await this.#contents(name);
    if (isLikely(stack, contents)) return undefined;
    return (
      `the stack ${stack.name} holds the network ${contents.networks.join(" and ")}, and not ${networkOf(stack)}, and does not say which ` +
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
      `To take the stack over, with all that is in it: consortium fleet up ${file} --only ${name} --take-over. ` +
      "Else give this fleet a project of its own: project: <name>."
    );
  }

  /** Has the stack remember this file. */
  async claim(stack: FleetStack, options = this.options, { isNew = false } = {}): Promise<void> {
    if (stack.program === undefined && this.#own.has(stack.name)) return;
    const recorded = isNew ? undefined : await this.#recorded(stack.name, options);
    const mine = textOf(this.#mine);
    // A copy elsewhere leaves the tag as it is: else each would write it anew.
    if (recorded && (textOf(recorded) === mine || (isSame(recorded, this.#mine) && recorded.host !== this.#mine.host)))
      return;
    await this.#pulumi(["stack", "tag", "set", tag, mine, "--stack", stack.name], options).catch((error: unknown) => {
      if (!isUntagged(error)) throw error;
    });
  }

  /** Stacks of the project that no fleet file names, this one included, and that hold something. */
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

  /** Whether earlier versions of this file made stacks in the project that was the default then. */
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
      const output = await this.#pulumi(["stack", "tag", "ls", "--json", "--stack", stack], options);
      const text = (
        JSON.parse(output.slice(output.indexOf("{"), output.lastIndexOf("}") + 1)) as Record<string, string>
      )[tag];
      return text === undefined ? undefined : identityIn(text);
    } catch (error) {
      if (isUntagged(error)) return undefined;
      throw error;
    }
  }

  async #contents(stack: string): Promise<Contents> {
    const file = `${this.options.log}.${lastOf(stack)}.${process.pid}.state.json`;
    try {
      await this.#pulumi(["stack", "export", "--stack", stack, "--file", file]);
      const { deployment } = JSON.parse(readFileSync(file, "utf8")) as {
        deployment?: { resources?: { id?: string; type: string; urn: string }[] };
      };
      const resources = deployment?.resources ?? [];
      // In YAML there is no component: the names of its consortia begin with that of the network.
      const components = resources.filter(({ type }) => type === networkType);
      const networks =
        components.length > 0 ? components : resources.filter(({ type }) => kindOf(type) === "Consortium");
      return {
        resources: resources.filter(({ id }) => id !== undefined).length,
        networks: [...new Set(networks.map(({ urn }) => partsOfUrn(urn).name.split("/")[0]!))],
      };
    } finally {
      rmSync(file, { force: true });
    }
  }

  #pulumi(args: string[], options = this.options): Promise<string> {
    return pulumi(args, options);
  }
}

const lastOf = (name: string): string => name.split("/").at(-1)!;

/** There is no such stack, or its backend keeps no tags. */
const isUntagged = (error: unknown): boolean =>
  error instanceof PulumiFailed && /no stack named|does not support|not supported|unknown flag/.test(error.output);

const listed = (output: string): Listed[] =>
  JSON.parse(output.slice(output.indexOf("["), output.lastIndexOf("]") + 1)) as Listed[];
