import { readdirSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";
import { z } from "zod";
import { LiveNetwork } from "../../inventory/live";
import { displayName, objectsOf } from "../../inventory/model";
import { readStack } from "../../inventory/stack";
import { ConsortiumClient, isApiError, type Settings } from "../../provider/api";
import { briefly } from "../../provider/api/api-error";
import { backendOf } from "../../provider/core/stack-log";
import { storedIn } from "../../provider/core/state";
import { UserError } from "../../provider/core/user-error";
import { fieldsOf, messageOf } from "../../provider/plain";
import { exportStack } from "../shared/connection";
import { type Finding, note, ok, parts, unknown, wrong } from "./findings";
import { parsed } from "./versions";

/* Whether the state can be read, is not held up by another run, and has what the service has. */

const Pending = z.looseObject({
  deployment: z.looseObject({
    pending_operations: z
      .array(z.looseObject({ type: z.string(), resource: z.looseObject({ urn: z.string() }) }))
      .nullish(),
  }),
});

const patienceMs = 10_000;

/** @param settings absent: the service cannot be asked */
export async function stack(
  name: string,
  folder: string,
  env: Record<string, string | undefined>,
  settings: Settings | undefined,
): Promise<Finding[]> {
  const backend = backendOf(env, folder);
  let document: unknown;
  try {
    document = await exportStack(name);
  } catch (error) {
    const next = "Check the name of the stack, `pulumi whoami --verbose`, and the variables of the backend.";
    return [wrong("state", `${messageOf(error)} (backend ${withoutLogin(backend)})`, next), ...locks(backend, name)];
  }
  const read = readStack(document, `The stack ${name}`);
  const tooNew = newer(read.rows.map((row) => row.state ?? {}));
  if (tooNew.length > 0) return [...tooNew, ...locks(backend, name)];
  return [
    ok("state", `${read.rows.length} resources in ${withoutLogin(backend)}`),
    ...locks(backend, name),
    ...pendingIn(document),
    ...(settings ? await compared(read, settings) : [unknown("objects", "the service could not be asked for them")]),
  ];
}

/** The address of a backend may hold a password. */
const withoutLogin = (url: string): string => url.replace(/\/\/[^/@]*@/, "//");

/** The locks that runs hold in a folder. Other backends tell of them only when a run starts. */
function locks(backend: string, name: string): Finding[] {
  if (!backend.startsWith("file://")) return [];
  const folder = join(backend.slice("file://".length).replace(/^~/, process.env.HOME ?? "~"), ".pulumi", "locks");
  const stackName = name.split("/").at(-1)!;
  let files: string[];
  try {
    files = readdirSync(folder, { recursive: true, encoding: "utf8" });
  } catch {
    return [ok("lock", "none")]; // no run has ever locked it
  }
  const held = files.filter((file) => file.endsWith(".json") && file.split(sep).at(-2) === stackName);
  if (held.length === 0) return [ok("lock", "none")];
  const holders = held.map((file) => {
    const { username, hostname, pid, timestamp } = fieldsOf(parsed(readFileSync(join(folder, file), "utf8")));
    return `${String(username)}@${String(hostname)} (process ${String(pid)}) since ${String(timestamp)}`;
  });
  const next = `Wait for that run. If it was killed, run \`pulumi cancel --stack ${name}\`, then \`pulumi up\`.`;
  return [wrong("lock", `the stack is locked by ${holders.join(" and ")}`, next)];
}

function pendingIn(document: unknown): Finding[] {
  const pending = Pending.safeParse(document).data?.deployment.pending_operations ?? [];
  if (pending.length === 0) return [ok("pending operations", "none")];
  const names = pending.map(({ type, resource }) => `${type} ${resource.urn.split("::").at(-1)}`);
  const next = "Run `pulumi up`, which goes on; then `pulumi refresh --clear-pending-creates` ends the warning.";
  return [wrong("pending operations", `a run was killed: ${names.join(", ")}`, next)];
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
    const next = "Run `pulumi refresh`, then `pulumi up`, which makes them again; or take them out of the program.";
    return [
      names.length === 0
        ? ok("objects", `the service has all ${own.length} of the stack`)
        : wrong("objects", `the service no longer has ${names.join(", ")}`, next),
      ...(drifted.length > 0 ? [note("drift", `${drifted.length} objects differ: \`consortium check\` says how`)] : []),
    ];
  } catch (error) {
    if (error instanceof UserError) {
      const [text, next] = parts(messageOf(error));
      return [wrong("organization", text, next || "Use the key of the stack's organization (docs/recovery.md).")];
    }
    if (!isApiError(error)) throw error;
    return [unknown("objects", briefly(error))];
  } finally {
    await client.close();
  }
}
