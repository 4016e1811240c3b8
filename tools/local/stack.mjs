// @ts-check
/** The stack of `npm start`. Everything is in .consortium, so it touches none of your accounts and other stacks. */
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** @typedef {import("../lib/processes.mjs").Env} Env */
/** @typedef {import("../lib/pulumi-cli.mjs").PulumiCli} PulumiCli */

export const stack = "local";

/** @param {string} root the repository */
const places = (root) => ({
  state: join(root, ".consortium", "state"),
  passphrase: join(root, ".consortium", "passphrase"),
  config: join(root, `Pulumi.${stack}.yaml`),
});

/**
 * Whatever backend, stack and passphrase the user's environment names, these commands use their own.
 * @param {string} root
 * @param {PulumiCli} cli
 * @param {{ baseUrl: string, apiKeyFile: string } | undefined} service
 * @param {Env} env
 * @returns {Env}
 */
export function stackEnv(root, cli, service, env) {
  const { state, passphrase } = places(root);
  const connection = service && {
    CONSORTIUM_API_KEY: readFileSync(service.apiKeyFile, "utf8").trim(),
    CONSORTIUM_BASE_URL: service.baseUrl,
  };
  return {
    ...env,
    ...cli.env,
    PULUMI_BACKEND_URL: `file://${state}`,
    PULUMI_CONFIG_PASSPHRASE: undefined,
    PULUMI_CONFIG_PASSPHRASE_FILE: passphrase,
    PULUMI_STACK: stack,
    ...connection,
  };
}

/** @param {string} root */
export function makeStackPlaces(root) {
  const { state, passphrase, config } = places(root);
  mkdirSync(state, { recursive: true, mode: 0o700 });
  if (existsSync(passphrase)) return;
  writeFileSync(passphrase, randomBytes(24).toString("base64url"), { mode: 0o600 });
  // With the salt of the old passphrase, Pulumi would refuse the new one.
  if (existsSync(config)) writeFileSync(config, readFileSync(config, "utf8").replace(/^encryptionsalt:.*\n?/m, ""));
}

/** @param {string} root @returns {boolean} */
export function stackExists(root) {
  const folder = join(places(root).state, ".pulumi", "stacks");
  const files = existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: "utf8" }) : [];
  return files.some((name) => new RegExp(`(^|[\\\\/])${stack}\\.json(\\.gz)?$`).test(name));
}

/**
 * The tether service of the program, in Pulumi.yaml. The embedded service must offer the same.
 * @param {string} yaml
 */
export function tetherIdIn(yaml) {
  const id = /^\s*quickstart:tetherId:\s*["']?([\w-]+)/m.exec(yaml)?.[1];
  if (!id) throw new Error("Pulumi.yaml does not say quickstart:tetherId");
  return id;
}
