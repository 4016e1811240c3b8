import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import os, { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { UndiciTransport } from "../../provider/api/transport";
import { version } from "../../provider/version";
import { versions } from "../../cli/doctor/versions";
import { network, send } from "../support/network";
import { json, peer } from "../support/peer";
import { start } from "../support/service";
import { connection, consortium } from "./command";

/* The doctor's findings for setups in which a run fails, with the next steps. */

interface Machine {
  /** The output of `pulumi` by the beginning of its arguments; text that begins with `error:` is a failure. */
  pulumi?: Record<string, string>;
  /** Versions of packages in the project. */
  packages?: Record<string, string>;
  /** The Node.js that the project's SDK of Pulumi needs. */
  sdkNeeds?: string;
  /** Environment variables. */
  env?: Record<string, string>;
}

const state = (more: object = {}): string => JSON.stringify({ version: 3, deployment: { resources: [], ...more } });

/** A machine with a project and a stub of `pulumi`. */
function machine({ pulumi = {}, packages = {}, sdkNeeds = ">=20", env: more = {} }: Machine = {}) {
  const home = mkdtempSync(join(tmpdir(), "doctor-"));
  const [bin, folder] = [join(home, "bin"), join(home, "project")];
  for (const made of [bin, folder]) mkdirSync(made);
  const all = { "pulumi-consortium": version, "@pulumi/pulumi": "3.248.0", ...packages };
  for (const [name, own] of Object.entries(all)) {
    const at = join(folder, "node_modules", name);
    mkdirSync(at, { recursive: true });
    writeFileSync(join(at, "package.json"), JSON.stringify({ name, version: own, engines: { node: sdkNeeds } }));
  }
  writeFileSync(join(folder, "Pulumi.yaml"), "name: net\nruntime: nodejs\n");
  const said = {
    ...pulumi, // first, because the first that fits counts
    version: "v3.220.0",
    "plugin ls": JSON.stringify([
      { name: "aws", kind: "resource", version: "6.0.0" },
      { name: "consortium", kind: "resource", version },
    ]),
    config: "{}",
    "stack export": state(),
    whoami: JSON.stringify({ user: "ada", url: `file://${home}` }),
    ...pulumi,
  };
  const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
  const cases = Object.entries(said).map(
    ([begin, text]) => `${quoted(begin)}*) ${text.startsWith("error:") ? "fail" : "say"} ${quoted(text)};;`,
  );
  const script = `#!/bin/sh
say() { printf '%s\\n' "$1"; }
fail() { say "$1" >&2; exit 255; }
case "$*" in
${cases.join("\n")}
*) fail "error: unexpected $*";;
esac
`;
  writeFileSync(join(bin, "pulumi"), script);
  chmodSync(join(bin, "pulumi"), 0o755);
  const env: Record<string, string> = { PATH: `${bin}${delimiter}/usr/bin${delimiter}/bin`, ...more };
  return { home, bin, folder, env };
}

interface Told {
  ok: boolean;
  findings: { about: string; state: string; text: string; next?: string }[];
  todo: string[];
}

/** The doctor's output, as JSON and as text. */
async function examined(
  { folder, env }: ReturnType<typeof machine>,
  more: Record<string, string>,
  args: string[] = [],
) {
  jest.spyOn(process, "cwd").mockReturnValue(folder);
  const all = { ...more, ...env };
  const ended = await consortium(["doctor", "--json", ...args], all);
  const text = await consortium(["doctor", ...args], all);
  jest.restoreAllMocks();
  expect([ended.stderr, text.stderr, text.code]).toEqual(["", "", ended.code]);
  const told = JSON.parse(ended.stdout) as Told;
  expect(ended.code).toBe(told.ok ? 0 : 1);
  const wrong = told.findings.filter((one) => one.state === "wrong");
  for (const one of wrong) {
    expect(text.stdout).toContain(`✗ WRONG ${one.about}: ${one.text}`);
    expect(one.next).not.toBe("");
  }
  expect(told.todo).toEqual([...new Set(wrong.map(({ next }) => next))]);
  return { ...told, wrong: wrong.map(({ about, text: why }) => `${about}: ${why}`), said: text.stdout };
}

const key = "u0aaaaaaaa-canary-of-a-key";
const held = { pid: 1, username: "ada", hostname: "ci", timestamp: "now" };
const holder = "ada@ci (process 1) since now";

/** A stack's lock in the folder of a backend. */
function lock(folder: string, stack: string): void {
  const at = join(folder, ".pulumi/locks/organization", stack);
  mkdirSync(at, { recursive: true });
  writeFileSync(join(at, "a.json"), JSON.stringify(held));
}

/** At a service that answers every call like this. */
async function at(made: Machine, args: string[] = [], answer = json(200, [])) {
  const { baseUrl } = await peer(answer);
  return examined(machine(made), connection({ baseUrl, apiKey: key }), args);
}
const onDev = ["--stack", "dev"];

test("a working setup: versions, the key's organization, clock and state; no secrets and no next steps", async () => {
  const { service } = await start({ clock: undefined });
  const config = JSON.stringify({ "consortium:apiKey": { value: service.apiKey, secret: true } });
  await send(service, "POST", "/consortia", { name: "trade" });
  const env = { CONSORTIUM_BASE_URL: service.baseUrl, CONSORTIUM_API_KEY: "" };
  const { findings, said, todo } = await examined(machine({ pulumi: { config } }), env, onDev);
  expect(findings.filter(({ state: one }) => one !== "ok")).toEqual([]);
  expect(findings.map(({ about }) => about)).toEqual([
    ...["package", "Node.js", "Pulumi SDK", "Pulumi CLI", "plugin", "service", "API key", "clock"],
    ...["state", "lock", "pending operations", "objects"],
  ]);
  expect(todo).toEqual([]);
  expect(said).toContain("Nothing wrong was found.");
  expect(said).toMatch(/✓ API key: from .*: organization o\w+; 1 consortium$/m);
  expect(said).not.toContain(service.apiKey);
});

describe("a broken setup:", () => {
  const plugins = [{ name: "consortium" }, { name: "consortium", version: "0.2.0" }, { name: "aws", version: "6.0.0" }];
  test.each<[string, Machine, string]>([
    [
      "no key",
      { env: { CONSORTIUM_API_KEY: "" } },
      "settings: No API key is set. Create one in the console (API tab, new API key)",
    ],
    [
      "a log that cannot be written",
      { env: { CONSORTIUM_LOG: "/nowhere/log" } },
      "settings: The log /nowhere/log (from environment variable CONSORTIUM_LOG) cannot be written: ENOENT",
    ],
    [
      "a service that is not there",
      { env: { CONSORTIUM_BASE_URL: "http://127.0.0.1:1/api/v1" } },
      "service: the connection was refused",
    ],
    [
      "a proxy that is dead",
      { env: { HTTP_PROXY: "http://me:canary-pass@127.0.0.1:1" } },
      "proxy: the proxy http://127.0.0.1:1 (environment variable HTTP_PROXY): the connection was refused",
    ],
    [
      "two plugins, and one of them without a version",
      { pulumi: { "plugin ls": JSON.stringify(plugins) } },
      `plugin: no version, 0.2.0 is installed, and this package is ${version}`,
    ],
    [
      "an old package in the project",
      { packages: { "pulumi-consortium": "0.1.0" } },
      `package: this command is ${version}, and the project in this folder has 0.1.0`,
    ],
    ["an old SDK", { packages: { "@pulumi/pulumi": "3.100.0" } }, "Pulumi SDK: 3.100.0 is too old"],
    ["an old CLI", { pulumi: { version: "v3.99.0" } }, "Pulumi CLI: 3.99.0 is too old"],
    ["no Pulumi at all", { env: { PATH: "/nowhere" } }, "Pulumi CLI: There is no Pulumi CLI on the PATH"],
  ])("%s", async (_, given, expected) => {
    const { wrong, said } = await at(given);
    expect(wrong).toEqual([expected]);
    expect(said).not.toContain("canary");
  });

  test("a Node.js that is too old, or too old for the project's SDK only", async () => {
    const { folder } = machine({ packages: { "@pulumi/pulumi": "3.276.0" }, sdkNeeds: ">=22" });
    const of = async (node: string) => (await versions(folder, node)).find(({ about }) => about === "Node.js");
    expect(await of("20.20.2")).toEqual({
      about: "Node.js",
      state: "wrong",
      text: "20.20.2 is too old for @pulumi/pulumi 3.276.0",
      next: "Install Node.js 22 or newer, or an older @pulumi/pulumi.",
    });
    expect(await of("18.20.0")).toMatchObject({ state: "wrong", text: "18.20.0 is too old" });
    expect(await of("24.1.0")).toEqual({ about: "Node.js", state: "ok", text: "24.1.0" });
  });

  test.each([
    ["the home that the system names, and not the variable", "file://~", "."],
    ["a folder beside the project", "file://./../state", "state"],
  ])("a lock is seen in %s", async (_, url, place) => {
    const { baseUrl } = await peer(json(200, []));
    const made = machine({ pulumi: { whoami: JSON.stringify({ url }) }, env: { HOME: "/nowhere" } });
    lock(join(made.home, place), "net/dev");
    jest.spyOn(os, "userInfo").mockReturnValue({ ...os.userInfo(), homedir: made.home });
    const { wrong } = await examined(made, connection({ baseUrl, apiKey: key }), onDev);
    expect(wrong).toEqual([`lock: the stack is locked by ${holder}`]);
  });

  test("Pulumi that names no backend: the lock is unknown, and not none", async () => {
    const { findings } = await at({ pulumi: { whoami: "error: log in first" } }, onDev);
    expect(findings).toContainEqual(expect.objectContaining({ about: "lock", state: "unknown" }));
  });

  test("a key that is refused", async () => {
    const { wrong, todo, said } = await at({}, [], json(401, { errorMessage: `who is ${key}?` }));
    expect(wrong).toEqual([expect.stringMatching(/^API key: who is \[secret\]\? \(HTTP 401/)]);
    expect(todo).toEqual([expect.stringContaining("was refused")]);
    expect(said).not.toContain("canary");
  });

  test("a key of another region", async () => {
    const answer = { status: 401, headers: {}, text: JSON.stringify({ errorMessage: "no" }) };
    jest.spyOn(UndiciTransport.prototype, "send").mockResolvedValue(answer);
    const { todo, wrong } = await examined(machine(), { CONSORTIUM_API_KEY: "e0aaaaaaaa-canary-of-a-key" });
    expect(wrong).toEqual(["API key: no (HTTP 401)"]);
    expect(todo).toEqual(["Set CONSORTIUM_REGION=eu: the key's id is from that region."]);
  });

  test.each([
    [61, "this machine's is 61 min behind the service's"],
    [-60, "this machine's is 60 min ahead of the service's"],
  ])("a clock that differs by %d minutes", async (minutes, expected) => {
    const date = new Date(Date.now() + minutes * 60_000).toUTCString();
    const { wrong } = await at({}, [], json(200, [], { date }));
    expect(wrong).toEqual([`clock: ${expected}`]);
  });

  const pending = {
    pending_operations: [{ type: "creating", resource: { urn: "urn:pulumi:dev::net::consortium:index:Node::n" } }],
  };
  const newer = { urn: "urn:pulumi:dev::net::consortium:index:Consortium::c", outputs: { __kept: { version: 9 } } };
  test.each<[string, Record<string, string>, string]>([
    [
      "a stack that is not there",
      { "stack export": "error: no stack named 'dev' found" },
      "state: The state of the stack dev cannot be read: no stack named 'dev' found",
    ],
    ["a killed run", { "stack export": state(pending) }, "pending operations: a run was killed: creating n"],
    [
      "a wrong passphrase",
      { config: "error: incorrect passphrase" },
      "configuration: The configuration of the stack dev cannot be read: incorrect passphrase",
    ],
    [
      "a state of a newer version",
      { "stack export": state({ resources: [newer] }) },
      "state: a newer version of pulumi-consortium wrote the state",
    ],
  ])("%s", async (_, pulumi, expected) => {
    const { wrong } = await at({ pulumi }, onDev);
    expect(wrong[0]).toMatch(expected);
    expect(wrong).toHaveLength(1);
  });

  test("a state that is cut off: where its backup is", async () => {
    const said = "error: failed to load checkpoint: unexpected end of JSON input";
    const { wrong, todo } = await at({ pulumi: { "stack export": said } }, onDev);
    expect(wrong).toEqual([expect.stringContaining("failed to load checkpoint")]);
    expect(todo).toEqual([expect.stringContaining("docs/recovery.md#a-state-file-that-was-cut-off")]);
  });

  test("a locked stack, and not another one; what is pending there is no killed run's", async () => {
    const { baseUrl } = await peer(json(200, []));
    const made = machine({ pulumi: { "stack export --stack dev": state(pending) } });
    lock(made.home, "net/dev");
    mkdirSync(join(made.home, ".pulumi/locks/organization/net/prod"));
    const look = (stack: string) => examined(made, connection({ baseUrl, apiKey: key }), ["--stack", stack]);
    const { wrong, findings } = await look("dev");
    expect(wrong).toEqual([`lock: the stack is locked by ${holder}`]);
    const run = "creating n, by the run that has the lock";
    expect(findings).toContainEqual({ about: "pending operations", state: "note", text: run });
    const other = await look("organization/net/prod");
    expect(other.wrong).toEqual([]);
    const text = `organization/net/dev, by ${holder}`;
    expect(other.findings).toContainEqual({ about: "lock of another stack", state: "note", text });
  });

  test("objects that are gone, and a key of another organization", async () => {
    const { service, time } = await start();
    const { consortiumId } = await network(service, time);
    const resource = (type: string, id: string, inputs: object, kept: object = {}) => ({
      urn: `urn:pulumi:dev::net::consortium:index:${type}::r`,
      id,
      inputs,
      outputs: { ...inputs, __kept: { version: 2, asked: inputs, ...kept } },
    });
    const lost = resource("Membership", "m-lost", { consortiumId, orgName: "lost" });
    const resources = [resource("Consortium", consortiumId, { name: "fixture" }), lost];
    const look = (pulumi: Record<string, string>) => examined(machine({ pulumi }), connection(service), onDev);
    const { wrong } = await look({ "stack export": state({ resources }) });
    expect(wrong.filter((one) => !one.startsWith("clock"))).toEqual([
      "objects: the service no longer has lost (m-lost)",
    ]);
    const others = [resource("Consortium", "c-other", { name: "a" }, { organizations: ["o-other"], keys: ["a:b:c"] })];
    const foreign = await look({ "stack export": state({ resources: others }) });
    expect(foreign.wrong.some((one) => one.startsWith("organization: "))).toBe(true);
  });
});
