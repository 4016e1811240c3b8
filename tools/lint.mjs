// @ts-check
/** npm run lint: all static checks. The last line says `N passed, N failed`. */
import "./lib/node-version.mjs";
import { join } from "node:path";
import { close, runChecks, tally } from "./lib/checks.mjs";
import { build, installPackages, root } from "./lib/prepare.mjs";
import { run } from "./lib/processes.mjs";
import { UserError } from "./lib/terminal.mjs";

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
const checks = [
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

await close(async () => {
  const prepared = await runChecks(
    [
      { name: "packages", work: installPackages },
      { name: "build", work: build },
    ],
    1,
  );
  if (prepared.includes(false)) return tally(prepared);
  return tally([...prepared, ...(await runChecks(checks, 2))]);
});
