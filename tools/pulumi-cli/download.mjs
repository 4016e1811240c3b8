// @ts-check
/** Pulumi's own installer, where the network lets it through. */
import { createRequire } from "node:module";
import { run } from "../lib/processes.mjs";

/** @typedef {import("../lib/processes.mjs").Env} Env */

const installerAddress = "https://get.pulumi.com/install.sh";
const probeMs = 5_000;
const installMs = 10 * 60_000;

/** It has no time limit of its own, so it runs in a process that can be ended. */
const installation = `
  const install = async ([automation, root, version]) => {
    const { SemVer } = require("node:module").createRequire(automation)("semver");
    await require(automation).PulumiCommand.install({ root, version: new SemVer(version) });
  };
  install(process.argv.slice(1)).catch((error) => {
    console.error(String(error));
    process.exitCode = 1;
  });`;

/** @returns {Promise<boolean>} */
export async function downloadHostAnswers() {
  try {
    return (await fetch(installerAddress, { method: "HEAD", signal: AbortSignal.timeout(probeMs) })).ok;
  } catch {
    return false;
  }
}

/**
 * @param {string} root gets bin/pulumi and its companions
 * @param {{ version: string, env: Env, signal: AbortSignal, automation?: string }} options automation: the module of the installer
 * @returns {Promise<string | undefined>} why it did not work
 */
export async function installOfficial(root, { version, env, signal, automation }) {
  const module = automation ?? createRequire(import.meta.url).resolve("@pulumi/pulumi/automation");
  const args = ["-e", installation, module, root, version];
  const { code, output } = await run(process.execPath, args, { env, signal, timeoutMs: installMs });
  signal.throwIfAborted();
  if (code === 0) return undefined;
  return code === null ? `no end after ${installMs / 60_000} minutes` : output.trim();
}
