import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LocalWorkspace, PulumiCommand, Stack, StackSummary, Workspace } from "@pulumi/pulumi/automation";
import {
  classOf,
  cutOff,
  definitions,
  kindOf,
  noPulumi,
  pathOf,
  type Props,
  UserError,
  yamlForAll,
} from "pulumi-consortium/internal/fleet";

/* Pulumi's Automation API, which is loaded on import: commands without runs must not import this file. */

const api = () => import("@pulumi/pulumi/automation/index.js");

/** Older ones write the events of an update into a file, with passwords in clear text. */
const oldest = "3.216.0";

/** @throws if there is no CLI on the PATH, or an older one than a fleet can use */
export async function findPulumi(): Promise<PulumiCommand> {
  const { PulumiCommand } = await api();
  const pulumi = await PulumiCommand.get({ skipVersionCheck: true }).catch((cause: Error) => {
    const isMissing = /ENOENT/.test(cause.message);
    if (isMissing) throw new UserError("not-installed", noPulumi, { cause });
    throw new UserError("pulumi-failed", `Pulumi cannot be started: ${saidIn(cause)}`, { cause });
  });
  const { version } = pulumi;
  if (version && version.compare(oldest) >= 0) return pulumi;
  const which = version?.raw ?? "another";
  throw new UserError(
    "wrong-version",
    `Update Pulumi. A fleet needs ${oldest} or newer, and the one on the PATH is ${which}.`,
  );
}

/** @param env added to the environment of this process */
export async function workspaceIn(
  workDir: string,
  env: NodeJS.ProcessEnv,
  pulumiCommand: PulumiCommand,
  secretsProvider?: string,
): Promise<LocalWorkspace> {
  const { LocalWorkspace } = await api();
  // Node.js passes on no variable that is undefined.
  return LocalWorkspace.create({ workDir, envVars: env as Record<string, string>, secretsProvider, pulumiCommand });
}

/** All stacks of the project, those of earlier fleet files included. */
export const listStacks = (workspace: Workspace): Promise<StackSummary[]> =>
  workspace.listStacks().catch((cause: Error) => {
    const said = saidIn(cause);
    const next = cutOff(said) ?? "Correct backend in the fleet file, or its login, until `pulumi stack ls` works.";
    throw new UserError("unreachable", `${next} Pulumi cannot list the stacks of the backend: ${said}`, { cause });
  });

/** A stack that exists. */
export async function stackIn(name: string, workspace: Workspace): Promise<Stack> {
  const { Stack } = await api();
  // Each of these would start the CLI once more, for data that nothing uses.
  workspace.selectStack = () => Promise.resolve();
  workspace.stackOutputs = () => Promise.resolve({});
  const stack = await Stack.select(name, workspace);
  stack.info = () => Promise.resolve(undefined);
  return stack;
}

/** Works in an empty, temporary project of this name. */
export async function inProject<T>(project: string, work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "consortium-project-"));
  try {
    writeFileSync(join(folder, "Pulumi.yaml"), yamlForAll({ name: project, runtime: "yaml" }));
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Releases the lock of a stack, without its program. */
export const cancelStack = (project: string, stack: string, env: NodeJS.ProcessEnv): Promise<void> =>
  inProject(project, async (folder) => {
    await (await stackIn(stack, await workspaceIn(folder, env, await findPulumi()))).cancel();
  });

type Failure = "StackNotFoundError" | "StackAlreadyExistsError" | "ConcurrentUpdateError";

/** Whether a command of Pulumi failed. The API exports these classes, but loads the whole SDK with them. */
export const isFailure = (error: unknown, name?: Failure): error is Error =>
  error instanceof Error &&
  (name === undefined ? /^(Command|Stack\w+|ConcurrentUpdate)Error$/.test(error.name) : error.name === name);

/** The errors that a failed Pulumi command printed, or how it ended. */
export function saidIn({ message }: Error): string {
  const lines = message.split("\n").map((line) => line.trim());
  const errors = lines.flatMap((line) => /^error: (.*)/.exec(line)?.[1] ?? []);
  const [, how] = /Command (failed with exit code \d+|was killed with \w+)/.exec(message) ?? [];
  return [...new Set(errors)].join("\n") || (how === undefined ? message : `Pulumi ${how}`);
}

/** The result of a command, or a fallback for this kind of failure. */
export const unless = <T>(failure: Failure, work: Promise<T>, other: T): Promise<T> =>
  work.catch((error: unknown) => {
    if (isFailure(error, failure)) return other;
    throw error;
  });

type StateResource = Record<"type", string> & { id?: string; inputs?: Props; outputs?: Props };

/** The paths of the objects in the state of a stack; none if there is no such stack. */
export async function pathsIn(stack: string, workspace: Workspace): Promise<string[]> {
  const state = await unless("StackNotFoundError", workspace.exportStack(stack), { version: 3, deployment: {} });
  const { resources = [] } = state.deployment as { resources?: StateResource[] };
  return resources.flatMap(({ id, type, inputs, outputs }) => {
    const kind = kindOf(classOf(type));
    return id && kind ? [pathOf(definitions[kind], { ...inputs, ...outputs }, id)] : [];
  });
}
