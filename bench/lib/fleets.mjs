// @ts-check
/** Fleets for the measures: their files, a service with their organizations, and `consortium fleet up`. */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { limits } from "../../dist/provider/constants.js";
import { root } from "../../tools/lib/prepare.mjs";
import { UserError } from "../../tools/lib/terminal.mjs";

export const objectsPerStack = 8;
const network = `members: [grower, roaster]
environments: { ledger: { provider: quorum, consensusType: raft, nodes: { grower: 1, roaster: 1 } } }
`;

/** @typedef {{ organization: string, key: string, name: string }} Job a stack with one network; its name in the organization */

/** @param {number} count @returns {Job[]} */
export const jobsOf = (count) =>
  Array.from({ length: count }, (_, index) => {
    const number = Math.floor(index / limits.consortia);
    const name = `n${index % limits.consortia}`;
    return { organization: `org${number}`, key: `bench-key-of-organization-${number}`, name };
  });

/** The environment variables that the fleet file takes the keys from. @param {Job[]} jobs */
export const keysOf = (jobs) => Object.fromEntries(jobs.map(({ organization, key }) => [`KEY_${organization}`, key]));

/** @param {string} folder @param {Job[]} jobs */
function writeFleet(folder, jobs) {
  /** @type {Record<string, { apiKey: object, stacks: Record<string, object> }>} */
  const organizations = {};
  for (const { organization, name } of jobs) {
    const apiKey = { env: `KEY_${organization}` };
    organizations[organization] ??= { apiKey, stacks: {} };
    organizations[organization].stacks[name] = { definition: "network.yaml", name: `${organization}-${name}` };
  }
  writeFileSync(join(folder, "network.yaml"), network);
  writeFileSync(join(folder, "fleet.yaml"), JSON.stringify({ project: "bench", organizations })); // JSON is also YAML
}

/** @param {string} folder @param {NodeJS.ProcessEnv} env @param {number} parallel @param {string[]} args */
export function fleetUp(folder, env, parallel, ...args) {
  const command = [join(root, "dist/cli/consortium.js"), "fleet", "up", "fleet.yaml", "--yes", ...args];
  return spawn(process.execPath, [...command, "--parallel", String(parallel)], {
    cwd: folder,
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
}

/**
 * Work on an empty service and a folder of its own, which must leave the network of each stack.
 * @template T
 * @param {Job[]} jobs
 * @param {(service: import("../../service/index.js").Service, folder: string) => Promise<T>} work
 */
export async function withService(jobs, work) {
  /** @type {typeof import("../../service/index.js")} */
  const { startService } = await import("pulumi-consortium/service");
  const keys = new Map(jobs.map(({ organization, key }) => [organization, key]));
  const service = await startService({ organizations: [...keys].map(([name, apiKey]) => ({ name, apiKey })) });
  const folder = mkdtempSync(join(tmpdir(), "consortium-bench-fleet-"));
  writeFleet(folder, jobs);
  try {
    const result = await work(service, folder);
    const nodes = service.store.nodes.list().length;
    if (nodes !== 2 * jobs.length) throw new UserError(`There are ${nodes} nodes, not ${2 * jobs.length}.`);
    return result;
  } finally {
    rmSync(folder, { recursive: true, force: true });
    await service.close();
  }
}
