import { execFile } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { nodeOf } from "../../../tools/lib/nodes.mjs";
import { receiver } from "../../support/receiver";
import { expectSpans, loadAll, npmInstall, packed, pinned } from "../support/packed";
import { done, failed, root } from "../support/stack";
import { world, type World, writesOf } from "../support/world";

/**
 * The packed package as npm installs it for a user, at the oldest end of the range in package.json: a life in every kind of program. At
 * the newest end, in TypeScript as the README has it: release.test.ts. `npm run compatibility` tries every Node.js, SDK, installer and
 * kind of program.
 */

const { peerDependencies } = jest.requireActual<{ peerDependencies: Record<string, string> }>("../../../package.json");
const sdk = "3.216.0";

/** What `pulumi import` prints for a dynamic resource, by its release; docs/troubleshooting.md quotes both. */
const refusals = [
  "Cannot read properties of undefined (reading 'toJavaScript')",
  "code must be a string, not undefined",
];

/** A stack in a project that knows nothing of this repository. */
async function installed(...modules: string[]): Promise<World> {
  const { tarball } = await packed();
  const w = await world("", { timing: { environmentStart: 0, nodeStart: 0 } });
  w.stack.env.PATH = [dirname(await nodeOf("20")), w.stack.env.PATH].join(delimiter);
  rmSync(join(w.stack.folder, "node_modules"), { recursive: true });
  delete w.stack.env.NODE_OPTIONS; // all that the SDK loads
  w.stack.write("Pulumi.yaml", "name: e2e\nruntime: nodejs\n");
  w.stack.write("package.json", '{ "name": "user", "private": true, "main": "index.js" }');
  w.stack.write(".npmrc", "engine-strict=true\n");
  await npmInstall(w.stack.folder, tarball, ...modules);
  return w;
}

const bodyWith = (description: string): string => `
const consortium = new Consortium("packed", { description: "${description}" });
const environment = new Environment("e", { consortium, provider: "geth", consensusType: "poa" });
const node = new Node("n", { environment, membership: new Membership("m", { consortium }) });
`;
const [body, names] = [bodyWith("first"), "Consortium, Environment, Membership, Node"];
const within = "/consortia/:consortiumId";
const creates = [
  "/consortia",
  `${within}/environments`,
  `${within}/environments/:environmentId/nodes`,
  `${within}/memberships`,
];

/** module kind → files of the program, and what it changes in the network of the one before */
const programs: [string, Record<string, string>, string[]][] = [
  [
    "CommonJS",
    {
      "package.json": '{ "name": "user", "private": true, "main": "index.js" }',
      "index.js": `const { ${names} } = require("pulumi-consortium");${body}exports.url = node.urls.rpc;`,
    },
    creates.map((route) => `POST ${route}`),
  ],
  [
    "ESM",
    {
      "package.json": '{ "name": "user", "private": true, "type": "module", "main": "index.js" }',
      "index.js": `import { ${names} } from "pulumi-consortium";${body}export const url = node.urls.rpc;`,
    },
    [],
  ],
  [
    "TypeScript with the older module resolution of Pulumi's templates",
    {
      "package.json": '{ "name": "user", "private": true, "main": "index.ts" }',
      "tsconfig.json":
        '{ "compilerOptions": { "strict": true, "target": "ES2020", "module": "CommonJS", "moduleResolution": "Node" } }',
      "index.ts": `import { ${names} } from "pulumi-consortium";\nimport { ConsortiumClient } from "pulumi-consortium/client";\n${bodyWith("second")}export const url = node.urls.rpc;\nexport const there = typeof ConsortiumClient;`,
    },
    [`PATCH ${within}`],
  ],
];

test("only the results of the build are packed, and no file refers to a source map, which is not packed", async () => {
  const { files } = await packed();
  const programs = ["dist/cli/consortium.js", "policy-pack/PulumiPolicy.yaml", "gitops/preview.sh", "gitops/forge.mjs"];
  expect(files).toEqual(expect.arrayContaining(programs));
  expect(files.filter((path) => /(^|\/)\.|tsbuildinfo|stamp|\.map$/.test(path))).toEqual([]);
  const scripts = files.filter((path) => /\.[cm]?js$/.test(path));
  const naming = scripts.filter((path) => /^\/\/# sourceMappingURL=/m.test(readFileSync(join(root, path), "utf8")));
  expect(naming).toEqual([]);
});

describe(`with @pulumi/pulumi ${sdk} on Node.js 20`, () => {
  let w: World;
  beforeAll(async () => {
    w = await installed(`@pulumi/pulumi@${sdk}`, ...["typescript", "ts-node", "@types/node"].map(pinned));
  });

  test("each of its modules can be loaded, and there is one Pulumi SDK, which begins the range of package.json", async () => {
    expect(await loadAll(w.stack.folder)).toEqual([sdk]);
    expect(peerDependencies).toMatchObject({ "@pulumi/pulumi": `>=${sdk} <4` });
  });

  test.each(programs)(
    "a %s program runs, and changes in the network of another program what is another value, with spans",
    async (kind, files, writes) => {
      const project = join(w.stack.folder, "package.json");
      const { dependencies } = JSON.parse(readFileSync(project, "utf8")) as object & { dependencies: object };
      for (const file of ["index.js", "index.ts", "tsconfig.json"]) rmSync(join(w.stack.folder, file), { force: true });
      for (const [file, text] of Object.entries(files)) w.stack.write(file, text);
      writeFileSync(project, JSON.stringify({ ...JSON.parse(files["package.json"]!), dependencies }));
      w.service.clearCalls();
      const { origin, spans } = await receiver();
      const env = { PULUMI_NODEJS_TRANSPILE_ONLY: undefined, OTEL_EXPORTER_OTLP_ENDPOINT: origin };
      await done(w.stack.up(env, ...(kind === "CommonJS" ? [] : ["--refresh"])));
      expect(await w.stack.outputs()).toMatchObject({ url: expect.stringContaining(w.service.url) as string });
      expect(writesOf(w.service).sort()).toEqual(writes);
      if (kind === "CommonJS") expectSpans(spans(), w.stack.folder, "1");
    },
  );

  test("nothing can be imported, and that changes nothing; a destroy takes all down", async () => {
    const before = [await w.stack.ids(), await w.network()];
    const text = await failed(w.stack.run(["import", "pulumi-nodejs:dynamic/consortium:Node", "other", "n1", "--yes"]));
    expect(refusals.filter((words) => text.includes(words))).toHaveLength(1);
    expect([await w.stack.ids(), await w.network()]).toEqual(before);
    expect(await w.stack.destroy()).toMatchObject({ code: 0 });
    expect((await w.network()).consortia).toEqual([]);
  });

  describe("packages that a network does not need", () => {
    const optional = ["ethers", "fastify", "@foundry-rs/anvil"];
    const isInstalled = (name: string) => existsSync(join(w.stack.folder, "node_modules", name));
    const own = async (file: string, ...args: string[]) => {
      const cwd = w.stack.folder;
      const env = { ...process.env, CONSORTIUM_BASE_URL: w.service.baseUrl, CONSORTIUM_API_KEY: w.service.apiKey };
      const command = file === "node" ? process.execPath : join(cwd, "node_modules/.bin", file);
      return promisify(execFile)(command, args, { cwd, env }).then(
        ({ stdout }) => ({ code: 0, text: stdout }),
        ({ code, stdout, stderr }: Record<string, string>) => ({ code: Number(code), text: `${stdout}${stderr}` }),
      );
    };

    test("are not installed, and a program compiles without them", async () => {
      expect(optional.filter(isInstalled)).toEqual([]);
      w.stack.write("whole.ts", `export { connect, Network, verifyReport } from "pulumi-consortium";`);
      const strict = ["--strict", "--target", "es2022", "--module", "node16", "--moduleResolution", "node16"];
      expect(await own("tsc", "--noEmit", "--types", "node", ...strict, "whole.ts")).toEqual({ code: 0, text: "" });
    });

    test.each([
      ["serve", "npm install --save-dev consortium-service@"],
      ["console", "npm install --save-dev consortium-console@"],
      ["fleet", "npm install --save-dev consortium-fleet@"],
      ["check", "npm install ethers@6"],
    ])("consortium %s names the command that installs it", async (verb, command) => {
      const { code, text } = await own("pulumi-consortium", verb);
      expect(code).toBeGreaterThan(0);
      expect(text).toContain(command);
      expect(text.trim().split("\n")).toHaveLength(1);
    });

    test("each of the others is a separate package", async () => {
      const missing = { text: expect.stringContaining("npm install --save-dev consortium-service@") as string };
      await expect(own("node", "-e", `require("pulumi-consortium/service")`)).resolves.toMatchObject(missing);
      w.stack.write("service.mjs", `import { startService } from "pulumi-consortium/service"; startService();`);
      await expect(own("node", "service.mjs")).resolves.toMatchObject(missing);
      const { archives } = await packed();
      const others = ["service", "console", "fleet"].map((name) => `consortium-${name}`);
      await npmInstall(w.stack.folder, ...others.map((name) => archives[name]!));
      expect(await loadAll(w.stack.folder)).toEqual([sdk]);
    });

    test("a program that starts the service compiles with each resolution of modules", async () => {
      w.stack.write("serves.ts", `export { startService } from "pulumi-consortium/service";`);
      for (const [module, resolution] of [
        ["node16", "node16"],
        ["commonjs", "node10"],
      ] as const) {
        const args = ["--noEmit", "--strict", "--skipLibCheck", "--types", "node", "--target", "es2022"];
        const compiled = await own("tsc", ...args, "--module", module, "--moduleResolution", resolution, "serves.ts");
        expect(compiled).toEqual({ code: 0, text: "" });
      }
    });
  });
});
