import { existsSync } from "node:fs";
import { hostname } from "node:os";
import { basename, join } from "node:path";
import type { LocalWorkspace, StackSummary, Workspace } from "@pulumi/pulumi/automation";
import { classOf, networkType, partsOfUrn, readNetwork } from "pulumi-consortium/internal/fleet";
import { type Fleet, type FleetStack } from "./schema";
import { isMissing, type Pulumi, resourcesIn, type StateResource } from "./pulumi";

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

/** Tells which stacks of a backend belong to the fleet. */
export class Ownership {
  readonly #mine: Identity;
  #own = new Set<string>();

  constructor(
    private readonly fleet: Fleet,
    /** Of all stacks but those with a program of their own. */
    private readonly workspace: LocalWorkspace,
  ) {
    this.#mine = identityOf(fleet);
  }

  /** Lists the stacks of the project, and learns with one call which of them remember this very file. The others are asked one by one. */
  async list(): Promise<StackSummary[]> {
    const { workDir, envVars, pulumiCommand } = this.workspace;
    const all = await this.workspace.listStacks();
    if (all.length === 0) return all;
    const args = ["stack", "ls", "--json", "--all", "--tag", `${tag}=${textOf(this.#mine)}`];
    const { stdout } = await (pulumiCommand as Pulumi).run(args, workDir, envVars);
    const own = (JSON.parse(stdout) as StackSummary[]).map(({ name }) => name.split("/"));
    const { project } = this.fleet;
    this.#own = new Set(
      own.filter((parts) => parts.length === 1 || parts.at(-2) === project).map((one) => one.at(-1)!),
    );
    return all;
  }

  /**
   * Only its own fleet file changes a stack, which remembers that file from its first `up` on.
   * @throws if it belongs to another one
   */
  async own(
    stack: FleetStack,
    workspace: Workspace,
    { isNew, takeOver, claims }: { isNew: boolean; takeOver: boolean; claims: boolean },
  ): Promise<void> {
    if (stack.program === undefined && this.#own.has(stack.name)) return;
    const recorded = isNew ? undefined : await recordedIn(stack.name, workspace);
    const refusal = isNew || takeOver ? undefined : await this.#refusal(stack, workspace, recorded);
    if (refusal !== undefined) throw new Error(`${refusal} ${this.#advice(stack)}`);
    const mine = textOf(this.#mine);
    // A copy on another machine keeps the tag: otherwise the two would take turns in writing it.
    const isMarked =
      recorded && (textOf(recorded) === mine || (isSame(recorded, this.#mine) && recorded.host !== this.#mine.host));
    if (claims && !isMarked) await workspace.setTag(stack.name, tag, mine);
  }

  async #refusal(stack: FleetStack, workspace: Workspace, recorded?: Identity): Promise<string | undefined> {
    const { name, network, definition } = stack;
    if (recorded !== undefined) {
      if (isSame(recorded, this.#mine)) return undefined;
      const same = recorded.id === this.#mine.id ? "both files" : "this file";
      return (
        `the stack ${name} belongs to the fleet ${titleOf(recorded)}, and this file is ${titleOf(this.#mine)}. Nothing was changed. ` +
        `If they are one fleet, write id: ${recorded.id} into ${same}.`
      );
    }
    // The Kubernetes operator marks no stacks: one belongs to the file that describes the network in it.
    if (definition === undefined) return undefined;
    const networks = networksIn(await resourcesIn(name, workspace));
    const mine = readNetwork(definition, network).name;
    if (networks.length === 0 || networks.includes(mine)) return undefined;
    return (
      `the stack ${name} holds the network ${networks.join(" and ")}, and not ${mine}, and does not say which ` +
      "fleet file it belongs to. Nothing was changed."
    );
  }

  #advice({ name }: FleetStack): string {
    return (
      `To take the stack over with all that is in it, run: consortium fleet up ${this.fleet.file} --only ${name} --take-over. ` +
      "Otherwise give this fleet a project of its own: project: <name>."
    );
  }

  /** Stacks of the project that are not empty, and in no fleet file. */
  async strays(all: readonly StackSummary[]): Promise<string[]> {
    const named = new Set(this.fleet.stacks.map(({ name }) => name));
    const others = all.flatMap(({ name, resourceCount }) => (resourceCount === 0 ? [] : [lastOf(name)]));
    const found = await Promise.all(
      others.map(async (name) => {
        if (named.has(name)) return [];
        const recorded = this.#own.has(name) ? undefined : await recordedIn(name, this.workspace);
        return recorded === undefined || isSame(recorded, this.#mine) ? [name] : [];
      }),
    );
    return found.flat();
  }
}

async function recordedIn(stack: string, workspace: Workspace): Promise<Identity | undefined> {
  try {
    const { [tag]: text } = await workspace.listTags(stack);
    return text === undefined ? undefined : identityIn(text);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Names of the networks in a stack; none if it holds no object. */
function networksIn(resources: readonly StateResource[]): string[] {
  if (resources.every(({ id }) => id === undefined)) return [];
  const components = resources.filter(({ type }) => type === networkType);
  // In YAML there is no component: the names of its consortia begin with that of the network.
  const named = components.length > 0 ? components : resources.filter(({ type }) => classOf(type) === "Consortium");
  return [...new Set(named.map(({ urn }) => partsOfUrn(urn).name.split("/")[0]!))];
}

/** Without the organization and the project. */
export const lastOf = (name: string): string => name.split("/").at(-1)!;
