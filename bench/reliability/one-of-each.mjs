// @ts-check
/** A network with one resource of each kind, and the judgement whether a service has exactly it. */

export const tetherId = "t0bench000";

/** Names as the program gives them, by where the embedded service keeps them. */
export const names = /** @type {const} */ ({
  consortia: "trade",
  memberships: "acme",
  environments: "ledger",
  nodes: "acme-1",
  credentials: "app",
});

export const program = `
  const { AppCred, Consortium, Environment, Membership, Node, TetherService } = require("pulumi-consortium");
  const consortium = new Consortium("${names.consortia}", { description: "one of each" });
  const membership = new Membership("${names.memberships}", { consortium });
  const environment = new Environment("${names.environments}", { consortium, provider: "quorum", consensusType: "raft" });
  const node = new Node("${names.nodes}", { environment, membership });
  const cred = new AppCred("${names.credentials}", { environment, membership });
  new TetherService("pin", { tetherId: "${tetherId}", network: "rinkeby", intervalHours: 1 }, { dependsOn: node, customTimeouts: { create: "20s" } });
  exports.username = cred.username;
`;

/** Quick, and still with something to wait for. */
export const timing = { environmentStart: 300, nodeStart: 700 };

/** @typedef {import("../../service/index.js").Service} Service */
/** @typedef {keyof typeof names} Store */
/** @typedef {{ id: string, type: string }} Kept */

const stores = /** @type {Store[]} */ (Object.keys(names));

/** @param {{ fields: object }} entity */
const nameOf = ({ fields }) => String("org_name" in fields ? fields.org_name : "name" in fields ? fields.name : "");

/**
 * What is wrong with what the service has, and with what the state says of it; nothing means that it is exactly the network.
 * @param {Service} service
 * @param {Kept[]} kept
 * @returns {string[]}
 */
export function problems(service, kept) {
  /** @type {string[]} */
  const found = [];
  const ids = new Set([tetherId]);
  for (const store of stores) {
    const there = service.store[store].list();
    if (there.map(nameOf).join(", ") !== names[store]) {
      found.push(`${store}: ${there.map(nameOf).join(", ") || "none"} instead of ${names[store]}`);
    }
    for (const { id } of there) ids.add(id);
  }
  const { deployments, active, network, interval } = service.store.tethers.get(tetherId).fields;
  if (deployments.rinkeby !== 1) found.push(`the tether was deployed ${deployments.rinkeby} times`);
  if (!active || network !== "rinkeby" || interval !== 1) found.push("the tether is not set as it should be");
  const missing = [...ids].filter((id) => !kept.some((one) => one.id === id));
  if (missing.length > 0 || kept.length !== ids.size) found.push("the state and the service do not agree");
  return found;
}

/**
 * What a destroy left.
 * @param {Service} service
 * @param {Kept[]} kept
 * @returns {string[]}
 */
export function remains(service, kept) {
  const left = stores.filter((store) => service.store[store].list().length > 0).map((store) => `${store} are left`);
  if (service.store.tethers.get(tetherId).fields.active) left.push("the tether still pins");
  return kept.length > 0 ? [...left, "the state is not empty"] : left;
}
