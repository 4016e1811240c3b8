// @ts-check
/**
 * npm test, npm run test:all: builds and runs tests. Arguments: projects of jest.config.mjs, then options of Jest.
 * The last line says `N passed, N failed`.
 */
import "./lib/node-version.mjs";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { close, runChecks, tally } from "./lib/checks.mjs";
import { build, bundle, installPackages, root } from "./lib/prepare.mjs";
import { runAttached } from "./lib/processes.mjs";
import { pulumiCli } from "./lib/pulumi-cli.mjs";
import { log } from "./lib/terminal.mjs";

/**
 * @param {string[]} args
 * @param {import("./lib/pulumi-cli.mjs").PulumiCli | undefined} cli
 */
async function jest(args, cli) {
  const folder = mkdtempSync(join(tmpdir(), "pulumi-consortium-test-"));
  const report = join(folder, "report.json");
  // A larger young generation, in Jest's workers too: each test file loads its modules again, and collecting them took a tenth of the time.
  const node = ["--max-semi-space-size=64", join(root, "node_modules", "jest", "bin", "jest.js")];
  try {
    const options = { cwd: root, env: { ...process.env, ...cli?.env } };
    const { code } = await runAttached(process.execPath, [...node, ...args, "--json", "--outputFile", report], options);
    return { code, report: existsSync(report) ? JSON.parse(readFileSync(report, "utf8")) : undefined };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

await close(async () => {
  const names = ["unit", "integration", "stories", "e2e"];
  const projects = process.argv.slice(2).filter((word) => names.includes(word));
  const rest = process.argv.slice(2).filter((word) => !names.includes(word));
  const built = await runChecks(
    [
      { name: "packages", work: installPackages },
      { name: "build", work: build },
      { name: "provider plugin", work: bundle },
    ],
    1,
  );
  if (built.includes(false)) return tally(built);
  /** @type {import("./lib/pulumi-cli.mjs").PulumiCli | undefined} */
  let cli;
  const find = async () => (cli = await pulumiCli({ languages: true }));
  const prepared = [...built, ...(await runChecks([{ name: "Pulumi CLI and language hosts", work: find }], 1))];
  log(cli ? "Running the tests …" : "Running the tests that need no Pulumi CLI …");
  const possible = cli ? projects : projects.filter((name) => name === "unit" || name === "integration");
  const tests = await jest([...rest, "--selectProjects", ...possible], cli);
  return tally(prepared, tests);
});
