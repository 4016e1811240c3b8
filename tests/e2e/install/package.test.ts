import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Service, startService } from "../../../service";
import { root } from "../support/stack";

const execute = promisify(execFile);
const { devDependencies } = jest.requireActual<{ devDependencies: Record<string, string> }>("../../../package.json");
const at = (name: string): string => `${name}@${devDependencies[name]}`;

const folder = mkdtempSync(join(tmpdir(), "consortium-package-"));
let service: Service;
let env: NodeJS.ProcessEnv;

/** Packs and installs as a user would, into a folder that knows nothing of this repository. */
beforeAll(async () => {
  service = await startService({ timing: { environmentStart: 0, nodeStart: 0 } });
  await execute("npm", ["pack", "--ignore-scripts", "--pack-destination", folder], { cwd: root });
  const tarball = readdirSync(folder).find((file) => file.endsWith(".tgz"))!;
  const modules = ["@pulumi/pulumi", "typescript", "ts-node", "@types/node"].map(at);
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "user", private: true }));
  await execute("npm", ["install", "--no-audit", "--no-fund", "--prefer-offline", join(folder, tarball), ...modules], {
    cwd: folder,
  });
  mkdirSync(join(folder, "state"));
  env = {
    ...process.env,
    PULUMI_BACKEND_URL: `file://${join(folder, "state")}`,
    PULUMI_CONFIG_PASSPHRASE: "package",
    PULUMI_SKIP_UPDATE_CHECK: "true",
    CONSORTIUM_API_KEY: service.apiKey,
    CONSORTIUM_BASE_URL: service.baseUrl,
  };
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await service.close();
});

const pulumi = (...args: string[]): Promise<{ stdout: string }> =>
  execute(join(root, "tools/pulumi"), [...args, "--non-interactive", "--color", "never"], { cwd: folder, env });

const body = `
const consortium = new Consortium("packed");
const environment = new Environment("e", { consortium, provider: "geth", consensusType: "poa" });
const node = new Node("n", { environment, membership: new Membership("m", { consortium }) });
`;
const names = "Consortium, Environment, Membership, Node";

/** module kind → files of the program */
const programs: [string, Record<string, string>][] = [
  [
    "CommonJS",
    {
      "package.json": '{ "name": "user", "private": true, "main": "index.js" }',
      "index.js": `const { ${names} } = require("pulumi-consortium");${body}exports.url = node.urls.rpc;`,
    },
  ],
  [
    "ESM",
    {
      "package.json": '{ "name": "user", "private": true, "type": "module", "main": "index.js" }',
      "index.js": `import { ${names} } from "pulumi-consortium";${body}export const url = node.urls.rpc;`,
    },
  ],
  [
    "TypeScript",
    {
      "package.json": '{ "name": "user", "private": true, "main": "index.ts" }',
      "tsconfig.json":
        '{ "compilerOptions": { "strict": true, "target": "ES2022", "module": "Node16", "moduleResolution": "Node16" } }',
      "index.ts": `import { ${names} } from "pulumi-consortium";\nimport type { Output } from "@pulumi/pulumi";${body}export const url: Output<string> = node.urls.rpc;`,
    },
  ],
  [
    "TypeScript with the older module resolution of Pulumi's templates",
    {
      "package.json": '{ "name": "user", "private": true, "main": "index.ts" }',
      "tsconfig.json":
        '{ "compilerOptions": { "strict": true, "target": "ES2020", "module": "CommonJS", "moduleResolution": "Node" } }',
      "index.ts": `import { ${names} } from "pulumi-consortium";\nimport { ConsortiumClient } from "pulumi-consortium/client";\nimport { startService } from "pulumi-consortium/service";${body}export const url = node.urls.rpc;\nexport const there = typeof ConsortiumClient + typeof startService;`,
    },
  ],
];

test.each(programs)("a %s program runs from the packed package in an empty project", async (kind, files) => {
  writeFileSync(join(folder, "Pulumi.yaml"), "name: user\nruntime: nodejs\n");
  for (const file of ["index.js", "index.ts", "tsconfig.json"]) rmSync(join(folder, file), { force: true });
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text);
  const stack = kind.replaceAll(/\W/g, "").toLowerCase();
  await pulumi("stack", "select", "--create", stack);
  await pulumi("up", "--yes", "--skip-preview", "--stack", stack);
  const { stdout } = await pulumi("stack", "output", "--json", "--stack", stack);
  expect(JSON.parse(stdout)).toMatchObject({ url: expect.stringContaining(service.url) as string });
  await pulumi("destroy", "--yes", "--skip-preview", "--stack", stack);
});
