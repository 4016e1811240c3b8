import { join } from "node:path";
import { type Organization } from "../../fleet/schema";
import { readSecrets, stackEnvironment } from "../../fleet/secrets";
import { fleetOf } from "./made";

const acme: Organization = { name: "acme", apiKey: { env: "ACME_KEY" }, region: "eu", allowHttp: true };
const globex: Organization = { name: "globex", apiKey: { command: [process.execPath, "-p", "'globex-key'"] } };

const other = { CONSORTIUM_API_KEY: "other-key", CONSORTIUM_BASE_URL: "http://x/api/v1" };
const env = { ACME_KEY: "acme-key", ...other, HOME: "/" };

test("keys come from variables and commands, and are masked everywhere, even if one begins with another", async () => {
  const fleet = fleetOf([acme, globex]);
  const { apiKeys, mask } = await readSecrets(fleet, fleet.stacks, env);
  expect(Object.fromEntries(apiKeys)).toEqual({ acme: "acme-key", globex: "globex-key" });
  expect(mask("acme-key globex-key other-key")).toBe("[secret] [secret] [secret]");
  const longer = await readSecrets(fleet, fleet.stacks, { ...env, CONSORTIUM_API_KEY: "acme-key-2" });
  expect(longer.mask("acme-key-2 acme-key")).toBe("[secret] [secret]");
});

test("a process has only its own organization's key", async () => {
  const fleet = { ...fleetOf([acme, globex]), backend: "file:///state" };
  const secrets = await readSecrets(fleet, fleet.stacks, env);
  const of = (at: number) => stackEnvironment({ ...fleet.stacks[at]!, adopt: at === 1 }, secrets);
  expect(JSON.stringify(secrets.environment)).not.toMatch(/-key/);
  expect(of(0)).toMatchObject({
    CONSORTIUM_API_KEY: "acme-key",
    CONSORTIUM_REGION: "eu",
    CONSORTIUM_ALLOW_HTTP: "true",
    PULUMI_BACKEND_URL: "file:///state",
  });
  expect(of(0)).not.toHaveProperty("CONSORTIUM_ADOPT");
  expect(JSON.stringify(of(0))).not.toMatch(/globex-key|other-key/);
  expect(of(1)).toMatchObject({ CONSORTIUM_API_KEY: "globex-key", CONSORTIUM_ADOPT: "true" });
});

test.each([
  [
    { command: ["no-such-program-here"] },
    /^Run the command "no-such-program-here" by hand .*globex cannot be read by it: there is no such program\. Nothing was started\.$/,
  ],
  [{ command: [process.execPath, "-e", "console.error('globex-key'); process.exit(3)"] }, /it ended with 3/],
  [{ command: [process.execPath, "-e", "process.kill(process.pid, 'SIGKILL')"] }, /it ended with SIGKILL/],
  [{ command: [process.execPath, "-p", "''"] }, /is empty/],
  [{ command: [process.execPath, "-p", "'two words'"] }, /has spaces or line breaks/],
])("a key that cannot be read: %j", async (apiKey, expected) => {
  const fleet = fleetOf([{ name: "globex", apiKey }]);
  const error = await readSecrets(fleet, fleet.stacks, env).catch((reason: Error) => reason.message);
  expect(error).toMatch(expected);
  expect(error).not.toMatch(/globex-key|two words/);
});

test("only the keys of selected stacks are needed; a configured passphrase must exist", async () => {
  const fleet = fleetOf([acme, { name: "globex", apiKey: { env: "NOT_SET" } }]);
  expect([...(await readSecrets(fleet, fleet.stacks.slice(0, 1), env)).apiKeys.keys()]).toEqual(["acme"]);
  await expect(readSecrets(fleet, fleet.stacks, env)).rejects.toThrow(
    "Set the variable NOT_SET. The API key of the organization globex is empty or not set. Nothing was started.",
  );
  const encrypted = { ...fleetOf([acme]), passphrase: { env: "NOT_SET" } };
  await expect(readSecrets(encrypted, encrypted.stacks, env)).rejects.toThrow(
    "Set the variable NOT_SET. The passphrase is empty or not set.",
  );
});

test("relative addresses and files are relative to the current folder", async () => {
  const fleet = fleetOf([acme]);
  const given = { ...env, PULUMI_BACKEND_URL: "file://./state", PULUMI_CONFIG_PASSPHRASE_FILE: "passphrase" };
  const { environment } = await readSecrets(fleet, fleet.stacks, given);
  expect(environment).toMatchObject({
    PULUMI_BACKEND_URL: `file://${process.cwd()}/state`,
    PULUMI_CONFIG_PASSPHRASE_FILE: join(process.cwd(), "passphrase"),
  });
});

// An inherited address would override the region, and an inherited organization belongs to another key.
test.each<[string, Partial<Organization>, Record<string, string>]>([
  ["a region", { region: "eu" }, { CONSORTIUM_REGION: "eu", CONSORTIUM_BASE_URL: "" }],
  ["an address", { baseUrl: "https://y/api/v1" }, { CONSORTIUM_REGION: "", CONSORTIUM_BASE_URL: "https://y/api/v1" }],
  ["an organization", { organization: "o-acme" }, { CONSORTIUM_ORGANIZATION: "o-acme" }],
  ["neither", {}, { CONSORTIUM_REGION: "ap", CONSORTIUM_BASE_URL: "http://x/api/v1" }],
])("a stack with %s inherits no other", async (_, change, variables) => {
  const fleet = fleetOf([{ name: "acme", apiKey: { env: "ACME_KEY" }, ...change }]);
  const given = { ...env, CONSORTIUM_REGION: "ap", CONSORTIUM_ORGANIZATION: "o-other" };
  const stack = stackEnvironment(fleet.stacks[0]!, await readSecrets(fleet, fleet.stacks, given));
  const expected = { CONSORTIUM_ORGANIZATION: "", ...variables };
  expect(stack).toMatchObject({ ...expected, CONSORTIUM_API_KEY_SOURCE: "apiKey of the organization acme" });
  expect(stack).not.toHaveProperty("CONSORTIUM_ALLOW_HTTP");
});

test.each<[string, string, string]>([
  ["the passphrase of the fleet", "hush-fleet", "[secret]"],
  ["one that is inherited", "hush-own", "[secret]"],
  ["a key of a stack that is not selected", "globex-key", "[secret]"],
  ["a text of six letters", "sixsix", "[secret]"],
  ["not one of five", "fives", "fives"],
  ["control characters", "a\u0007", "a\\u0007"],
])("of what is shown, %s is masked", async (_, text, shown) => {
  const globexes = { ...globex, apiKey: { env: "GLOBEX_KEY" } };
  const more = ["SIX", "FIVE"].map((name) => ({ ...acme, name, apiKey: { env: name } }));
  const fleet = { ...fleetOf([acme, globexes, ...more]), passphrase: { env: "PASS" } };
  const given = { ...env, PASS: " hush-fleet\n", PULUMI_CONFIG_PASSPHRASE: "hush-own", GLOBEX_KEY: "globex-key" };
  const { mask, environment } = await readSecrets(fleet, fleet.stacks.slice(0, 1), {
    ...given,
    SIX: "sixsix",
    FIVE: "fives",
  });
  expect(mask(text)).toBe(shown);
  expect(environment).toMatchObject({ PASS: "", GLOBEX_KEY: "", PULUMI_CONFIG_PASSPHRASE: "hush-fleet" });
});

test("what the fleet does not name stays as the environment has it", async () => {
  const fleet = fleetOf([acme]);
  const { environment } = await readSecrets(fleet, fleet.stacks, { ...env, PULUMI_CONFIG_PASSPHRASE: "hush-own" });
  expect(environment).toMatchObject({
    PULUMI_CONFIG_PASSPHRASE: "hush-own",
    HOME: "/",
    PULUMI_SKIP_UPDATE_CHECK: "true",
  });
  for (const name of ["PULUMI_BACKEND_URL", "PULUMI_CONFIG_PASSPHRASE_FILE"])
    expect(environment).not.toHaveProperty(name);
  const own = { ...fleet, backend: "s3://own" };
  const other = await readSecrets(own, own.stacks, { ...env, PULUMI_BACKEND_URL: "s3://inherited" });
  expect(other.environment.PULUMI_BACKEND_URL).toBe("s3://own");
});
