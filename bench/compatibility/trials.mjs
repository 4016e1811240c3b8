// @ts-check
/** What is tried together: which Node.js, SDK, provider, kind of program and installer. */

/** The oldest SDK of the peer range, the newest for Node.js 20, and the newest. */
export const sdks = ["3.216.0", "3.248.0", "3.270.0"];
/** @type {Record<string, number>} The oldest Node.js that an SDK runs on, where it is not 20. */
const oldestNode = { "3.270.0": 22 };

/** @typedef {import("./project.mjs").NodeVersion} NodeVersion */
/** @typedef {"CommonJS" | "ESM" | "TypeScript 5" | "TypeScript 6" | "esbuild bundle"} Kind */
/** @typedef {"npm" | "pnpm" | "Yarn" | "Bun"} Installer */
/** @typedef {import("../lib/stack.mjs").Adapter} Adapter */
/**
 * @typedef {object} Trial
 * @property {string} title
 * @property {NodeVersion} node
 * @property {string} sdk
 * @property {Adapter} provider
 * @property {Kind} kind
 * @property {Installer} installer
 * @property {boolean} inSlice
 */

/**
 * @param {NodeVersion} node
 * @param {string} sdk
 * @param {Partial<Trial>} [other]
 * @returns {Trial}
 */
function trial(node, sdk, other = {}) {
  const { provider = "dynamic", kind = "CommonJS", installer = "npm", inSlice = false } = other;
  const title = `Node.js ${node.version}, SDK ${sdk}, ${provider} provider, ${kind}, ${installer}`;
  return { title, node, sdk, provider, kind, installer, inSlice };
}

const newest = /** @type {string} */ (sdks.at(-1));
const oldest = /** @type {string} */ (sdks[0]);

/** @param {NodeVersion[]} nodes @param {number} major */
const ofMajor = (nodes, major) => /** @type {NodeVersion} */ (nodes.find((node) => node.major === major));

/**
 * Every Node.js with every SDK that runs on it, on the dynamic provider, which rests on the SDK's host. The plugin with the newest of
 * each Node.js, and with the oldest of all: so each Node.js and each SDK is tried with it, too.
 * @param {NodeVersion[]} nodes
 */
export const lifeTrials = (nodes) =>
  nodes.flatMap((node) => {
    const fitting = sdks.filter((sdk) => node.major >= (oldestNode[sdk] ?? 20));
    const inSlice = (/** @type {string} */ sdk) => node.major === 24 && sdk === newest;
    const onPlugin = fitting.filter((sdk, at) => at === fitting.length - 1 || node.major === 20);
    return [
      ...fitting.map((sdk) => trial(node, sdk, { inSlice: inSlice(sdk) })),
      ...onPlugin.map((sdk) => trial(node, sdk, { provider: "plugin", inSlice: inSlice(sdk) })),
    ];
  });

/** Every kind of program with the newest of all, and with the oldest, which refuses TypeScript 6. @param {NodeVersion[]} nodes */
export const kindTrials = (nodes) =>
  /** @type {Kind[]} */ (["ESM", "TypeScript 5", "TypeScript 6", "esbuild bundle"]).flatMap((kind) => [
    trial(ofMajor(nodes, 24), newest, { kind, inSlice: kind === "ESM" }),
    ...(kind === "TypeScript 6" ? [] : [trial(ofMajor(nodes, 20), oldest, { kind })]),
  ]);

/** Every installer with the newest of all. @param {NodeVersion[]} nodes */
export const installerTrials = (nodes) =>
  /** @type {Installer[]} */ (["pnpm", "Yarn", "Bun"]).map((installer) =>
    trial(ofMajor(nodes, 24), newest, { installer }),
  );
