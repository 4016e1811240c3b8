import { basename } from "node:path";
import type { StackSummary, Workspace } from "@pulumi/pulumi/automation";
import { classOf, networkType, partsOfUrn, readNetwork } from "pulumi-consortium/internal/fleet";
import { type Fleet, type FleetStack } from "./schema";
import { resourcesIn, unless } from "./pulumi";

/*
 * A tag on each stack names its fleet file. Otherwise, another file with the same backend and names would delete this file's network.
 */

const tag = "consortium:fleet";

const idOf = ({ id, folder, file }: Fleet): string => id ?? `${basename(folder)}/${basename(file)}`;

/**
 * Checks that a stack belongs to this fleet file; the first `up` tags it. @throws if it belongs to another file
 */
export async function own(
  stack: FleetStack,
  fleet: Fleet,
  workspace: Workspace,
  { isNew, takeOver, claims }: { isNew: boolean; takeOver?: boolean; claims: boolean },
): Promise<void> {
  const mine = idOf(fleet);
  const recorded = isNew ? undefined : await recordedIn(stack.name, workspace);
  if (recorded === mine) return;
  const belongs = recorded && `belongs to the fleet ${recorded}, and this file is ${mine}`;
  const refusal = isNew || takeOver ? undefined : (belongs ?? (await otherNetworkIn(stack, workspace)));
  if (refusal !== undefined)
    throw new Error(
      `the stack ${stack.name} ${refusal}. Nothing was changed. If this is the same fleet, give both files the same id; if it is ` +
        "another one, give it its own project; to take over the stack with everything in it, run " +
        `\`consortium fleet up ${fleet.file} --only ${stack.name} --take-over\`.`,
    );
  if (claims) await workspace.setTag(stack.name, tag, mine);
}

/** Stacks of the project that are not empty and not in a fleet file. */
export async function straysIn(all: readonly StackSummary[], fleet: Fleet, workspace: Workspace): Promise<string[]> {
  const others = all
    .filter(({ resourceCount }) => resourceCount !== 0)
    .map(({ name }) => lastOf(name))
    .filter((name) => !fleet.stacks.some((one) => one.name === name));
  const owners = await Promise.all(others.map((name) => recordedIn(name, workspace)));
  const mine = idOf(fleet);
  return others.filter((_, at) => (owners[at] ?? mine) === mine);
}

/** The fleet that a stack remembers. */
const recordedIn = async (stack: string, workspace: Workspace): Promise<string | undefined> =>
  (await unless("StackNotFoundError", workspace.listTags(stack), {}))[tag];

/** The Kubernetes operator does not tag stacks: such a stack belongs to the file that describes its network. */
async function otherNetworkIn({ name, definition, network }: FleetStack, workspace: Workspace) {
  const resources = definition === undefined ? [] : await resourcesIn(name, workspace);
  if (definition === undefined || resources.every(({ id }) => id === undefined)) return undefined;
  const components = resources.filter(({ type }) => type === networkType);
  // YAML has no component: the names of the consortia begin with the network's name.
  const named = components.length > 0 ? components : resources.filter(({ type }) => classOf(type) === "Consortium");
  const networks = [...new Set(named.map(({ urn }) => partsOfUrn(urn).name.split("/")[0]!))];
  const { name: mine } = readNetwork(definition, network);
  const isOther = networks.length > 0 && !networks.includes(mine);
  return isOther ? `holds the network ${networks.join(" and ")}, and not ${mine}` : undefined;
}

/** Without the organization and the project. */
export const lastOf = (name: string): string => name.split("/").at(-1)!;
