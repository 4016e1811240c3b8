// @ts-check
/**
 * npm run rehearse: publish day on this machine. Takes a copy of the sources, gives it a repository, generates and releases it, serves
 * npm, PyPI, Go's proxy, the plugin and the templates from 127.0.0.1, and follows docs/languages.md in each language, with a home that
 * is empty: up, a change, the other end of the range of Pulumi's SDK, destroy. Needs git, openssl, python3 and go. Options:
 *   --only LANGUAGE,…   such as yaml,python. Default: all
 *   --keep              leaves its folder, and prints where it is
 *   --resume FOLDER     takes the release of a folder that was kept
 */
import "./lib/node-version.mjs";
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { addressOf, goModuleOf } from "./generate/about.mjs";
import { close, runChecks, tally } from "./lib/checks.mjs";
import { startForge } from "./lib/forge.mjs";
import { nodeOf, platform } from "./lib/nodes.mjs";
import { root, step } from "./lib/prepare.mjs";
import { neutralEnv, run, succeed } from "./lib/processes.mjs";
import { pulumiCli } from "./lib/pulumi-cli.mjs";
import { startRegistry } from "./lib/registry.mjs";
import { log, UserError } from "./lib/terminal.mjs";

/** Language → the file of its template with the text to change. @type {Record<string, string>} */
const programs = {
  yaml: "Pulumi.yaml",
  python: "__main__.py",
  go: "main.go",
  typescript: "index.ts",
  javascript: "index.js",
  "network-file": "network.yaml",
};
const { version, peerDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const [oldestOnNpm, oldestOnPyPI] = [
  peerDependencies["@pulumi/pulumi"],
  readFileSync(join(root, "templates/python/requirements.txt"), "utf8"),
].map((range) => /\d+(\.\d+)+/.exec(range)?.[0]);
/** By itself, npm and pip install the newest SDK, and Go the oldest that the template takes. */
const oldest = {
  npm: `npm install @pulumi/pulumi@${oldestOnNpm}`,
  pip: `venv/bin/pip install pulumi==${oldestOnPyPI}`,
};
const newest = "go get github.com/pulumi/pulumi/sdk/v3@latest\ngo mod tidy";
/** Language → how its program gets the SDK at the other end of the range. YAML has none. @type {Record<string, string>} */
const otherSdk = {
  python: oldest.pip,
  go: newest,
  typescript: oldest.npm,
  javascript: oldest.npm,
  "network-file": oldest.npm,
};
const { values } = parseArgs({
  options: { only: { type: "string" }, keep: { type: "boolean" }, resume: { type: "string" } },
});
const chosen = Object.keys(programs).filter((one) => !values.only || values.only.split(",").includes(one));
const folder = values.resume ?? mkdtempSync(join(tmpdir(), "consortium-rehearsal-"));
const source = join(folder, "source");

/** The sources as they are, with a repository and a date. @param {string} address */
async function copySources(address) {
  const listed = await succeed("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], { cwd: root });
  for (const file of listed.split("\0").filter(Boolean)) {
    mkdirSync(dirname(join(source, file)), { recursive: true });
    copyFileSync(join(root, file), join(source, file));
  }
  // Not a link to it: its links to our own packages have to lead to the copy.
  await succeed("cp", ["-a", join(root, "node_modules"), join(source, "node_modules")]);
  const change = (/** @type {string} */ file, /** @type {(text: string) => string} */ to) =>
    writeFileSync(join(source, file), to(readFileSync(join(source, file), "utf8")));
  const repository = { type: "git", url: `git+${address}.git` };
  change("package.json", (text) => JSON.stringify({ ...JSON.parse(text), repository }, undefined, 2));
  change("CHANGELOG.md", (text) => text.replace("not published yet", new Date().toISOString().slice(0, 10)));
  const said = await run("npm", ["run", "generate"], { cwd: source });
  if (said.code !== 0) throw new UserError(said.text);
  const git = (/** @type {string[]} */ ...args) => succeed("git", args, { cwd: source });
  await git("init", "--quiet");
  await git("add", "--all");
  await git("-c", "user.name=r", "-c", "user.email=r@example.com", "commit", "--quiet", "--message", version);
  await git("tag", `v${version}`);
}

/** The Go module as a proxy has it. @param {string} module @param {string} to */
async function goProxy(module, to) {
  const versions = join(to, module, "@v");
  const at = (/** @type {string} */ ending) => join(versions, `v${version}.${ending}`);
  const inZip = join(folder, "zip", `${module}@v${version}`);
  mkdirSync(versions, { recursive: true });
  mkdirSync(dirname(inZip), { recursive: true });
  symlinkSync(join(source, "release/sdk/go"), inZip);
  await succeed("python3", ["-c", zipping, at("zip"), join(folder, "zip"), `${module}@v${version}`]);
  copyFileSync(join(source, "release/sdk/go/go.mod"), at("mod"));
  writeFileSync(at("info"), JSON.stringify({ Version: `v${version}`, Time: new Date().toISOString() }));
  writeFileSync(join(versions, "list"), `v${version}\n`);
}
const zipping = `import os, sys, zipfile
target, folder, name = sys.argv[1:]
with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as made:
    for at, _, files in os.walk(os.path.join(folder, name), followlinks=True):
        for file in files:
            path = os.path.join(at, file)
            made.write(path, os.path.relpath(path, folder))
`;

/** A page of links to the Python packages, as pip reads it. @param {string} to */
function pythonIndex(to) {
  const files = readdirSync(join(source, "release/python"));
  const links = files.map((name) => `<a href="/python/${name}">${name}</a>`);
  writeFileSync(to, `<!doctype html>\n${links.join("\n")}\n`);
}

/** The commands of the page, in the language. @param {string} language */
function printed(language) {
  const page = readFileSync(join(source, "docs/languages.md"), "utf8");
  const [, text = ""] = /^```sh\n(pulumi new [^]*?)^```$/m.exec(page) ?? [];
  if (!text.includes("/tree/"))
    throw new UserError(`docs/languages.md has no commands for a published version:\n${text}`);
  return text.replace("/templates/yaml ", `/templates/${language} `);
}

/** @param {string} language @param {NodeJS.ProcessEnv} env @param {any} service its own: it must have nothing else */
async function follow(language, env, service) {
  const home = join(folder, language);
  rmSync(home, { recursive: true, force: true });
  for (const name of ["home", "pulumi", "state"]) mkdirSync(join(home, name), { recursive: true });
  const own = {
    ...env,
    ...{
      CONSORTIUM_BASE_URL: service.baseUrl,
      CONSORTIUM_API_KEY: service.apiKey,
      HOME: join(home, "home"),
      PULUMI_HOME: join(home, "pulumi"),
      PULUMI_BACKEND_URL: `file://${join(home, "state")}`,
    },
    GOPATH: join(home, "go"),
  };
  const sh = async (/** @type {string} */ script, cwd = home) => {
    const { code, text } = await run("bash", ["-e", "-c", script], { cwd, env: own });
    if (code !== 0) throw new UserError(`${script}\nended with ${code}:\n${text.trim()}`);
  };
  const consortia = () => service.store.consortia.list().map((/** @type {any} */ { fields }) => fields.description);
  const expect = (/** @type {unknown} */ found, /** @type {unknown} */ wanted) => {
    if (JSON.stringify(found) !== JSON.stringify(wanted))
      throw new UserError(`The service has consortia ${JSON.stringify(found)}, not ${JSON.stringify(wanted)}`);
  };
  await sh(printed(language));
  expect(consortia(), ["Created with pulumi new"]);
  const program = join(home, "network", programs[language] ?? "");
  writeFileSync(program, readFileSync(program, "utf8").replace("Created with pulumi new", "Changed"));
  await sh("pulumi up", join(home, "network"));
  expect(consortia(), ["Changed"]);
  await sh(`${otherSdk[language] ?? ""}\npulumi preview --expect-no-changes`, join(home, "network"));
  writeFileSync(program, readFileSync(program, "utf8").replace("Changed", "Changed again"));
  await sh("pulumi up", join(home, "network"));
  expect(consortia(), ["Changed again"]);
  await sh("pulumi preview --expect-no-changes\npulumi destroy", join(home, "network"));
  expect(consortia(), []);
}

await close(async () => {
  const index = join(folder, "index.html");
  const module = (/** @type {string} */ url) => goModuleOf(`${url}/acme/consortium`);
  const files = () => ({
    [`/acme/consortium/releases/download/v${version}/`]: join(source, "release/plugin"),
    "/simple/pulumi-consortium/": index,
    "/python/": join(source, "release/python"),
    "/go/": join(folder, "go-proxy"),
  });
  const address = values.resume && addressOf(JSON.parse(readFileSync(join(source, "package.json"), "utf8")));
  const port = Number(address ? new URL(address).port : 0);
  const forge = await startForge(folder, { path: "/acme/consortium", folder: join(source, ".git") }, files, port);
  /** @type {(() => unknown)[]} */
  const ends = [() => forge.close()];
  try {
    if (!values.resume) {
      await step("Sources with a repository", () => copySources(`${forge.url}/acme/consortium`));
      const released = [join(source, "tools/release.mjs"), "--platforms", platform];
      await step("The release", () => succeed(process.execPath, released, { cwd: source }));
      pythonIndex(index);
      await goProxy(module(forge.url), join(folder, "go-proxy"));
    }
    const registry = await step("A registry for npm", () => startRegistry(folder, join(source, "release/npm")));
    ends.push(registry.close);
    const { startService } = createRequire(import.meta.url)(join(source, "dist/sdk/service.js"));
    const work = async (/** @type {string} */ language) => {
      const service = await startService({ timing: { environmentStart: 0, nodeStart: 0 } });
      ends.push(() => service.close());
      await follow(language, env, service);
    };
    const cli = await pulumiCli({ languages: true });
    const trust = { SSL_CERT_FILE: forge.bundle, GIT_SSL_CAINFO: forge.bundle, PIP_CERT: forge.bundle };
    const env = {
      ...neutralEnv(),
      ...trust,
      PATH: [
        ...[await nodeOf("24"), cli.command].map((program) => dirname(program)),
        ...(process.env.PATH ?? "").split(delimiter),
      ].join(delimiter),
      PULUMI_CONFIG_PASSPHRASE: "rehearsal",
      PULUMI_SKIP_CONFIRMATIONS: "true",
      PULUMI_SKIP_UPDATE_CHECK: "true",
      npm_config_registry: registry.url,
      PIP_EXTRA_INDEX_URL: `${forge.url}/simple`,
      GOPROXY: `${forge.url}/go,${(await succeed("go", ["env", "GOPROXY"])).trim()}`,
      GONOSUMDB: module(forge.url),
      GOCACHE: (await succeed("go", ["env", "GOCACHE"])).trim(),
      // -modcacherw: so that the folder can be removed; the others: what is compiled does not depend on the home, so the cache has it
      GOFLAGS: `${(await succeed("go", ["env", "GOFLAGS"])).trim()} -modcacherw -trimpath`.trim(),
      CGO_ENABLED: "0",
    };
    const checks = chosen.map((language) => ({ name: language, work: () => work(language) }));
    return tally(await runChecks(checks, 3)); // most of an installation is waiting
  } finally {
    for (const end of ends.reverse()) await end();
    if (values.keep || values.resume) log(`Everything is in ${folder}.`);
    else rmSync(folder, { recursive: true, force: true });
  }
});
