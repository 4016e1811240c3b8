import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Service, startService } from "../../../service/index";
import { type adapters, golden, keyOf, tetherOf } from "../../golden/service.mjs";
import { temporary } from "../../fleet/made";
import { Database } from "../../../service/storage/database";
import { atTheEnd } from "./ending";
import { root, Stack, type StateResource } from "./stack";

const folder = join(root, "tests/golden");

/** The versions that golden states are of. */
export const versions = readdirSync(folder).filter((name) => /^\d/.test(name));

export type Adapter = (typeof adapters)[number];

/** A clock that goes on an hour after the data was written, whenever that was. */
function clockAfter(data: string): () => number {
  const last = Math.max(...[...data.matchAll(/"changedAt":(\d+)/g)].map(([, at]) => Number(at)));
  const start = Date.now();
  return () => last + 3_600_000 + Date.now() - start;
}

/** Writes a service's objects, which version 0.2.0 kept as lines of JSON, into a data folder. */
async function fill(dataDir: string, data: string): Promise<void> {
  const database = await Database.open(join(dataDir, "objects"));
  const lines = data.trim().split("\n").slice(1);
  for (const [order, line] of lines.entries()) {
    const entity = JSON.parse(line) as { kind: string; id: string; fields: object };
    const fields = { ...entity.fields, ...(entity.kind === "organization" ? { apiKey: `key of ${entity.id}` } : {}) };
    await database.write([[`${entity.kind}/${entity.id}`, JSON.stringify({ ...entity, fields, order })]]);
  }
  await database.close();
}

export interface Golden {
  service: Service;
  stack: Stack;
  /** The program that the state is of. */
  program: string;
  apiKey: string;
}

/** A state that an earlier version left (see tests/golden/make.mjs) as a stack, on the service that it tells of. */
export async function goldenStack(version: string, adapter: Adapter, name: "stack" | "interrupted"): Promise<Golden> {
  const kept = join(folder, version);
  const [data, state] = [join(kept, "service.jsonl"), join(kept, adapter, `${name}.json`)];
  const program = readFileSync(join(kept, name === "stack" ? "program.cjs" : "interrupted.cjs"), "utf8");
  const { deployment } = JSON.parse(readFileSync(state, "utf8")) as { deployment: { resources: StateResource[] } };
  const globex = deployment.resources.find(({ urn }) => urn.endsWith("::globex"))?.id;
  const dataDir = temporary();
  await fill(dataDir, readFileSync(data, "utf8"));
  const service = await startService({ ...golden, dataDir, clock: clockAfter(readFileSync(data, "utf8")) });
  atTheEnd(() => service.close());
  const apiKey = keyOf(adapter);
  const stack = await Stack.create({
    program,
    env: { CONSORTIUM_API_KEY: apiKey, CONSORTIUM_BASE_URL: service.baseUrl, CONSORTIUM_PLUGIN: onPlugin(adapter) },
    config: { "e2e:tether": tetherOf(adapter, name), ...(globex ? { "e2e:globex": globex } : {}) },
    inline: true,
    plugin: true,
  });
  await stack.ok(["stack", "import", "--file", state]);
  return { service, stack, program, apiKey };
}

/** Selects the provider of the classes. */
const onPlugin = (adapter: Adapter): string => String(adapter === "plugin");
