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
      const raised = raisedOf(stacks.filter(({ organization }) => organization.name === name));
      const isCreating = own.some(({ progress }) => progress.newConsortia.length > 0);
      if (raised !== undefined && isCreating) await failBeyond(own, raised);
    }),
  );
}

/** How many its network files allow, 0 if they do not say; undefined if it has none, which could raise the limit. */
function raisedOf(stacks: readonly FleetStack[]): number | undefined {
  const files = stacks.flatMap(({ definition }) => definition ?? []);
  const raised = files.map((file) => readNetwork(file).definition.limits?.consortiaPerOrganization ?? 0);
  return files.length === 0 ? undefined : Math.max(...raised);
}

async function failBeyond(own: readonly Previewed[], raised: number): Promise<void> {
  const { listed, told } = await existing(own[0]!.env);
  const most = Math.max(told ?? limits.consortia, raised);
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

/** The consortia that there are, and how many the plan allows, if the service tells. */
async function existing(
  env: NodeJS.ProcessEnv,
): Promise<{ listed: { id: string; name: string; state?: unknown }[]; told?: number }> {
  const client = new ConsortiumClient(resolveProviderSettings({}, env));
  try {
    const [all, plan] = await Promise.all([client.listConsortia(), client.limits().catch(() => undefined)]);
    const listed = all.map(({ id, name, state }) => ({ id, name: String(name), state }));
    return { listed, ...(plan?.consortia !== undefined && { told: plan.consortia }) };
  } catch (error) {
    if (isApiError(error)) return { listed: [] };
    throw error;
  } finally {
    await client.close();
  }
}
