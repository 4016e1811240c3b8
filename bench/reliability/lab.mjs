// @ts-check
/** Trials: each creates the network on a separate service, with one failure. */
import { setTimeout as wait } from "node:timers/promises";
import { on, Stack, tetherId } from "../lib/stack.mjs";

const apiKey = "reliability-key";

/** @typedef {import("../../service/index.js").Service} Service */
/** @typedef {import("../lib/stack.mjs").Adapter} Adapter */
/** @typedef {{ method: string, route: string }} Call */
/** @typedef {{ service: Service, stack: Stack, env: Record<string, string> }} Bench */
/**
 * @typedef {(bench: Bench) => Promise<import("../../tools/lib/processes.mjs").Finished>} Build creates the network, while something goes
 * wrong
 */

export class Lab {
  /** One stack for many trials: those that succeed leave it empty. @type {Stack | undefined} */
  #stack;

  /**
   * @param {import("../../tools/lib/pulumi-cli.mjs").PulumiCli} cli
   * @param {typeof import("../../service/index.js")} module
   */
  constructor(cli, module) {
    this.cli = cli;
    this.module = module;
  }

  close() {
    this.#stack?.remove();
    this.#stack = undefined;
  }

  /**
   * `build` must succeed and leave exactly the network. A destroy after it must leave nothing.
   * @param {Adapter} adapter
   * @param {Build} build
   * @param {import("../../service/index.js").ServiceOptions["answers"]} answers how the service answers where that is not specified
   * @returns {Promise<string>} why it is not exact; empty if it is
   */
  async trial(adapter, build, answers = {}) {
    const organizations = [{ name: "bench", apiKey }];
    const service = await this.module.startService({ organizations, tethers: [{ id: tetherId }], timing, answers });
    const env = { CONSORTIUM_API_KEY: apiKey, CONSORTIUM_BASE_URL: service.baseUrl, ...on(adapter) };
    const stack = (this.#stack ??= await Stack.create(this.cli, { program }));
    const judge = async () => {
      const { code, text } = await build({ service, stack, env });
      if (code !== 0) return complaint(text);
      const wrong = problems(service, stack.resources());
      if (wrong.length > 0) return wrong.join("; ");
      const end = await stack.destroy(env);
      if (end.code !== 0) return `destroy: ${complaint(end.text)}`;
      return remains(service, stack.resources()).join("; ");
    };
    const why = await judge().catch(String);
    if (why !== "") this.close();
    await service.close();
    return why;
  }
}

/** Anything that takes longer than this counts as hanging. */
const longestMs = 60_000;

/** @param {() => boolean} holds @param {string} what */
export async function until(holds, what) {
  const end = performance.now() + longestMs;
  while (!holds()) {
    if (performance.now() > end) throw new Error(`Nothing happened until the time limit: ${what}`);
    await wait(20);
  }
}

/** The line with the error in Pulumi's output. @param {string} text */
function complaint(text) {
  const lines = text.split("\n").map((line) => line.trim());
  return lines.find((line) => /^error|error:|exists, but/i.test(line)) ?? text.trim().slice(-300);
}

/** The names of the network's objects, one resource of each kind, by the embedded service's stores. */
const names = /** @type {const} */ ({
  consortia: ["trade"],
  memberships: ["acme"],
  invitations: ["guest"],
  zones: ["all-ledgers", "ledger-zone"],
  environments: ["ledger"],
  configurations: ["gas"],
  nodes: ["acme-1"],
  services: ["documents", "registry"],
  destinations: ["invoices"],
  credentials: ["app"],
});

const program = `
  const { AppCred, Configuration, Consortium, ConsortiumZone, Destination, Environment, EnvironmentZone, Invitation, Membership, Node, Service, TetherService } = require("pulumi-consortium");
  const where = { region: "us-east-2", cloud: "aws" };
  const consortium = new Consortium("${names.consortia[0]}", { description: "one of each" });
  const membership = new Membership("${names.memberships[0]}", { consortium });
  new Invitation("${names.invitations[0]}", { consortium, email: "ops@guest.example" });
  new ConsortiumZone("${names.zones[0]}", { consortium, ...where });
  const environment = new Environment("${names.environments[0]}", { consortium, provider: "quorum", consensusType: "raft" });
  const zone = new EnvironmentZone("${names.zones[1]}", { environment, ...where });
  const gas = new Configuration("${names.configurations[0]}", { environment, membership, type: "node_config", details: { gas_price: "1" } });
  const node = new Node("${names.nodes[0]}", { environment, membership, zoneId: zone.id, nodeConfigId: gas.id });
  const service = new Service("${names.services[0]}", { environment, membership, service: "documentstore", zoneId: zone.id });
  const idRegistry = new Service("${names.services[1]}", { environment, membership, service: "idregistry" });
  new Destination("${names.destinations[0]}", { service, idRegistry, testCertificate: true });
  const cred = new AppCred("${names.credentials[0]}", { environment, membership });
  new TetherService("pin", { tetherId: "${tetherId}", network: "rinkeby", intervalHours: 1 }, { dependsOn: node, customTimeouts: { create: "20s" } });
  exports.username = cred.username;
`;

/** Quick, but with something to wait for. */
const timing = { environmentStart: 300, nodeStart: 700 };

/** @typedef {keyof typeof names} Store */
/** @typedef {{ id: string, type: string }} Kept */

const stores = /** @type {Store[]} */ (Object.keys(names));

/** @param {{ fields: object }} entity */
const nameOf = ({ fields }) => String("org_name" in fields ? fields.org_name : "name" in fields ? fields.name : "");

/** How the service and the state differ from exactly the network. @param {Service} service @param {Kept[]} kept @returns {string[]} */
function problems(service, kept) {
  /** @type {string[]} */
  const found = [];
  const ids = new Set([tetherId]);
  for (const store of stores) {
    const there = service.store[store].list();
    const called = there.map(nameOf).sort().join(", ");
    const wanted = names[store].join(", ");
    if (called !== wanted) found.push(`${store}: ${called || "none"} instead of ${wanted}`);
    for (const one of there) ids.add(store === "destinations" ? nameOf(one) : one.id); // the name is the id
  }
  const { deployments, active, network, interval } = service.store.tethers.get(tetherId).fields;
  if (deployments.rinkeby !== 1) found.push(`the tether was deployed ${deployments.rinkeby} times`);
  if (!active || network !== "rinkeby" || interval !== 1) found.push("the tether has other settings");
  const missing = [...ids].filter((id) => !kept.some((one) => one.id === id));
  if (missing.length > 0 || kept.length !== ids.size) found.push("the state and the service differ");
  return found;
}

/** Objects that a destroy left behind. @param {Service} service @param {Kept[]} kept @returns {string[]} */
function remains(service, kept) {
  const left = stores.filter((store) => service.store[store].list().length > 0).map((store) => `${store} are left`);
  if (service.store.tethers.get(tetherId).fields.active) left.push("the tether still pins");
  return kept.length > 0 ? [...left, "the state is not empty"] : left;
}
