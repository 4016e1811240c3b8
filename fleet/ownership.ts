import { basename } from "node:path";
import type { StackSummary, Workspace } from "@pulumi/pulumi/automation";
import { UserError } from "pulumi-consortium/internal/fleet";
import { type Fleet, type FleetStack } from "./schema";
import { unless } from "./pulumi";

/*
 * A tag on each stack names its fleet file. Otherwise, another file with the same backend and names would delete this file's network.
 */

const tag = "consortium:fleet";

const idOf = ({ id, folder, file }: Fleet): string => id ?? `${basename(folder)}/${basename(file)}`;

interface Claim {
  isNew: boolean;
  /** Whether a stack without a tag may be somebody else's: the Kubernetes operator tags none. */
  mayBeOthers: boolean;
  takeOver?: boolean;
  /** Whether the command tags it. */
  claims: boolean;
}

/** Checks that a stack belongs to this fleet file; the first `up` tags it. @throws if it belongs to another file */
export async function own(stack: FleetStack, fleet: Fleet, workspace: Workspace, claim: Claim): Promise<void> {
  const mine = idOf(fleet);
  const recorded = claim.isNew ? undefined : await recordedIn(stack.name, workspace);
  if (recorded === mine) return;
  const isOpen = claim.takeOver === true || (recorded === undefined && !claim.mayBeOthers);
  if (!isOpen)
    throw new UserError(
      "stack-of-others",
      `Take over the stack ${stack.name}, with everything in it: \`consortium fleet up ${fleet.file} --only ${stack.name} --take-over\`; ` +
        "if this is the same fleet, give both files the same id; if it is another one, give it its own project. The stack belongs to " +
        `${recorded === undefined ? "no fleet" : `the fleet ${recorded}`}, and this file is ${mine}. Nothing was changed.`,
    );
  if (claim.claims) await workspace.setTag(stack.name, tag, mine);
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

/** Without the organization and the project. */
export const lastOf = (name: string): string => name.split("/").at(-1)!;
