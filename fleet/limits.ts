import {
  ConsortiumClient,
  isApiError,
  resolveProviderSettings,
  isGone,
  limits,
  groupBy,
  readNetwork,
} from "pulumi-consortium/internal/fleet";
import { type Progress } from "./progress";
import { type FleetStack } from "./schema";
import { type StackResult } from "./results";

/* Whether an organization would have more consortia than the service allows: those that exist and those that a preview plans. */

/** A stack whose preview succeeded. */
export interface Previewed {
  stack: FleetStack;
  result: StackResult;
  progress: Progress;
  env: NodeJS.ProcessEnv;
}

/** Fails the stacks that would create more consortia than their organization can have. Without an answer of the service, it fails none. */
export async function failBeyondLimits(all: readonly Previewed[], stacks: readonly FleetStack[]): Promise<void> {
  const groups = groupBy(all, ({ stack }) => stack.organization.name);
  await Promise.all(
    [...groups].map(async ([name, own]) => {
      const most = mostOf(stacks.filter(({ organization }) => organization.name === name));
      const isCreating = own.some(({ progress }) => progress.newConsortia.length > 0);
      if (most !== undefined && isCreating) await failBeyond(own, most);
    }),
  );
}

/** How many an organization may have; undefined if it has no network file, which could raise the limit. */
function mostOf(stacks: readonly FleetStack[]): number | undefined {
  const files = stacks.flatMap(({ definition }) => definition ?? []);
  const raised = files.map((file) => readNetwork(file).definition.limits?.consortiaPerOrganization ?? 0);
  return files.length === 0 ? undefined : Math.max(limits.consortia, ...raised);
}

async function failBeyond(own: readonly Previewed[], most: number): Promise<void> {
  const listed = await existing(own[0]!.env);
  const deleted = new Set(own.flatMap(({ progress }) => progress.oldConsortia));
  const staying = listed.filter((one) => !isGone(one) && !deleted.has(one.id));
  const names = new Set(staying.map(({ name }) => name));
  // A name that exists already is adopted, or fails for another reason.
  const isNew = (name: string) => !names.has(name);
  const made = own.flatMap(({ progress }) => progress.newConsortia.filter(isNew));
  if (made.length === 0 || staying.length + made.length <= most) return;
  const there = staying.length === 0 ? "none exists" : `${[...names].join(", ")} exist`;
  for (const { stack, result, progress } of own) {
    if (!progress.newConsortia.some(isNew)) continue;
    result.outcome = "failed";
    result.error =
      `the organization ${stack.organization.name} would have ${staying.length + made.length} consortia, and the service allows ` +
      `${most}: ${there}, and ${made.join(", ")} would be created. Delete one, or leave one out; if your organization allows more, set ` +
      "limits.consortiaPerOrganization in one of its network files.";
  }
}

async function existing(env: NodeJS.ProcessEnv): Promise<{ id: string; name: string; state?: unknown }[]> {
  const client = new ConsortiumClient(resolveProviderSettings({}, env));
  try {
    return (await client.listConsortia()).map(({ id, name, state }) => ({ id, name: String(name), state }));
  } catch (error) {
    if (isApiError(error)) return [];
    throw error;
  } finally {
    await client.close();
  }
}
