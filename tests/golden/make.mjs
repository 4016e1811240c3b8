// @ts-check
/**
 * node tests/golden/make.mjs: keeps states of this version for ever, on both providers, and the objects of the service, beside the
 * programs that they are of: program.cjs and interrupted.cjs in tests/golden/VERSION, written first.
 * tests/e2e/life/upgrade.test.ts goes on from them with later versions.
 * Made once for a version, after the last change to a format: what users may have is never made again.
 */
import "../../tools/lib/node-version.mjs";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { writeFormatted } from "../../bench/lib/report.mjs";
import { on, Stack, upArgs } from "../../bench/lib/stack.mjs";
import { prepare, root } from "../../tools/lib/prepare.mjs";
import { pulumiCli } from "../../tools/lib/pulumi-cli.mjs";
import { runMain, log, UserError } from "../../tools/lib/terminal.mjs";
import { adapters, golden, keyOf, tetherOf } from "./service.mjs";

/** @typedef {import("../../service/index.js").Service} Service */
/** @typedef {(method: string, path: string, body?: object) => Promise<any>} Send */

const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const folder = join(root, "tests", "golden", version);

/** Asks the service without the client of this package. @param {Service} service @param {string} apiKey @returns {Send} */
const client = (service, apiKey) => async (method, path, body) => {
  const headers = { authorization: `Bearer ${apiKey}`, "content-type": "application/json" };
  const answer = await fetch(service.baseUrl + path, { method, headers, body: body && JSON.stringify(body) });
  const text = await answer.text();
  if (!answer.ok) throw new UserError(`${method} ${path}: ${answer.status} ${text}`);
  return text === "" ? {} : JSON.parse(text);
};

/** What others made, which the program adopts. @param {Send} send @returns {Promise<string>} the id of a membership */
async function ofOthers(send) {
  const make = async (/** @type {string} */ path, /** @type {object} */ body) => (await send("POST", path, body))._id;
  const description = "of others";
  const zone = { name: "ohio", region: "us-east-2", cloud: "aws" };
  const consortium = `/consortia/${await make("/consortia", { name: "alliance", description })}`;
  const membership_id = await make(`${consortium}/memberships`, { org_name: "globex" });
  await make(`${consortium}/zones`, zone);
  const pilot = { name: "pilot", provider: "quorum", consensus_type: "ibft", description };
  const environment = `${consortium}/environments/${await make(`${consortium}/environments`, pilot)}`;
  const zone_id = await make(`${environment}/zones`, zone);
  await make(`${environment}/nodes`, { name: "old-1", membership_id, zone_id, size: "large" });
  await make(`${environment}/services`, { name: "names of all", service: "idregistry", membership_id });
  return membership_id;
}

/** Where in the program a resource comes from, which Pulumi notes, names folders of this machine. @param {string} state */
function withoutPlaces(state) {
  const places = ["sourcePosition", "stackTrace"];
  const kept = JSON.parse(state, (key, value) => (places.includes(key) ? undefined : value));
  return JSON.stringify(kept, null, 2);
}

/**
 * The state that a program leaves on a provider.
 * @param {Service} service
 * @param {(typeof adapters)[number]} adapter
 * @param {"stack" | "interrupted"} name
 * @param {string} text the program
 * @param {Record<string, string>} config
 * @param {(stack: Stack) => Promise<unknown>} run
 */
async function keepState(service, adapter, name, text, config, run) {
  const env = {
    CONSORTIUM_API_KEY: keyOf(adapter),
    CONSORTIUM_BASE_URL: service.baseUrl,
    PULUMI_CONFIG_PASSPHRASE: "end-to-end",
    ...on(adapter),
  };
  const stack = await Stack.create(await pulumiCli(), { project: "e2e", program: text, env });
  try {
    for (const [key, value] of Object.entries(config)) await stack.ok(["config", "set", key, value]);
    await run(stack);
    const exported = join(stack.folder, "stack.json");
    await stack.ok(["stack", "export", "--file", exported]);
    mkdirSync(join(folder, adapter), { recursive: true });
    await writeFormatted(join(folder, adapter, `${name}.json`), withoutPlaces(readFileSync(exported, "utf8")));
  } finally {
    stack.remove();
  }
}

/** A run that fails. @param {Stack} stack */
async function failing(stack) {
  const { code, text } = await stack.run(upArgs);
  if (code === 0) throw new UserError(`The run should not succeed:\n${text}`);
  log(text);
}

/** A service that writes the names of members in capitals, as an example of one that has a form of its own. */
async function writingInCapitals() {
  const { Store } = await import("../../service/dist/store/store.js");
  const { create } = Store.prototype;
  /** @type {(this: InstanceType<typeof Store>, draft: any) => any} */
  const inCapitals = function (draft) {
    if (draft.fields.org_name?.includes("&")) draft.fields.org_name = draft.fields.org_name.toUpperCase();
    return create.call(this, draft);
  };
  Store.prototype.create = /** @type {typeof create} */ (inCapitals);
}

/** @param {typeof import("../../service/index.js")} module */
async function makeStates({ startService }) {
  const data = mkdtempSync(join(tmpdir(), "consortium-golden-"));
  await writingInCapitals();
  const service = await startService({ ...golden, dataDir: data });
  const program = readFileSync(join(folder, "program.cjs"), "utf8");
  const interrupted = readFileSync(join(folder, "interrupted.cjs"), "utf8");
  try {
    for (const adapter of adapters) {
      const globex = await ofOthers(client(service, keyOf(adapter)));
      await sleep(1_000); // the node of others starts
      const config = { globex, tether: tetherOf(adapter, "stack") };
      await keepState(service, adapter, "stack", program, config, (stack) => stack.ok(upArgs));
    }
    const { updated } = service.answers;
    for (const adapter of adapters) {
      const config = { tether: tetherOf(adapter, "interrupted") };
      const before = interrupted.replace('"renamed"', '"first"');
      await keepState(service, adapter, "interrupted", before, config, async (stack) => {
        service.setTiming({ nodeStart: 3_600_000 });
        service.faults.add({ method: "POST", route: "/tether/:tetherId/deploy", kind: "resetBefore", times: Infinity });
        await failing(stack);
        service.setAnswers({ patch: 405 });
        writeFileSync(join(stack.folder, "index.js"), interrupted);
        await failing(stack);
        service.setAnswers({ patch: true, updated });
        service.setTiming({ nodeStart: golden.timing.nodeStart });
      });
    }
    await service.close();
    writeFileSync(join(folder, "service.jsonl"), await linesOf(data));
  } finally {
    await service.close();
    rmSync(data, { recursive: true, force: true });
  }
}

/** The objects in a data folder, a line each after the first one. @param {string} data */
async function linesOf(data) {
  const { Database } = await import("../../service/dist/storage/database.js");
  const database = await Database.open(join(data, "objects"));
  const lines = [];
  for await (const [, value] of database.entries("", "~")) lines.push(value.toString());
  await database.close();
  return ["{}", ...lines, ""].join("\n");
}

await runMain("tests/golden/make", async () => {
  await prepare();
  const service = await import("pulumi-consortium/service");
  for (const name of ["service.jsonl", ...adapters]) rmSync(join(folder, name), { recursive: true, force: true });
  await makeStates(service);
  log(`The states and data of version ${version} are in ${folder}.`);
});
