import { LiveNetwork } from "../../inventory/live";
import { displayName, objectsOf } from "../../inventory/model";
import { readStack } from "../../inventory/stack";
import { ConsortiumClient, isApiError, type Settings } from "../../provider/api";
import { briefly } from "../../provider/api/api-error";
import { storedIn } from "../../provider/core/state";
import { UserError } from "../../provider/errors";
import { counted, messageOf } from "../../provider/plain";
import { exportStack, pulumiOutput } from "../shared/connection";
import { failure, type Finding, note, ok, unknown, wrong } from "./findings";
import { backendIn, cutOff, holdersText, isOn, type Lock, locksIn, pendingIn, withoutLogin } from "./held";

/* Checks that the state can be read, is not locked, and matches the service. */

const patienceMs = 10_000;

/** @param settings absent: the service cannot be asked */
export async function stack(name: string, folder: string, settings: Settings | undefined): Promise<Finding[]> {
  const backend = await pulumiOutput(["whoami", "--json", "--non-interactive"], "").then(backendIn, () => undefined);
  const held = (project?: string): Finding[] => lockFindings(backend, folder, name, project);
  let document: unknown;
  try {
    document = await exportStack(name);
  } catch (error) {
    const said = messageOf(error);
    const next = "Check the name of the stack, `pulumi whoami --verbose`, and the variables of the backend.";
    const where = backend === undefined ? "" : ` (backend ${withoutLogin(backend)})`;
    return [wrong("state", `${said}${where}`, cutOff(said) ?? next), ...held()];
  }
  const read = readStack(document, `The stack ${name}`);
  const locks = held(read.rows[0]?.managed.stack.split("/")[0]);
  const tooNew = newer(read.rows.map((row) => row.state ?? {}));
  if (tooNew.length > 0) return [...tooNew, ...locks];
  const pending = pendingIn(
    document,
    "Run `pulumi up`, which continues the run, then `pulumi refresh --clear-pending-creates` to end the warning.",
    locks.some(({ state }) => state === "wrong"),
  );
  return [
    ok("state", `${counted(read.rows.length, "resource")} in ${withoutLogin(backend ?? "an unknown backend")}`),
    ...locks,
    ...(pending.length > 0 ? pending : [ok("pending operations", "none")]),
    ...(settings ? await compared(read, settings) : [unknown("objects", "not checked: the service is not available")]),
  ];
}

/** The lock of the stack, and those of others in its backend. */
function lockFindings(backend: string | undefined, folder: string, name: string, project?: string): Finding[] {
  if (backend === undefined)
    return [unknown("lock", "`pulumi whoami --json` names no backend: `pulumi up` shows whether the stack is locked")];
  const locks = locksIn(backend, folder);
  if (!locks) return [];
  const own = (lock: Lock): boolean => isOn(lock, project, name.split("/").at(-1)!);
  const mine = locks.filter(own).map(({ holder }) => holder);
  const next = `Wait for that run. If it was killed, run \`pulumi cancel --stack ${name}\`, then \`pulumi up\`.`;
  return [
    mine.length === 0 ? ok("lock", "none") : wrong("lock", `the stack is locked by ${holdersText(mine)}`, next),
    ...locks
      .filter((lock) => !own(lock))
      .map(({ path, holder }) => note("lock of another stack", `${path}, by ${holdersText([holder])}`)),
  ];
}

function newer(states: readonly Readonly<Record<string, unknown>>[]): Finding[] {
  try {
    states.forEach((state) => storedIn(state));
    return [];
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    const text = "a newer version of pulumi-consortium wrote the state";
    return [wrong("state", text, "Install that version: npm install pulumi-consortium@latest.")];
  }
}

async function compared(read: ReturnType<typeof readStack>, settings: Settings): Promise<Finding[]> {
  const client = new ConsortiumClient(settings, { patienceMs });
  try {
    await read.prove(client);
    const tethers = read.model.tethers.map(({ id }) => id);
    const live = await new LiveNetwork(client).look({ tethers, stacks: [read], partial: true });
    const own = objectsOf(live).flatMap(({ object }) => (typeof object.managed === "object" ? [object] : []));
    const gone = own.filter((object) => "state" in object && object.state === "gone");
    const drifted = own.filter((object) => !gone.includes(object) && object.drift?.length);
    const names = gone.map((object) => `${displayName(object)} (${object.id})`);
    const next = "Run `pulumi refresh`, then `pulumi up`, which creates them again; or remove them from the program.";
    return [
      names.length === 0
        ? ok("objects", counted(own.length, "object of the stack exists", "objects of the stack exist"))
        : wrong("objects", `the service no longer has ${names.join(", ")}`, next),
      ...(drifted.length > 0
        ? [
            note(
              "drift",
              `${counted(drifted.length, "object has", "objects have")} drifted: \`consortium check\` shows how`,
            ),
          ]
        : []),
    ];
  } catch (error) {
    if (error instanceof UserError)
      return [failure("organization", error, "Use the key of the stack's organization (docs/recovery.md).")];
    if (!isApiError(error)) throw error;
    return [unknown("objects", briefly(error))];
  } finally {
    await client.close();
  }
}
