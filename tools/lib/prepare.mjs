// @ts-check
/** The packages and the build that a fresh clone lacks. */
import { copyFileSync, cpSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { run, succeed } from "./processes.mjs";
import { duration, log, UserError, withProgress } from "./terminal.mjs";

/** The repository. */
export const root = fileURLToPath(new URL("../..", import.meta.url)).replace(/[\\/]$/, "");

/** When a file was written; 0 if there is none. @param {string} file */
const writtenAt = (file) => statSync(join(root, file), { throwIfNoEntry: false })?.mtimeMs ?? 0;

/** npm writes a list of what it has installed, at the end. */
export async function installPackages() {
  if (writtenAt("node_modules/.package-lock.json") > writtenAt("package-lock.json")) return;
  await step("Installing the packages (npm ci)", async () => {
    const { code, text } = await run("npm", ["ci", "--include=dev", "--no-audit", "--no-fund"], { cwd: root });
    if (code === 0) return;
    const errors = text.split("\n").filter((line) => line.startsWith("npm error"));
    throw new UserError(
      `npm ci failed:\n${errors.slice(0, 15).join("\n")}\nOnce that is fixed, run the same command again.`,
    );
  });
}

/** @param {string} script of Node.js @param {string[]} args */
async function compiled(script, ...args) {
  const { code, text } = await run(process.execPath, [join(root, script), ...args], { cwd: root });
  if (code !== 0) throw new UserError(`The sources do not compile:\n${text.trim()}`);
}

/** The compiler itself looks at what has changed. */
export const build = () =>
  step("Building", async () => {
    await compiled("node_modules/typescript-7/bin/tsc", "--build", "console", "fleet");
    cpSync(join(root, "contracts"), join(root, "service", "contracts"), { recursive: true }); // its package has them, too
    await bundleTracing();
    await buildPage();
  });

/** The provider plugin, in plugin/. */
export const bundle = () => step("Bundling the provider plugin", () => compiled("tools/plugin.mjs"));

/** Everything that a program on the real CLI needs. */
export async function prepare() {
  for (const work of [installPackages, build, bundle]) await work();
}

/** The packages of this repository, each in its folder. */
export const packages = {
  "pulumi-consortium": ".",
  "consortium-service": "./service",
  "consortium-console": "./console",
  "consortium-fleet": "./fleet",
};

/**
 * The packages, as npm publishes them.
 * @param {string} folder for the archives
 * @param {(keyof typeof packages)[]} [names]
 * @returns {Promise<{ name: string, archive: string, files: string[] }[]>} in the order of the names
 */
export async function npmPackages(folder, names = /** @type {(keyof typeof packages)[]} */ (Object.keys(packages))) {
  const folders = names.map((name) => packages[name]);
  const args = ["pack", "--json", "--ignore-scripts", "--pack-destination", folder, ...folders];
  const printed = await succeed("npm", args, { cwd: root });
  /** @type {{ name: string, filename: string, files: { path: string }[] }[]} */
  const all = JSON.parse(printed.slice(printed.indexOf("[")));
  return all.map(({ name, filename, files }) => ({
    name,
    archive: join(folder, filename),
    files: files.map(({ path }) => path),
  }));
}

/** @template T @param {string} what @param {() => Promise<T>} work @returns {Promise<T>} */
export async function step(what, work) {
  const started = Date.now();
  log(`${what} …`);
  const result = await withProgress("still running", work);
  log(`  done in ${duration(Date.now() - started)}`);
  return result;
}

/**
 * Writes what is in a bundle: for people, and a bill of materials.
 * @param {import("esbuild").Metafile} metafile @param {string} name @param {string} notices @param {string} bill
 */
async function describeBundle(metafile, name, notices, bill) {
  const { billOf, componentOf, noticesOf, packagesIn } = await import("./materials.mjs");
  const packages = packagesIn(metafile, root);
  writeFileSync(join(root, notices), noticesOf(packages));
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  writeFileSync(join(root, bill), JSON.stringify(billOf({ name, version }, packages.map(componentOf)), undefined, 2));
}

/** Puts OpenTelemetry's SDK into the file that loads it. */
async function bundleTracing() {
  const { build: bundled } = await import("esbuild"); // here, because a fresh clone has no packages at first
  const { metafile } = await bundled({
    metafile: true,
    absWorkingDir: root,
    entryPoints: ["provider/api/otel.ts"],
    outfile: "dist/provider/api/otel.js",
    bundle: true,
    minify: true,
    format: "cjs",
    platform: "node",
    target: "node20",
    mainFields: ["module", "main"], // only what is used
    legalComments: "eof",
    logLevel: "error",
  });
  await describeBundle(
    metafile,
    "pulumi-consortium-tracing",
    "dist/provider/api/otel-third-party.txt",
    "dist/.tracing.cdx.json",
  );
}

/** Bundles the console's page. */
async function buildPage() {
  const { build: bundled } = await import("esbuild");
  const [from, to] = [join(root, "console", "page"), join(root, "console", "dist", "page")];
  mkdirSync(to, { recursive: true });
  const { metafile } = await bundled({
    metafile: true,
    absWorkingDir: root,
    entryPoints: [join(from, "main.tsx")],
    outdir: to,
    bundle: true,
    minify: true,
    format: "esm",
    target: ["chrome123", "firefox121", "safari17.5"],
    legalComments: "eof",
    tsconfig: join(from, "tsconfig.json"),
    logLevel: "error",
  });
  for (const name of ["index.html", "icon.svg"]) copyFileSync(join(from, name), join(to, name));
  await describeBundle(
    metafile,
    "consortium-console-page",
    "console/dist/page/third-party.txt",
    "console/dist/.page.cdx.json",
  );
}
