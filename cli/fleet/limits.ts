import { ConsortiumClient, isApiError, resolveSettings } from "../../provider/api";
import { isGone } from "../../provider/api/states";
import { limits } from "../../provider/constants";
import { readNetwork } from "../../sdk/network/load";
import { type Progress } from "./progress";
import { type FleetStack } from "./schema";
import { type StackResult } from "./results";

/* What a preview plans for an organization, with what it has already, against the limit of the service. */

/** A stack whose preview succeeded. */
export interface Previewed {
  stack: FleetStack;
  result: StackResult;
  progress: Progress;
  env: NodeJS.ProcessEnv;
}

/** Fails the stacks that would make more consortia than their organization can have. Nothing is said where the service is not. */
export async function failBeyondLimits(all: readonly Previewed[], stacks: readonly FleetStack[]): Promise<void> {
  const making = new Set(all.filter(({ progress }) => progress.newConsortia.length > 0).map(organizationOf));
  await Promise.all(
    [...making].map(async (organization) => {
      const most = mostOf(stacks.filter((one) => one.organization.name === organization));
      const own = all.filter((one) => organizationOf(one) === organization);
      if (most !== undefined) await failBeyond(own, most);
    }),
  );
}

const organizationOf = ({ stack }: Previewed): string => stack.organization.name;

/** How many an organization may have; undefined where it has no network file, which could say that they are more. */
function mostOf(stacks: readonly FleetStack[]): number | undefined {
  const files = stacks.flatMap(({ definition, network }) =>
    definition === undefined ? [] : [{ definition, network }],
  );
  if (files.length === 0) return undefined;
  const raised = files.map(
    ({ definition }) => readNetwork(definition).definition.limits?.consortiaPerOrganization ?? 0,
  );
  return Math.max(limits.consortia, ...raised);
}

async function failBeyond(own: readonly Previewed[], most: number): Promise<void> {
  const listed = await existing(own[0]!.env);
  const deleted = new Set(own.flatMap(({ progress }) => progress.oldConsortia));
  const staying = listed.filter((one) => !isGone(one) && !deleted.has(one.id));
  const names = new Set(staying.map(({ name }) => name));
  // What has a name that is there already is adopted, or refused for that.
  const isNew = (name: string) => !names.has(name);
  const made = own.flatMap(({ progress }) => progress.newConsortia.filter(isNew));
  if (made.length === 0 || staying.length + made.length <= most) return;
  const there = staying.length === 0 ? "none exists" : `${[...names].join(", ")} exist`;
  for (const { stack, result, progress } of own) {
    if (!progress.newConsortia.some(isNew)) continue;
    result.outcome = "failed";
    result.error =
      `the organization ${stack.organization.name} would have ${staying.length + made.length} consortia, and the service allows ` +
      `${most}: ${there}, and ${made.join(", ")} would be made. Delete one, or leave one out; if your organization allows more, set ` +
      "limits.consortiaPerOrganization in one of its network files.";
  }
}

async function existing(env: NodeJS.ProcessEnv): Promise<{ id: string; name: string; state?: unknown }[]> {
  const client = new ConsortiumClient(resolveSettings({ env }));
  try {
    return (await client.listConsortia()).map(({ id, name, state }) => ({ id, name: String(name), state }));
  } catch (error) {
    if (isApiError(error)) return [];
    throw error;
  } finally {
    await client.close();
  }
}
