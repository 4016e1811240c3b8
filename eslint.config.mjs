import eslint from "@eslint/js";
import tseslint from "typescript-eslint";

/** Imports run one way: api <- core <- resources <- lookups <- dynamic, sdk, inventory, and views on top; the service stands alone. */
const room = (files, forbidden, why) => ({
  files,
  rules: {
    "no-restricted-imports": ["error", { patterns: [{ regex: forbidden, message: why }] }],
  },
});

export default tseslint.config(
  { ignores: ["dist/", "**/node_modules/", ".consortium/", "coverage/", "**/*.generated.*"] },
  eslint.configs.recommended,
  {
    files: ["**/*.ts", "**/*.tsx"],
    extends: [tseslint.configs.recommendedTypeChecked],
    languageOptions: {
      // Three programs for all files: each one that there is more of parses and checks Pulumi's types anew.
      parserOptions: {
        project: ["tests/tsconfig.json", "examples/tsconfig.json", "console/page/tsconfig.json"],
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      "@typescript-eslint/consistent-type-imports": ["error", { fixStyle: "inline-type-imports" }],
      "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_" }],
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true, allowBoolean: true }],
      "no-console": "error",
      "no-restricted-properties": [
        "error",
        { object: "process", property: "env", message: "Settings enter at one edge: see provider/api/environment.ts." },
      ],
    },
  },
  {
    files: ["**/*.mjs", "tools/**", "bench/**"],
    languageOptions: {
      globals: {
        process: "readonly",
        console: "readonly",
        URL: "readonly",
        setTimeout: "readonly",
        fetch: "readonly",
        AbortSignal: "readonly",
        performance: "readonly",
      },
    },
  },
  {
    files: ["tests/**", "bench/**", "tools/**", "cli/**", "provider/api/environment.ts"],
    rules: { "no-restricted-properties": "off", "no-console": "off" },
  },
  {
    // A resource class gets its outputs from an interface of the same name: Pulumi sets them, and nothing is emitted.
    files: ["sdk/*.ts"],
    rules: {
      "@typescript-eslint/no-empty-object-type": "off",
      "@typescript-eslint/no-unsafe-declaration-merging": "off",
    },
  },
  {
    files: ["cli/**", "console/server/**", "inventory/**", "observe/**", "provider/**", "sdk/**", "service/**"],
    ignores: ["console/server/app.ts", "service/http/app.ts"],
    rules: {
      "@typescript-eslint/no-restricted-imports": [
        "error",
        {
          paths: ["ethers", "fastify"].map((name) => ({
            ...{ name, allowTypeImports: true },
            message: "Not every user has it installed: see optional/packages.ts.",
          })),
        },
      ],
    },
  },
  room(
    ["provider/api/**"],
    "(/core/|/resources/|/lookups(/|$)|/adapter/|/dynamic/|/plugin/|/sdk/|/service/|/inventory/|/observe/|^@pulumi/)",
    "The API client knows nothing of Pulumi or of the rest.",
  ),
  room(
    ["provider/core/**"],
    "(/resources/|/lookups(/|$)|/adapter/|/dynamic/|/plugin/|/sdk/|/service/|/inventory/|/observe/|^@pulumi/)",
    "The core knows nothing of Pulumi, nor of one resource.",
  ),
  room(
    ["provider/resources/**"],
    "(/lookups(/|$)|/adapter/|/dynamic/|/plugin/|/sdk/|/service/|/inventory/|/observe/|^@pulumi/)",
    "A resource definition knows nothing of Pulumi.",
  ),
  room(
    ["provider/lookups/**"],
    "(/adapter/|/dynamic/|/plugin/|/sdk/|/service/|/inventory/|/observe/|^@pulumi/)",
    "A lookup knows nothing of Pulumi.",
  ),
  room(
    ["provider/adapter/**"],
    "(/dynamic/|/plugin/|/sdk/|/service/|/inventory/|/observe/|^@pulumi/)",
    "What the adapters share knows neither of them.",
  ),
  room(
    ["provider/dynamic/**"],
    "(/plugin/|/sdk/|/service/|/inventory/|/observe/)",
    "An adapter knows neither the other one nor the programs' side.",
  ),
  room(
    ["provider/plugin/*.ts"],
    "(/dynamic/|/service/|/sdk/(?!network/(load|secrets)$)|/inventory/|/observe/)",
    "An adapter does not know the other one.",
  ),
  room(
    ["sdk/**"],
    "(/service/|/inventory/|/observe/|/console/|/cli/)",
    "Programs bring nothing along of what shows networks.",
  ),
  room(
    ["inventory/**"],
    "(/dynamic/|/plugin/|/observe/|/console/|/cli/|/service/|^@pulumi/)",
    "The inventory is plain data: it knows neither adapters nor what shows it.",
  ),
  room(
    ["observe/**"],
    "(/dynamic/|/plugin/|/console/|/cli/|/service/|^@pulumi/)",
    "What shows a network stands on the inventory, for the commands and the console alike.",
  ),
  room(
    ["console/page/**"],
    "(/server/|/provider/|/sdk/|/service/|/cli/|^@pulumi/|^node:)",
    "The page runs in a browser: it knows the protocol and the model, and asks its server for the rest.",
  ),
  room(
    ["console/server/**", "console/*.ts"],
    "(/dynamic/|/cli/|/service/|^@pulumi/)",
    "The console knows a service by its API.",
  ),
  room(
    ["service/**"],
    "(/provider/|/sdk/|/inventory/|/observe/|^@pulumi/)",
    "The embedded service has its own idea of the wire.",
  ),
);
