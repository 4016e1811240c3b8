import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { temporary, writeIn } from "../../fleet/made";
import { testTogether } from "../../support/together";
import { loadAll, packed } from "../support/packed";

/* The packed package, installed in an empty project by installers other than npm. They check `engines` against this Node.js. */

const execute = promisify(execFile);
const { devDependencies } = jest.requireActual<{ devDependencies: Record<string, string> }>("../../../package.json");
const pulumi = devDependencies["@pulumi/pulumi"]!;

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

testTogether(installers, async (_, [command, ...args], files, more) => {
  const project = temporary();
  const dependencies = { "@pulumi/pulumi": pulumi, "pulumi-consortium": `file:${(await packed()).tarball}` };
  writeIn(project, "package.json", JSON.stringify({ name: "user", private: true, dependencies, ...more }));
  for (const [file, text] of Object.entries(files)) writeIn(project, file, text);
  await execute(command!, args, { cwd: project, maxBuffer: 1e8 });
  expect(await loadAll(project)).toEqual([pulumi]);
});
