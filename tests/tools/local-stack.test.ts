import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeStackPlaces, stackEnv, stackExists, tetherIdIn } from "../../tools/local/stack.mjs";
import { root } from "../../tools/lib/prepare.mjs";
import { Sandbox } from "./sandbox";

let sandbox: Sandbox;
beforeEach(() => (sandbox = new Sandbox()));

const cli = { command: "/p/pulumi", env: { PATH: "/p:/bin", PULUMI_SKIP_UPDATE_CHECK: "true" } };

test("the stack has its own backend, passphrase and connection, whatever the user has set", () => {
  writeFileSync(sandbox.path("api-key"), "sesame\n");
  const service = { baseUrl: "http://127.0.0.1:1/api/v1", apiKeyFile: sandbox.path("api-key") };
  const theirs = {
    PATH: "/bin",
    PULUMI_BACKEND_URL: "s3://theirs",
    PULUMI_CONFIG_PASSPHRASE: "theirs",
    PULUMI_STACK: "prod",
    CONSORTIUM_API_KEY: "theirs",
    CONSORTIUM_ADOPT: "true",
  };
  expect(stackEnv(sandbox.folder, cli, service, theirs)).toEqual({
    PATH: "/p:/bin",
    PULUMI_SKIP_UPDATE_CHECK: "true",
    PULUMI_BACKEND_URL: `file://${sandbox.path(".consortium", "state")}`,
    PULUMI_CONFIG_PASSPHRASE: undefined,
    PULUMI_CONFIG_PASSPHRASE_FILE: sandbox.path(".consortium", "passphrase"),
    PULUMI_STACK: "local",
    CONSORTIUM_API_KEY: "sesame",
    CONSORTIUM_BASE_URL: "http://127.0.0.1:1/api/v1",
    CONSORTIUM_ADOPT: "true",
  });
});

describe("the passphrase", () => {
  const file = () => sandbox.path(".consortium", "passphrase");

  test("is random, only its owner's, and made once", () => {
    makeStackPlaces(sandbox.folder);
    const first = readFileSync(file(), "utf8");
    expect(first).toMatch(/^[\w-]{32}$/);
    expect(statSync(file()).mode & 0o777).toBe(0o600);
    makeStackPlaces(sandbox.folder);
    expect(readFileSync(file(), "utf8")).toBe(first);
  });

  test("when new makes the old one's salt go, and leaves the other settings", () => {
    const config = sandbox.path("Pulumi.local.yaml");
    writeFileSync(config, "encryptionsalt: v1:abc=\nconfig:\n  quickstart:x: y\n");
    makeStackPlaces(sandbox.folder);
    expect(readFileSync(config, "utf8")).toBe("config:\n  quickstart:x: y\n");
  });
});

test("the stack exists if its state does, compressed or not; a copy of it and another stack do not count", () => {
  const folder = sandbox.path(".consortium", "state", ".pulumi", "stacks", "quickstart");
  mkdirSync(folder, { recursive: true });
  for (const [ending, expected] of Object.entries({ "json.bak": false, "json.gz": true, json: true })) {
    writeFileSync(join(folder, `nonlocal.${ending}`), "{}");
    expect(stackExists(sandbox.folder)).toBe(false);
    writeFileSync(join(folder, `local.${ending}`), "{}");
    expect(stackExists(sandbox.folder)).toBe(expected);
    rmSync(join(folder, `local.${ending}`));
  }
});

test("the tether id is the one in Pulumi.yaml, ten characters long", () => {
  expect(tetherIdIn(readFileSync(join(root, "Pulumi.yaml"), "utf8"))).toHaveLength(10);
  expect(() => tetherIdIn("name: other\n")).toThrow("does not say quickstart:tetherId");
});
