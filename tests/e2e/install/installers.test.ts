import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { loadAll, packed } from "../support/packed";
import { root } from "../support/stack";

/* The packed package, installed in an empty project by installers other than npm. They check `engines` against this Node.js. */

const execute = promisify(execFile);
const { devDependencies } = jest.requireActual<{ devDependencies: Record<string, string> }>("../../../package.json");
const pulumi = devDependencies["@pulumi/pulumi"]!;

const folder = mkdtempSync(join(tmpdir(), "consortium-installers-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** As docs/troubleshooting.md says it for Yarn. */
const resolutions = { "@pulumi/pulumi": pulumi };

/** name → how it is run; files of the project besides package.json; what package.json holds */
const installers: [string, string[], Record<string, string>, object][] = [
  ["pnpm", ["npx", "--yes", "pnpm@10.34.8", "install"], { ".npmrc": "engine-strict=true\nstore-dir=.store\n" }, {}],
  [
    "Yarn 4",
    ["npx", "--yes", "--package", "@yarnpkg/cli-dist@4.18.1", "yarn", "install"],
    {
      "yarn.lock": "",
      ".yarnrc.yml":
        "nodeLinker: node-modules\nenableTelemetry: false\nglobalFolder: .yarn-global\nenableImmutableInstalls: false\n",
    },
    { resolutions },
  ],
];

test("nothing of the build but its results is packed", async () => {
  const { files } = await packed();
  expect(files).toContain("dist/cli/consortium.js");
  expect(files.filter((path) => /(^|\/)\.|tsbuildinfo|stamp/.test(path))).toEqual([]);
});

/** What a debugger looks for: the map that a file names, and the sources that a map names and does not hold. */
function lookedFor(path: string): string[] {
  const text = readFileSync(join(root, path), "utf8");
  if (!path.endsWith(".map"))
    return [...text.matchAll(/^\/\/# sourceMappingURL=(?!data:)(.+)$/gm)].map(([, map = ""]) => map);
  const { sources, sourcesContent } = JSON.parse(text) as { sources: string[]; sourcesContent?: (string | null)[] };
  return sources.filter((_, at) => typeof sourcesContent?.[at] !== "string");
}

test("source maps, if any, lead to sources that are in the package", async () => {
  const { files } = await packed();
  const missing = files
    .filter((path) => /\.([cm]?js|ts|map)$/.test(path))
    .flatMap((path) => lookedFor(path).map((other) => `${path}: ${join(dirname(path), other)}`))
    .filter((line) => !files.includes(line.split(": ")[1]!));
  expect(missing).toEqual([]);
});

test.concurrent.each(installers)("%s", async (name, [command, ...args], files, more) => {
  const project = join(folder, name.replace(" ", "-"));
  mkdirSync(project);
  const dependencies = { "@pulumi/pulumi": pulumi, "pulumi-consortium": `file:${(await packed()).tarball}` };
  writeFileSync(join(project, "package.json"), JSON.stringify({ name: "user", private: true, dependencies, ...more }));
  for (const [file, text] of Object.entries(files)) writeFileSync(join(project, file), text);
  await execute(command!, args, { cwd: project, maxBuffer: 1e8 });
  expect(await loadAll(project)).toEqual([pulumi]);
});
