// @ts-check
import { runAttached } from "./processes.mjs";
import { pulumiCli } from "./pulumi-cli.mjs";
import { runMain } from "./say.mjs";

/**
 * tools/pulumi: runs Pulumi in this process's place.
 * @param {string[]} args
 */
export const launch = (args) =>
  runMain("tools/pulumi", async () => {
    const { command, env } = await pulumiCli();
    const { code, signal } = await runAttached(command, args, { env: { ...process.env, ...env } });
    if (signal) process.kill(process.pid, signal);
    return code;
  });
