// @ts-check
/** A service and a stack for one measurement. */
import { Stack } from "./stack.mjs";

/** @typedef {import("../../service/index.js").Service} Service */
/** @typedef {import("../../service/index.js").ServiceOptions} ServiceOptions */
/** @typedef {import("../../tools/lib/pulumi-cli.mjs").PulumiCli} PulumiCli */
/** @typedef {{ cli: PulumiCli, module: typeof import("../../service/index.js"), options?: Options }} Tools */
/** @typedef {Record<string, string | undefined>} Options those of the command line */
/** @typedef {{ measure: string, target: string, measured: string, met: boolean }} Row one line of the published table */
/** @typedef {{ rows: Row[], details?: string }} Measured details: Markdown */
/** @typedef {(tools: Tools) => Promise<Measured>} Measure one of each name in bench/measures */

const apiKey = "bench-key";
export const tetherId = "t0bench000";

/**
 * @template T
 * @param {Tools} tools
 * @param {{ program: string, files?: Record<string, string>, service?: ServiceOptions, env?: Record<string, string> }} options
 * @param {(service: Service, stack: Stack) => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function withRig({ cli, module }, { program, files, service: options = {}, env = {} }, work) {
  const organizations = [{ name: "bench", apiKey }];
  const service = await module.startService({ organizations, tethers: [{ id: tetherId }], ...options });
  const own = { CONSORTIUM_API_KEY: apiKey, CONSORTIUM_BASE_URL: service.baseUrl };
  const stack = await Stack.create(cli, { program, files, env: { ...own, ...env } });
  try {
    return await work(service, stack);
  } finally {
    stack.remove();
    await service.close();
  }
}
