import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Command as Program } from "commander";
import limited from "p-limit";
import {
  counted,
  examineService,
  examineVersions,
  failure,
  type Finding,
  holdersText,
  isOn,
  type Lock,
  locksIn,
  note,
  ok,
  resolveProviderSettings,
  Secrets as Hidden,
  showFindings,
  withoutLogin,
  wrong,
} from "pulumi-consortium/internal/fleet";
import { readFleet } from "./file";
import { fleetFile, only } from "./options";
import { lastOf } from "./ownership";
import { workFolderOf } from "./project";
import { findPulumi, inProject, listStacks, workspaceIn } from "./pulumi";
import { haveEnded, openRun, recordOf } from "./recovery";
import { type Fleet, type FleetStack } from "./schema";
import { readSecrets, stackEnvironment } from "./secrets";
import { selected } from "./selection";

/* `doctor`: checks that the keys, the backend and the stacks of a fleet are ready for a run, and shows who holds locks. */

export function defineDoctor(program: Program): void {
  program
    .command("doctor", { hidden: true }) // `consortium doctor <fleet file>` is its name
    .description("find out why runs of a fleet fail")
    .addArgument(fleetFile())
    .addOption(only())
    .option("--json", "print one JSON document")
    .addHelpText(
      "after",
      "\nExamines versions, each organization's key and service, the backend, and each stack's locks and killed runs. Ends with the\n" +
        "next steps. Changes nothing, and prints no secrets.\nExit code 1: something is wrong.",
    )
    .action(doctor);
}

async function doctor(file: string, { only: patterns, json }: { only: string[]; json?: boolean }): Promise<void> {
  const fleet = readFleet(file);
  const { stacks } = selected(fleet, { only: patterns });
  const hidden = new Hidden();
  const limit = limited(4);
  const firsts = stacks.filter((one, at) => stacks.findIndex((two) => two.organization === one.organization) === at);
  const findings = await Promise.all([
    examineVersions(fleet.folder, process.versions.node),
    ...firsts.map((stack) => limit(() => organizationOf(fleet, stack, hidden))),
    backendOf(fleet, stacks, hidden),
  ]);
  showFindings(findings.flat(), hidden, json);
}

const prefixed = (name: string, findings: readonly Finding[]): Finding[] =>
  findings.map((one) => ({ ...one, about: `${name}: ${one.about}` }));

/** The key and the service of the organization of a stack. */
async function organizationOf(fleet: Fleet, stack: FleetStack, hidden: Hidden): Promise<Finding[]> {
  const { name } = stack.organization;
  try {
    const secrets = await readSecrets({ ...fleet, passphrase: undefined }, [stack], process.env);
    hidden.learn([...secrets.apiKeys.values()]);
    const { findings } = await examineService(() => resolveProviderSettings({}, stackEnvironment(stack, secrets)));
    const shown = findings.filter(({ about, state }) => state === "wrong" || ["service", "API key"].includes(about));
    return prefixed(name, shown);
  } catch (error) {
    return prefixed(name, [failure("API key", error, "Correct the fleet file.")]);
  }
}

/** The backend, with what holds up its stacks. */
async function backendOf(fleet: Fleet, stacks: readonly FleetStack[], hidden: Hidden): Promise<Finding[]> {
  try {
    const { environment } = await readSecrets(fleet, [], process.env);
    hidden.learn(environment.PULUMI_CONFIG_PASSPHRASE);
    const pulumi = await findPulumi();
    const { backend: own } = fleet;
    if (own?.startsWith("file:///") && !existsSync(fileURLToPath(own)))
      return [note("backend", `${own} does not exist yet: the first run creates it`)];
    return await inProject(fleet.project, async (folder) => {
      const workspace = await workspaceIn(folder, environment, pulumi);
      const known = new Set((await listStacks(workspace)).map(({ name }) => lastOf(name)));
      const backend = own ?? (await workspace.whoAmI()).url ?? "";
      const locks = locksIn(backend, folder);
      const exist = stacks.filter(({ name }) => known.has(name)).length;
      const text = `${withoutLogin(backend)}: ${exist} of ${counted(stacks.length, "stack")} exist`;
      const held = await Promise.all(stacks.map((stack) => heldUp(stack, fleet, locks ?? [])));
      return [ok("backend", locks ? text : `${text}. Its locks show only during a run`), ...held.flat()];
    });
  } catch (error) {
    return [failure("backend", error, "Correct it until `pulumi stack ls` works.")];
  }
}

/** The run that is changing a stack, or was killed while it did. */
async function heldUp({ name, program }: FleetStack, fleet: Fleet, locks: readonly Lock[]): Promise<Finding[]> {
  const workFolder = workFolderOf(fleet);
  const run = await openRun(recordOf(workFolder, name));
  const who = run?.holder ? `: ${holdersText([run.holder])}` : "";
  if (run?.isAtWork)
    return prefixed(name, [wrong("run", `a run is changing the stack${who}`, "Wait for that run.", "stack-locked")]);
  const goOn = `Run \`consortium fleet up ${fleet.file} --only ${name}\`, which continues where that run stopped.`;
  const killed = run ? [wrong("run", `a run was killed while it was changing the stack${who}`, goOn)] : [];
  // The project of a program has a name of its own.
  const project = program === undefined ? fleet.project : undefined;
  const holders = locks.filter((lock) => isOn(lock, project, name)).map(({ holder }) => holder);
  if (holders.length === 0) return prefixed(name, killed);
  const isLeft = haveEnded(holders);
  const text = `the stack is locked by ${holdersText(holders)}${isLeft ? ", which has ended" : ""}`;
  const cancel = `\`pulumi cancel --yes --stack ${name}\` in ${program ?? workFolder}, with the fleet's backend as PULUMI_BACKEND_URL.`;
  const next = isLeft ? `Run ${cancel}` : `Wait for that run. If it was killed, run ${cancel}`;
  return prefixed(name, [...killed, wrong("lock", text, run && isLeft ? goOn : next, "stack-locked")]);
}
