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
  to: { path: `^(${others.join("|")})/` },
});

const pulumi = "node_modules/@pulumi";
const views = ["inventory", "observe", "console", "fleet", "cli"];
const adapters = ["provider/dynamic", "plugin"];
const outside = ["sdk", "service", ...views];

module.exports = {
  forbidden: [
    { name: "no-circular", severity: "error", from: {}, to: { circular: true } },
    room(
      "provider/api",
      ["provider/(core|resources|lookups)", ...adapters, ...outside, pulumi],
      "The API client knows nothing of Pulumi or of the rest.",
    ),
    room(
      "provider/core",
      ["provider/(resources|lookups)", ...adapters, ...outside, pulumi],
      "The core knows nothing of Pulumi, nor of one resource.",
    ),
    room(
      "provider/resources",
      ["provider/lookups", ...adapters, ...outside, pulumi],
      "A resource definition knows nothing of Pulumi.",
    ),
    room("provider/lookups", [...adapters, ...outside, pulumi], "A lookup knows nothing of Pulumi."),
    room("provider/dynamic", ["plugin", ...outside], "An adapter knows neither the other one nor the programs' side."),
    room(
      "plugin",
      ["provider/dynamic", "service", ...views],
      "The plugin stands on the core and on sdk, not on the other adapter.",
    ),
    room("sdk", ["plugin", "service", ...views], "Programs bring nothing along of what shows networks."),
    room(
      "inventory",
      [...adapters, "observe", "console", "cli", "service", pulumi],
      "The inventory is plain data: it knows neither adapters nor what shows it.",
    ),
    room(
      "observe",
      [...adapters, "console", "cli", "service", pulumi],
      "What shows a network stands on the inventory, for the commands and the console alike.",
    ),
    room(
      "console/page",
      ["console/server", "provider", "sdk", "service", "cli", pulumi],
      "The page runs in a browser: it knows the protocol and the model, and asks its server for the rest.",
    ),
    {
      name: "no Node.js in the page",
      severity: "error",
      from: { path: "^console/page/" },
      to: { dependencyTypes: ["core"] },
    },
    room("console/server", [...adapters, "cli", "service", pulumi], "The console knows a service by its API."),
    room(
      "service",
      ["provider", "sdk", "plugin", ...views, pulumi],
      "The embedded service has its own idea of the wire.",
    ),
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    exclude: { path: "^dist/" },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
  },
};
