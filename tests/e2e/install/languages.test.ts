import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { parse } from "yaml";
import { type Service, startService } from "../../../service/index";
import { startForge } from "../../../tools/lib/forge.mjs";
import { nodeOf } from "../../../tools/lib/nodes.mjs";
import { neutralEnv, run, succeed } from "../../../tools/lib/processes.mjs";
import { startRegistry } from "../../../tools/lib/registry.mjs";
import { temporary } from "../../fleet/made";
import { testTogether } from "../../support/together";
import { atTheEnd } from "../support/ending";
import { cliWithLanguages } from "../support/languages/sdk";
import { type Release, released, version } from "../support/release";
import { root } from "../support/root";

/*
 * Publish day: npm, PyPI, Go's proxy, the plugin and the templates of a release, served from this machine. docs/languages.md as printed,
 * in each language, with a home that is empty: up, a change on the other end of the range of Pulumi's SDK, destroy. Needs git, openssl,
 * python3 and go. (The examples, policies and replacements in each language: tests/e2e/stories/languages.test.ts.)
 */

jest.setTimeout(3_600_000); // without caches, much is downloaded and compiled

const text = (file: string): string => readFileSync(file, "utf8");
const oldestIn = (range: string): string => /\d+(\.\d+)+/.exec(range)![0];
const { peerDependencies } = JSON.parse(text(join(root, "package.json"))) as {
  peerDependencies: Record<string, string>;
};

/** By itself, npm and pip install the newest SDK, and Go the oldest that the template takes. */
const npm = `npm install @pulumi/pulumi@${oldestIn(peerDependencies["@pulumi/pulumi"]!)}`;
const pip = `venv/bin/pip install pulumi==${oldestIn(text(join(root, "templates/python/requirements.txt")))}`;
const go = "go get github.com/pulumi/pulumi/sdk/v3@latest\ngo mod tidy";
/** Language → the file of its template with the text to change; how its program gets the SDK at the other end of the range. */
const languages: [language: string, file: string, otherSdk: string | undefined][] = [
  ["go", "main.go", go],
  ["python", "__main__.py", pip],
  ["typescript", "index.ts", npm],
  ["javascript", "index.js", undefined],
  ["network-file", "network.yaml", undefined],
  ["yaml", "Pulumi.yaml", undefined],
];

test("there is a template for each language, which describes itself, and asks for the region and a secret key", () => {
  const templates = readdirSync(join(root, "templates"), { withFileTypes: true }).filter((one) => one.isDirectory());
  expect(templates.map(({ name }) => name).sort()).toEqual(languages.map(([language]) => language).sort());
  for (const [language] of languages) {
    const { description, config } = projectIn(join(root, "templates", language)).template!;
    expect(description.length).toBeGreaterThan(20);
    expect(config).toMatchObject({ "consortium:region": { default: "us" }, "consortium:apiKey": { secret: true } });
  }
});

interface Project {
  name: string;
  description: string;
  template?: { description: string; config: object };
}
const projectIn = (folder: string): Project => parse(text(join(folder, "Pulumi.yaml"))) as Project;

/** The Go module as a proxy has it. */
async function goProxy({ folder }: Release, module: string, to: string): Promise<void> {
  const versions = join(to, module, "@v");
  const zip = temporary();
  const inZip = join(zip, `${module}@v${version}`);
  for (const one of [versions, dirname(inZip)]) mkdirSync(one, { recursive: true });
  symlinkSync(join(folder, "sdk/go"), inZip);
  const file = (ending: string): string => join(versions, `v${version}.${ending}`);
  await succeed("python3", ["-c", zipping, file("zip"), zip, `${module}@v${version}`]);
  copyFileSync(join(folder, "sdk/go/go.mod"), file("mod"));
  writeFileSync(file("info"), JSON.stringify({ Version: `v${version}`, Time: new Date().toISOString() }));
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

/** Everything that a release publishes, and the environment of somebody who installs from there. */
async function publish(release: Release): Promise<NodeJS.ProcessEnv> {
  const { folder, source, address } = release;
  const own = temporary();
  const links = readdirSync(join(folder, "python")).map((name) => `<a href="/python/${name}">${name}</a>`);
  writeFileSync(join(own, "index.html"), `<!doctype html>\n${links.join("\n")}\n`);
  const module = /^module (\S+)$/m.exec(text(join(folder, "sdk/go/go.mod")))![1]!;
  await goProxy(release, module, join(own, "go-proxy"));
  const files = () => ({
    [`${address.pathname}/releases/download/v${version}/`]: join(folder, "plugin"),
    "/simple/pulumi-consortium/": join(own, "index.html"),
    "/python/": join(folder, "python"),
    "/go/": join(own, "go-proxy"),
  });
  const repository = { path: address.pathname, folder: join(source, ".git") };
  const forge = await startForge(own, repository, files, Number(address.port));
  atTheEnd(() => forge.close());
  const registry = await startRegistry(join(folder, "npm"));
  atTheEnd(() => registry.close());
  const fromGo = async (name: string): Promise<string> => (await succeed("go", ["env", name])).trim();
  const programs = [await nodeOf("24"), (await cliWithLanguages()).command].map((program) => dirname(program));
  return {
    ...neutralEnv(),
    SSL_CERT_FILE: forge.bundle,
    GIT_SSL_CAINFO: forge.bundle,
    PIP_CERT: forge.bundle,
    PATH: [...programs, process.env.PATH].join(delimiter),
    PULUMI_CONFIG_PASSPHRASE: "rehearsal",
    PULUMI_SKIP_CONFIRMATIONS: "true",
    PULUMI_SKIP_UPDATE_CHECK: "true",
    npm_config_registry: registry.url,
    npm_config_cache: (await succeed("npm", ["config", "get", "cache"])).trim(),
    PIP_EXTRA_INDEX_URL: `${forge.url}/simple`,
    GOPROXY: `${forge.url}/go,${await fromGo("GOPROXY")}`,
    GONOSUMDB: module,
    GOCACHE: await fromGo("GOCACHE"),
    // -modcacherw: so that the folder can be removed; the others: what is compiled does not depend on the home, so the cache has it
    GOFLAGS: `${await fromGo("GOFLAGS")} -modcacherw -trimpath`.trim(),
    CGO_ENABLED: "0",
  };
}

let once: Promise<[Release, NodeJS.ProcessEnv]> | undefined;
const published = () => (once ??= released().then(async (release) => [release, await publish(release)]));

/** The commands of the page, in the language. */
function printed({ source }: Release, language: string): string {
  const [, commands = ""] = /^```sh\n(pulumi new [^]*?)^```$/m.exec(text(join(source, "docs/languages.md"))) ?? [];
  expect(commands).toContain("/tree/");
  return commands.replace("/templates/yaml ", `/templates/${language} `);
}

/** What `pulumi new` made of a template. */
function expectMade(project: string, language: string): void {
  expect(projectIn(project)).toMatchObject({ name: "trade", description: expect.any(String) as string });
  expect(projectIn(project).template).toBeUndefined();
  expect(existsSync(join(project, ".gitignore"))).toBe(existsSync(join(root, "templates", language, ".gitignore")));
  const own = readdirSync(project, { withFileTypes: true }).filter((one) => one.isFile());
  expect(own.filter(({ name }) => /\$\{(PROJECT|DESCRIPTION)\}/.test(text(join(project, name))))).toEqual([]);
}

/** What `pulumi install` got for the template in TypeScript: the others in JavaScript name some of these packages, in the same range. */
let gotPackages: (folder: string) => void;
const packages = new Promise<string>((resolve) => (gotPackages = resolve));

/** Somebody who follows the page; the service must have nothing else. */
async function follow(language: string, file: string, otherSdk: string | undefined, service: Service): Promise<void> {
  const [release, env] = await published();
  const home = temporary();
  for (const name of ["home", "pulumi", "state"]) mkdirSync(join(home, name));
  const own: NodeJS.ProcessEnv = {
    ...env,
    CONSORTIUM_BASE_URL: service.baseUrl,
    CONSORTIUM_API_KEY: service.apiKey,
    HOME: join(home, "home"),
    PULUMI_HOME: join(home, "pulumi"),
    PULUMI_BACKEND_URL: `file://${join(home, "state")}`,
    GOPATH: join(home, "go"),
  };
  const network = join(home, "network");
  let all = "";
  const sh = async (script: string, { cwd = network, isSecret = false } = {}) => {
    const result = await run("bash", ["-e", "-c", script], { cwd, env: own });
    if (!isSecret) all += result.text;
    if (result.code !== 0) throw new Error(`${script}\nended with ${result.code}:\n${result.text.trim()}`);
    return result.stdout;
  };
  const consortia = () => service.store.consortia.list().map(({ fields }) => fields.description);
  const program = join(network, file);

  const shared = file === "index.js" || file === "network.yaml";
  const install = shared ? `cp -al ${await packages} .\nnpm ls\n` : "pulumi install\n";
  await sh(printed(release, language).replace("pulumi install\n", install), { cwd: home });
  expectMade(network, language);
  expect(consortia()).toEqual(["Created with pulumi new"]);
  const outputs = await sh("pulumi stack output --json --show-secrets", { isSecret: true });
  expect(outputs).toContain(service.url);
  const passwords = [...outputs.matchAll(/"password": ?"([^"]{9,})"/g)].map(([, password]) => password!);
  expect(passwords.length).toBeGreaterThanOrEqual(2);
  await sh("pulumi stack export");
  if (language === "typescript") {
    await checksTypes(program, sh);
    await sh("mkdir ../copy\ncp -al node_modules ../copy\nrm ../copy/node_modules/.package-lock.json"); // npm writes it in place
    gotPackages(join(home, "copy/node_modules"));
  }
  if (otherSdk) await sh(otherSdk);
  writeFileSync(program, text(program).replace("Created with pulumi new", "Changed"));
  expect(await sh("pulumi up --skip-preview")).toMatch(/ ~ 1 updated\n +\d+ unchanged\n/);
  expect(consortia()).toEqual(["Changed"]);
  await sh("pulumi destroy --skip-preview");
  expect(consortia()).toEqual([]);
  expect(passwords.filter((password) => all.includes(password))).toEqual([]);
}

/** `npm run check` finds a wrong type, which previews do not, and nothing else. */
async function checksTypes(program: string, sh: (script: string) => Promise<string>): Promise<void> {
  const right = text(program);
  writeFileSync(program, `${right}\nexport const wrong: number = "text";\n`);
  const { message } = await sh("npm run check").then(
    () => new Error("no error"),
    (error: Error) => error,
  );
  expect(message.match(/error TS\d+/g)).toEqual(["error TS2322"]);
  writeFileSync(program, right);
}

describe("a new project, as the page of languages prints it", () => {
  testTogether(languages, async (...row) => {
    const service = await startService({ timing: { environmentStart: 0, nodeStart: 0 } });
    try {
      await follow(...row, service);
    } finally {
      if (row[0] === "typescript") gotPackages("packages-that-the-template-in-TypeScript-did-not-get");
      await service.close();
    }
  });
});
