import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import { FleetWorld } from "../support/fleet";
import { finished, type Result } from "../support/stack";

/* The disk during a fleet's runs and afterwards: no key, no password, and no secret of a network file. */

let w: FleetWorld;
const token = "canary-vault-5b0c";

const network = (configurations = {}) =>
  stringify({
    members: ["m"],
    environments: {
      e: {
        provider: "quorum",
        consensusType: "raft",
        protect: true,
        nodes: { m: 1 },
        configurations,
        credentials: { app: { member: "m" } },
      },
    },
  });
const vault = { keys: { member: "m", type: "kms", details: { vault: { token: { env: "VAULT_TOKEN" } } } } };

beforeAll(async () => {
  w = await FleetWorld.create();
  w.env.VAULT_TOKEN = token;
  w.env.TMPDIR = join(w.folder, "tmp");
  mkdirSync(w.env.TMPDIR);
  w.fleet({ acme: { prod: "networks/acme.yaml" }, globex: { prod: "networks/globex.yaml" } });
  // The stack of acme runs as a program, that of globex as YAML.
  w.write("networks/acme.yaml", network(vault));
  w.write("networks/globex.yaml", network());
});

/** The passwords in the state of a stack. */
function passwordsOf(stack: string): string[] {
  const folder = join(w.folder, ".consortium/fleet/fleet");
  const env = { ...w.env, PULUMI_BACKEND_URL: `file://${w.folder}/state` };
  const args = ["stack", "export", "--show-secrets", "--stack", stack];
  const text = execFileSync("pulumi", args, { cwd: folder, env, encoding: "utf8" });
  return [...text.matchAll(/"plaintext": "\\"([^"{\\]+)\\""/g)].map(([, secret]) => secret!);
}

/** Runs a command, and looks for secrets in all files as long as it runs. */
async function watched(command: string, ...args: string[]): Promise<Result> {
  const found = new Set<string>();
  const look = () => w.leaks([token]).forEach((file) => found.add(file));
  const timer = setInterval(look, 250);
  const result = await finished(w.start(command, ...args)).finally(() => clearInterval(timer));
  look();
  expect({ command, found: [...found] }).toEqual({ command, found: [] });
  expect(result.text).not.toContain(token);
  return result;
}

/** One story. */
test("a preview, a killed up, its continuation and a failure leave no secrets on the disk", async () => {
  expect(await watched("preview")).toMatchObject({ code: 0, text: expect.stringContaining("2 of 2") as string });
  await w.killed("fleet", 4);
  expect(w.leaks([token])).toEqual([]);
  expect(await watched("up", "--yes")).toMatchObject({ code: 0 });
  const passwords = ["acme-prod", "globex-prod"].flatMap(passwordsOf);
  expect(passwords.length).toBeGreaterThanOrEqual(4); // the password of each credential, and the header with it
  const failed = await watched("destroy", "--yes");
  expect(failed.code).toBe(1);
  expect(failed.text).toContain("protect");
  expect(w.leaks([token, ...passwords])).toEqual([]);
  expect(w.has(".consortium/fleet/fleet/logs/acme-prod.log")).toBe(true);
});
