import { basename } from "node:path";
import type { StackSummary, Workspace } from "@pulumi/pulumi/automation";
import { classOf, networkType, partsOfUrn, readNetwork } from "pulumi-consortium/internal/fleet";
import { type Fleet, type FleetStack } from "./schema";
import { isFailure, resourcesIn } from "./pulumi";

/*
 * Each stack remembers its fleet file in a tag. Otherwise another file, on the same backend and with the same names, would delete
 * the network of this one.
 */

const tag = "consortium:fleet";

/** Tells which stacks of a backend belong to the fleet. */
export class Ownership {
  readonly #mine: string;

  constructor(private readonly fleet: Fleet) {
    this.#mine = fleet.id ?? `${basename(fleet.folder)}/${basename(fleet.file)}`;
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
    const recorded = isNew ? undefined : await recordedIn(stack.name, workspace);
    if (recorded === this.#mine) return;
    const refusal = isNew || takeOver ? undefined : await this.#refusal(stack, workspace, recorded);
    if (refusal !== undefined)
      throw new Error(
        `the stack ${stack.name} ${refusal}. Nothing was changed. If this is the same fleet, give both files the same id; if it is ` +
          "another one, give it a project of its own; to take the stack over with all that is in it, run " +
          `\`consortium fleet up ${this.fleet.file} --only ${stack.name} --take-over\`.`,
      );
    if (claims) await workspace.setTag(stack.name, tag, this.#mine);
  }

  async #refusal(stack: FleetStack, workspace: Workspace, recorded?: string): Promise<string | undefined> {
    if (recorded !== undefined) return `belongs to the fleet ${recorded}, and this file is ${this.#mine}`;
    // The Kubernetes operator marks no stacks: one belongs to the file that describes the network in it.
    if (stack.definition === undefined) return undefined;
    const networks = await networksIn(stack.name, workspace);
    const { name } = readNetwork(stack.definition, stack.network);
    const isOther = networks.length > 0 && !networks.includes(name);
    return isOther ? `holds the network ${networks.join(" and ")}, and not ${name}` : undefined;
  }

  /** Stacks of the project that are not empty, and in no fleet file. */
  async strays(all: readonly StackSummary[], workspace: Workspace): Promise<string[]> {
    const others = all
      .filter(
        ({ name, resourceCount }) => resourceCount !== 0 && !this.fleet.stacks.some((one) => one.name === lastOf(name)),
      )
      .map(async ({ name }) => {
        const recorded = (await recordedIn(lastOf(name), workspace)) ?? this.#mine;
        return recorded === this.#mine ? [lastOf(name)] : [];
      });
    return (await Promise.all(others)).flat();
  }
}

/** The fleet that a stack remembers. Earlier versions added the place of its file. */
async function recordedIn(stack: string, workspace: Workspace): Promise<string | undefined> {
  try {
    return (await workspace.listTags(stack))[tag]?.replace(/ \[[^:]*:.*\]$/, "");
  } catch (error) {
    if (isFailure(error, "StackNotFoundError")) return undefined;
    throw error;
  }
}

/** Names of the networks in a stack; none if it holds no object. */
async function networksIn(stack: string, workspace: Workspace): Promise<string[]> {
  const resources = await resourcesIn(stack, workspace);
  if (resources.every(({ id }) => id === undefined)) return [];
  const components = resources.filter(({ type }) => type === networkType);
  // In YAML there is no component: the names of its consortia begin with that of the network.
  const named = components.length > 0 ? components : resources.filter(({ type }) => classOf(type) === "Consortium");
  return [...new Set(named.map(({ urn }) => partsOfUrn(urn).name.split("/")[0]!))];
}

/** Without the organization and the project. */
export const lastOf = (name: string): string => name.split("/").at(-1)!;
