/*
 * Which imports are refused, those of types included: circles, and imports against the order of the folders, by whatever path they
 * are written. docs/architecture.md says why.
 */

/** @param {string} from @param {string[]} others folders that it does not know @param {string} comment */
const room = (from, others, comment) => ({
  name: from,
  comment,
  severity: "error",
  from: { path: `^${from}/` },
  to: { path: `^(${others.join("|")})/`, pathNot: "^service/dist/index" }, // an entry, imported by its name
});

const pulumi = "node_modules/@pulumi";
const views = ["inventory", "observe", "cli", "internal"];
const adapters = ["provider/dynamic", "plugin"];
const others = ["service", "console", "fleet"]; // packages of their own
const outside = ["sdk", ...views, ...others];

/** The floors of the service: none knows what is above it. */
const floors = ["storage", "ledger", "(store|tether)", "(http|routes)"];
const above = [
  "(context|backend|index|faults)\\.ts$",
  "(context|backend|index|faults)\\.ts$",
  "(backend|index|faults)\\.ts$",
];
const floor = (/** @type {string} */ own, /** @type {number} */ at) => ({
  name: `service/${own}`,
  comment: "The floors of the service, from below: storage, ledger, domain (objects, rights, tethers), http.",
  severity: "error",
  from: { path: `^service/${own}/` },
  to: {
    path: [...floors.slice(at + 1).map((one) => `^service/${one}/`), ...(above[at] ? [`^service/${above[at]}`] : [])],
  },
});

module.exports = {
  forbidden: [
    ...floors.slice(0, -1).map(floor),
    { name: "no-circular", severity: "error", from: {}, to: { circular: true } },
    room(
      "provider/api",
      ["provider/(core|pulumi|resources|lookups)", ...adapters, ...outside, pulumi],
      "The API client knows nothing of Pulumi or of the rest.",
    ),
    room(
      "provider/core",
      ["provider/(resources|lookups|pulumi)", ...adapters, ...outside, pulumi],
      "The core imports nothing of Pulumi, nor of one resource.",
    ),
    room(
      "provider/resources",
      ["provider/(lookups|pulumi)", ...adapters, ...outside, pulumi],
      "A resource definition knows nothing of Pulumi.",
    ),
    room(
      "provider/pulumi",
      ["provider/(resources|lookups)", ...adapters, ...outside, pulumi],
      "What both adapters share: it answers the engine, without Pulumi's SDK.",
    ),
    room("provider/lookups", [...adapters, ...outside, pulumi], "A lookup knows nothing of Pulumi."),
    room("provider/dynamic", ["plugin", ...outside], "An adapter knows neither the other one nor the programs' side."),
    room(
      "plugin",
      ["provider/dynamic", ...others, ...views],
      "The plugin stands on the core and on sdk, not on the other adapter.",
    ),
    room("sdk", ["plugin", ...others, ...views], "Programs bring nothing along of what shows networks."),
    room(
      "inventory",
      [...adapters, "observe", "cli", "internal", ...others, pulumi],
      "The inventory is plain data: it knows neither adapters nor what shows it.",
    ),
    room(
      "observe",
      [...adapters, "cli", "internal", ...others, pulumi],
      "What shows a network stands on the inventory, for the commands and the console alike.",
    ),
    room(
      "console/page",
      ["console/server", "internal/(console|fleet)", "dist/internal/(console|fleet)", pulumi],
      "The page runs in a browser: it knows the protocol and the model, and asks its server for the rest.",
    ),
    {
      name: "no Node.js in the page",
      severity: "error",
      from: { path: "^console/page/" },
      to: { dependencyTypes: ["core"] },
    },
    room("cli", others, "A command of another package is handed over to it."),
    ...others.map((own) =>
      room(
        own,
        ["cli", "inventory", "observe", "plugin", "provider", "sdk", ...others.filter((other) => other !== own)],
        "A package imports another one by its name, and so only its entries.",
      ),
    ),
    ...["generate", "local", "lib"].map((own) => ({
      name: `tools/${own}`,
      comment:
        "A command of tools stands on its own folder and on lib, which knows neither commands nor their folders.",
      severity: "error",
      from: { path: `^tools/${own}/` },
      to: { path: "^tools/([^/]+$|generate/|local/)", pathNot: `^tools/${own}/` },
    })),
    {
      name: "tools/pulumi-cli",
      comment: "Whoever wants a Pulumi CLI asks tools/lib/pulumi-cli.mjs.",
      severity: "error",
      from: { pathNot: "^tools/(pulumi-cli/|lib/pulumi-cli.mjs)" },
      to: { path: "^tools/pulumi-cli/" },
    },
    {
      name: "dist",
      comment: "What is built is an inside, too.",
      severity: "error",
      from: { path: `^(${others.join("|")})/` },
      to: { path: "^dist/", dependencyTypes: ["local"] },
    },
    {
      name: "service",
      comment: "The embedded service has its own idea of the wire.",
      severity: "error",
      from: { path: "^service/" },
      to: { path: "^(dist|internal)/" },
    },
  ],
  options: {
    doNotFollow: { path: ["node_modules", "^dist/"] },
    exclude: { path: "^plugin/dist/" },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
  },
};
