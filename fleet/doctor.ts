import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Command as Program } from "commander";
import limited from "p-limit";
import {
  counted,
  cutOff,
  examineService,
  examineVersions,
  type Finding,
  holdersText,
  isOn,
  type Lock,
  locksIn,
  messageOf,
  note,
  ok,
  parts,
  pendingIn,
  resolveProviderSettings,
  Secrets as Hidden,
  showFindings,
  unknown,
  withoutLogin,
  wrong,
} from "pulumi-consortium/internal/fleet";
import { readFleet } from "./file";
import { fleetFile, only } from "./options";
import { lastOf, own } from "./ownership";
import { workFolderOf } from "./project";
import { findPulumi, inProject, saidIn, unless, workspaceIn } from "./pulumi";
import { haveEnded, openRun, recordOf } from "./recovery";
import { type Fleet, type FleetStack } from "./schema";
import { readSecrets, type Secrets, stackEnvironment } from "./secrets";
import { selected } from "./selection";

/* `doctor`: checks that the keys, the backend and the stacks of a fleet are ready for a run, and shows who holds locks. */

export function defineDoctor(program: Program): void {
  program
    .command("doctor")
    .description("find out why runs of a fleet fail")
    .addArgument(fleetFile())
    .addOption(only())
    .option("--json", "print one JSON document")
    .addHelpText(
      "after",
      "\nExamines versions, each organization's key and service, the backend, and each stack's locks, killed runs and pending\n" +
        "operations. Ends with the next steps. Changes nothing, and prints no secrets.\nExit code 1: something is wrong.",
    )
    .action(doctor);
}

async function doctor(file: string, { only: patterns, json }: { only: string[]; json?: boolean }): Promise<void> {
  const fleet = readFleet(file);
  const { stacks } = selected(fleet, { only: patterns });
  const hidden = new Hidden();
  const findings = [
    ...(await examineVersions(fleet.folder, process.versions.node)),
    ...(await organizations(fleet, stacks, hidden)),
    ...(await states(fleet, stacks, hidden)),
  ];
  showFindings(findings, hidden, json);
}

/** Maximum parallel Pulumi processes and organizations. */
const atOnce = 4;

const prefixed = (name: string, findings: readonly Finding[]): Finding[] =>
  findings.map((one) => ({ ...one, about: `${name}: ${one.about}` }));

/** A secret that the fleet file names but that is missing. */
function missing(about: string, error: unknown): Finding {
  const [text, next] = parts(messageOf(error));
  return wrong(about, text, next.replace(/ ?Nothing was started\.$/, "") || "Set it, or correct the fleet file.");
}

/** The key and the service of each organization, with its stacks' settings. */
async function organizations(fleet: Fleet, stacks: readonly FleetStack[], hidden: Hidden): Promise<Finding[]> {
  const limit = limited(atOnce);
  const firsts = stacks.filter((one, at) => stacks.findIndex((two) => two.organization === one.organization) === at);
  const examined = firsts.map((stack) =>
    limit(async () => prefixed(stack.organization.name, await connection(fleet, stack, hidden))),
  );
  return (await Promise.all(examined)).flat();
}

async function connection(fleet: Fleet, stack: FleetStack, hidden: Hidden): Promise<Finding[]> {
  let secrets: Secrets;
  try {
    secrets = await readSecrets({ ...fleet, passphrase: undefined }, [stack], process.env);
  } catch (error) {
    return [missing("API key", error)];
  }
  hidden.learn([...secrets.apiKeys.values()]);
  const { findings } = await examineService(() => resolveProviderSettings({}, stackEnvironment(stack, secrets)));
  return findings.filter(({ about, state }) => state === "wrong" || ["service", "API key"].includes(about));
}

/** The backend, and problems of its stacks. */
async function states(fleet: Fleet, stacks: readonly FleetStack[], hidden: Hidden): Promise<Finding[]> {
  let environment: NodeJS.ProcessEnv;
  try {
    ({ environment } = await readSecrets(fleet, [], process.env));
  } catch (error) {
    return [missing("passphrase", error)];
  }
  hidden.learn(environment.PULUMI_CONFIG_PASSPHRASE);
  const pulumi = await findPulumi().catch(() => undefined);
  if (!pulumi) return [unknown("backend", "not checked: there is no Pulumi CLI on the PATH")];
  return inProject(fleet.project, async (folder) => {
    const { backend: own } = fleet;
    if (own?.startsWith("file:///") && !existsSync(fileURLToPath(own)))
      return [note("backend", `${own} does not exist yet: the first run creates it`)];
    const open: Where["open"] = (at = folder) => workspaceIn(at, environment, pulumi);
    let backend: string;
    try {
      backend = own ?? (await (await open()).whoAmI()).url ?? "";
    } catch (error) {
      return [wrong("backend", saidIn(error as Error), "Name a backend in the fleet file, or run `pulumi login`.")];
    }
    let known: Where["known"];
    let unlisted: Finding | undefined;
    try {
      known = new Set((await (await open()).listStacks()).map(({ name }) => lastOf(name)));
    } catch (error) {
      const said = saidIn(error as Error);
      const next = "Correct backend in the fleet file, or its login variables, until `pulumi stack ls` works.";
      const text = `its stacks cannot be listed: ${said} (${withoutLogin(backend)})`;
      unlisted = wrong("backend", text, cutOff(said) ?? next);
      if (!cutOff(said)) return [unlisted];
    }
    const locks = locksIn(backend, folder);
    const limit = limited(atOnce);
    const where = { fleet, open, known, locks: locks ?? [] };
    const all = await Promise.all(stacks.map((one) => limit(() => stateOf(one, where))));
    const findings = all.flatMap((one) => one.findings);
    // One state that is cut off hides the list of all stacks.
    if (unlisted) return findings.some(({ about }) => about.endsWith(": state")) ? findings : [unlisted, ...findings];
    const count = `${all.filter(({ exists }) => exists).length} of ${counted(stacks.length, "stack")} exist`;
    const text = `${withoutLogin(backend)}: ${count}${locks ? "" : ". Its locks show only during a run"}`;
    return [ok("backend", text), ...findings];
  });
}

interface Where {
  fleet: Fleet;
  /** A workspace in the folder of a program, or in one of the fleet's project. */
  open: (folder?: string) => ReturnType<typeof workspaceIn>;
  /** Names of the stacks in the fleet's project; undefined: they cannot be listed. */
  known: ReadonlySet<string> | undefined;
  locks: readonly Lock[];
}

/** Whether a stack exists, and its problems. */
async function stateOf(stack: FleetStack, where: Where): Promise<{ exists: boolean; findings: Finding[] }> {
  const { fleet, open, known } = where;
  const { name } = stack;
  const { findings, isAtWork } = await heldUp(stack, where);
  if (stack.program === undefined && known?.has(name) === false)
    return { exists: false, findings: prefixed(name, findings) };
  let exists = false;
  try {
    const workspace = await open(stack.program);
    const state = await unless<unknown>("StackNotFoundError", workspace.exportStack(name), undefined);
    exists = state !== undefined;
    if (exists) findings.push(...pendingIn(state, goOn(fleet, name), isAtWork));
    if (exists) await own(stack, fleet, workspace, { isNew: false, claims: false });
  } catch (error) {
    const [text, next] = parts(error instanceof Error ? saidIn(error) : messageOf(error));
    const advice = next || (cutOff(text) ?? "Run `pulumi stack export` for it, and fix the error that it shows.");
    findings.push(wrong("state", text, advice));
  }
  return { exists, findings: prefixed(name, findings) };
}

const goOn = ({ file }: Fleet, name: string): string =>
  `Run \`consortium fleet up ${file} --only ${name}\`, which continues where that run stopped.`;

/** The run that is changing a stack, or was killed while it did. `isAtWork`: it has not surely ended. */
async function heldUp(
  { name, program }: FleetStack,
  { fleet, locks }: Where,
): Promise<{ findings: Finding[]; isAtWork: boolean }> {
  const workFolder = workFolderOf(fleet);
  const run = await openRun(recordOf(workFolder, name));
  const who = run?.holder ? `: ${holdersText([run.holder])}` : "";
  if (run?.isAtWork) {
    const atWork = wrong("run", `a run is changing the stack${who}`, "Wait for that run.");
    return { findings: [atWork], isAtWork: true };
  }
  const findings = run
    ? [wrong("run", `a run was killed while it was changing the stack${who}`, goOn(fleet, name))]
    : [];
  // The project of a program has a name of its own.
  const project = program === undefined ? fleet.project : undefined;
  const holders = locks.filter((lock) => isOn(lock, project, name)).map(({ holder }) => holder);
  if (holders.length === 0) return { findings, isAtWork: false };
  const isLeft = haveEnded(holders);
  const text = `the stack is locked by ${holdersText(holders)}${isLeft ? ", which has ended" : ""}`;
  const cancel =
    `\`pulumi cancel --yes --stack ${name}\` in ${program ?? workFolder}, with the fleet's backend as ` +
    "PULUMI_BACKEND_URL.";
  const next = isLeft ? `Run ${cancel}` : `Wait for that run. If it was killed, run ${cancel}`;
  return { findings: [...findings, wrong("lock", text, run && isLeft ? goOn(fleet, name) : next)], isAtWork: !isLeft };
}
