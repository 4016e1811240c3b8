// @ts-check
/** The static checks, of what is built. */
import { join } from "node:path";
import { root } from "./prepare.mjs";
import { run } from "./processes.mjs";
import { UserError } from "./terminal.mjs";

/**
 * @param {string} name
 * @param {string} file a script
 * @param {string[]} args
 */
const tool = (name, file, ...args) => ({
  name,
  work: async () => {
    const env = { ...process.env, NO_COLOR: "1" };
    const { code, text } = await run(process.execPath, [join(root, file), ...args], { cwd: root, env });
    if (code !== 0) throw new UserError(text.trim());
  },
});
const cache = (/** @type {string} */ name) => [
  "--cache",
  "--cache-strategy",
  "content",
  "--cache-location",
  join("node_modules", ".cache", name),
];

/** The folders of the product's sources. */
const sources = ["cli", "console", "fleet", "internal", "inventory", "observe", "plugin", "provider", "sdk", "service"];
const typed = ["tests", "bench", "console/page", "tools", "examples"];
export const lintChecks = [
  tool("eslint", "node_modules/eslint/bin/eslint.js", ...cache("eslint/"), "."),
  tool("types", "node_modules/typescript-7/bin/tsc", "--build", ...typed),
  tool("imports", "node_modules/dependency-cruiser/bin/dependency-cruise.mjs", ...sources, "bench", "tools"),
  tool("exports that nobody uses", "node_modules/knip/bin/knip.js", "--treat-config-hints-as-errors"),
  tool(
    "prettier",
    "node_modules/prettier/bin/prettier.cjs",
    ...cache("prettier-lint"),
    "--check",
    "--log-level",
    "warn",
    ".",
  ),
  tool("generated files", "tools/generate.mjs", "--check"),
];
