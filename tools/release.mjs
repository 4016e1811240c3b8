// @ts-check
/**
 * npm run release: everything that a release publishes, in the folder release/. Options:
 *   --platforms NAME,NAME…   plugin executables for these only, such as linux-amd64. Default: all
 *   --check                  writes nothing; prints what is missing before a release can be published
 *   --unpublished            writes it although something is missing, to try its parts
 */
import "./lib/node-version.mjs";
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, relative } from "node:path";
import { parseArgs } from "node:util";
import { nodePackages } from "./lib/nodes.mjs";
import { npmPackages, packages, prepare, root, step } from "./lib/prepare.mjs";
import { billOf } from "./lib/materials.mjs";
import { run, succeed } from "./lib/processes.mjs";
import { pulumiCli } from "./lib/pulumi-cli.mjs";
import { runMain, log, UserError } from "./lib/terminal.mjs";

const out = join(root, "release");
const read = (/** @type {string} */ file) => JSON.parse(readFileSync(join(root, file), "utf8"));
const about = read("package.json");

/** The tasks of a person, once or for this version. @returns {string[]} */
function missing() {
  const changelog = readFileSync(join(root, "CHANGELOG.md"), "utf8");
  const unplaced = Object.values(packages)
    .map((folder) => join(folder, "package.json"))
    .filter((file) => !read(file).repository);
  return [
    unplaced.length > 0
      ? `there is no \`repository\` in ${unplaced.join(", ")}: plugins have no download address, and npm no provenance`
      : "",
    changelog.split("\n").some((line) => line.startsWith(`## [${about.version}] - `) && /\d{4}-\d\d-\d\d$/.test(line))
      ? ""
      : `CHANGELOG.md has no dated part for ${about.version}: replace "not published yet" with today's date`,
    /## \[Unreleased\]\s+###/.test(changelog)
      ? "CHANGELOG.md has unreleased changes: raise the version, and date them"
      : "",
  ].filter((line) => line !== "");
}

/**
 * Writes the bill of materials of a package: the packages that npm installs with it, and those in its plugin.
 * @param {string} name
 * @param {Record<string, string>} archives of all packages: some depend on others
 * @param {string} to the folder
 */
async function bill(name, archives, to) {
  const parent = mkdtempSync(join(tmpdir(), "consortium-sbom-"));
  const folder = join(parent, name); // the bill of materials names the folder
  try {
    mkdirSync(folder);
    const others = name === "consortium-service" ? [] : [about.name];
    const dependencies = Object.fromEntries([name, ...others].map((one) => [one, `file:${archives[one]}`]));
    const project = { name: "release", version: about.version, dependencies };
    writeFileSync(join(folder, "package.json"), JSON.stringify(project));
    await succeed("npm", ["install", "--package-lock-only", "--no-audit"], { cwd: folder });
    const args = ["sbom", "--sbom-format=cyclonedx", "--sbom-type=library", "--package-lock-only"];
    const whole = JSON.parse(await succeed("npm", args, { cwd: folder }));
    whole.metadata.component.purl = `pkg:npm/${name}@${about.version}`; // and not that of the project around it
    if (name !== "consortium-service") {
      whole.components.push(nested("plugin", "plugin/pulumi-resource-consortium.cdx.json"));
      whole.components.push(nested("tracing", "dist/.tracing.cdx.json"));
    }
    if (name === "consortium-console") whole.components.push(nested("page", "console/dist/.page.cdx.json"));
    writeFileSync(join(to, `${basename(archives[name] ?? name)}.cdx.json`), JSON.stringify(whole, undefined, 2));
  } finally {
    rmSync(parent, { recursive: true, force: true });
  }
}

/** A bundle in a package. What is in it is nested, because it has its own copies, maybe of other versions. @param {string} ref @param {string} file its bill */
function nested(ref, file) {
  const bundle = JSON.parse(readFileSync(join(root, file), "utf8"));
  const components = bundle.components.map((/** @type {import("./lib/materials.mjs").Component} */ one) => ({
    ...one,
    "bom-ref": `${ref} ${one["bom-ref"]}`,
  }));
  return { ...bundle.metadata.component, "bom-ref": ref, components };
}

/** Plugins as `pulumi plugin install` downloads them. @param {string} folder @param {string[]} platforms */
async function plugins(folder, platforms) {
  const made = join(root, "dist-plugin");
  rmSync(made, { recursive: true, force: true });
  await succeed(process.execPath, [join(root, "tools/plugin.mjs"), "--executables", platforms.join(",")]);
  for (const name of readdirSync(made))
    copyFileSync(join(made, name), join(name.endsWith(".json") ? join(out, "sbom") : folder, name));
}

/** SDKs that the CLI generates from the schema. @param {string} folder @returns {Promise<string[]>} languages without a host here */
async function sdks(folder) {
  const cli = await pulumiCli({ languages: true });
  // The newest Pulumi would download a host that is missing.
  const env = { ...process.env, ...cli.env, PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true" };
  const schema = join(folder, "schema.json");
  /** @type {string[]} */
  const left = [];
  for (const language of ["python", "go", "dotnet", "java"]) {
    const args = ["package", "gen-sdk", schema, "--language", language, "--out", join(folder, "sdk")];
    const { code, text } = await run(cli.command, args, { env, cwd: folder });
    if (code === 0) continue;
    if (!text.includes("no language plugin")) throw new UserError(`The SDK for ${language}:\n${text.trim()}`);
    rmSync(join(folder, "sdk", language), { recursive: true, force: true });
    left.push(language);
  }
  return left;
}

/** A wheel and a source distribution of the Python SDK, with their licence and the bill of what pip installs with the wheel. @param {string} source @param {string} folder */
async function pythonPackages(source, folder) {
  const venv = mkdtempSync(join(tmpdir(), "consortium-python-"));
  copyFileSync(join(root, "LICENSE"), join(source, "LICENSE")); // setuptools puts it into both
  try {
    await succeed("python3", ["-m", "venv", venv]);
    const python = join(venv, "bin/python");
    const pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    await succeed(python, [...pip, "pip==26.3", "build==1.5.1", "setuptools==84.2.1", "wheel==0.48.0"]);
    await succeed(python, ["-m", "build", "--no-isolation", "--outdir", folder, source]);
    rmSync(join(source, "pulumi_consortium.egg-info"), { recursive: true, force: true }); // left by the build
    const wheel = readdirSync(folder).find((name) => name.endsWith(".whl")) ?? "";
    const report = [...pip, "--dry-run", "--ignore-installed", "--report", "-", join(folder, wheel)];
    const { install } = JSON.parse(await succeed(python, report));
    /** @param {{ metadata: { name: string, version: string, license?: string, license_expression?: string } }} found */
    const partOf = ({ metadata: { name, version, license, license_expression } }) => {
      const purl = `pkg:pypi/${name.toLowerCase()}@${version}`;
      const licenses = [{ license: { name: license_expression ?? license?.split("\n")[0] ?? "see the package" } }];
      return { type: "library", "bom-ref": purl, name, version, purl, licenses };
    };
    const own = (/** @type {{ metadata: { name: string } }} */ { metadata }) => metadata.name === "pulumi_consortium";
    const parts = install.filter((/** @type {any} */ one) => !own(one)).map(partOf);
    const bill = billOf({ name: "pulumi_consortium", version: about.version, type: "library" }, parts);
    writeFileSync(join(out, "sbom", `${wheel}.cdx.json`), JSON.stringify(bill, undefined, 2));
  } finally {
    rmSync(venv, { recursive: true, force: true });
  }
}

/** @param {string} folder @returns {string[]} every file in it */
const filesIn = (folder) =>
  readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

/** A line for each file, as `sha256sum --check` reads them. */
function checksums() {
  const lines = filesIn(out)
    .sort()
    .map((file) => `${createHash("sha256").update(readFileSync(file)).digest("hex")}  ${relative(out, file)}`);
  writeFileSync(join(out, "SHA256SUMS"), `${lines.join("\n")}\n`);
}

await runMain("release", async () => {
  const { values } = parseArgs({
    options: { check: { type: "boolean" }, platforms: { type: "string" }, unpublished: { type: "boolean" } },
  });
  const problems = missing();
  if (values.check || (problems.length > 0 && !values.unpublished)) {
    log(
      problems.length > 0
        ? `Before ${about.version} can be published:\n- ${problems.join("\n- ")}`
        : "Nothing is missing.",
    );
    return problems.length > 0 ? 1 : 0;
  }
  await prepare();
  rmSync(out, { recursive: true, force: true });
  const folders = Object.fromEntries(
    ["npm", "plugin", "python", "registry", "sbom"].map((name) => [name, join(out, name)]),
  );
  const { npm = "", plugin = "", python = "", registry = "" } = folders;
  for (const folder of Object.values(folders)) mkdirSync(folder, { recursive: true });
  copyFileSync(join(root, "schemas/schema.json"), join(out, "schema.json"));
  for (const page of ["_index.md", "installation-configuration.md"])
    copyFileSync(join(root, "plugin/registry", page), join(registry, page));

  await step("npm packages and their bills of materials", async () => {
    const archives = Object.fromEntries((await npmPackages(npm)).map(({ name, archive }) => [name, archive]));
    for (const name of Object.keys(archives)) await bill(name, archives, join(out, "sbom"));
  });
  const platforms = values.platforms?.split(",") ?? Object.keys(nodePackages);
  await step(`Plugins for ${platforms.join(", ")}`, () => plugins(plugin, platforms));
  const left = await step("SDKs", () => sdks(out));
  await step("Python packages", () => pythonPackages(join(out, "sdk/python"), python));
  checksums();
  for (const language of left) log(`No SDK for ${language}: this Pulumi CLI has no host for it. An official one has.`);
  log(`${filesIn(out).length} files of version ${about.version} are in ${out}.`);
  return 0;
});
