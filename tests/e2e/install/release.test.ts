import { execFile, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { DockerfileParser, type Instruction } from "dockerfile-ast";
import { parse } from "yaml";
import { resolveProviderSettings } from "../../../provider/pulumi/settings";
import { startService, type Service } from "../../../service/index";
import { nodeOf, platform } from "../../../tools/lib/nodes.mjs";
import { neutralEnv } from "../../../tools/lib/processes.mjs";
import { temporary } from "../../fleet/made";
import { freePort } from "../../support/network";
import { receiver } from "../../support/receiver";
import { until } from "../../support/until";
import { cliWithLanguages } from "../support/languages/sdk";
import { Newcomer } from "../support/newcomer";
import { expectSpans } from "../support/packed";
import { released, version } from "../support/release";
import { root } from "../support/stack";
import { world } from "../support/world";

/* The output of `npm run release`, as its users install it. npm.test.ts has more about the npm packages, at the oldest end of the SDK's range. */

let release: string;
const names = (folder: string): string[] => readdirSync(join(release, folder)).sort();
const json = (file: string): Record<string, unknown> =>
  JSON.parse(readFileSync(join(release, file), "utf8")) as Record<string, unknown>;

interface Component {
  name: string;
  components?: Component[];
}
interface Bill {
  metadata: { component: Component };
  components: Component[];
}

beforeAll(async () => {
  release = (await released()).folder;
}, 1_800_000); // without caches, much is downloaded and compiled

test("all parts exist, with the same version and correct checksums", () => {
  expect(names("npm")).toEqual(
    ["consortium-console", "consortium-fleet", "consortium-service", "pulumi-consortium"].map(
      (name) => `${name}-${version}.tgz`,
    ),
  );
  expect(names("plugin")).toEqual([`pulumi-resource-consortium-v${version}-${platform}.tar.gz`]);
  expect(names("python")).toEqual([
    `pulumi_consortium-${version}-py3-none-any.whl`,
    `pulumi_consortium-${version}.tar.gz`,
  ]);
  expect(names("sdk")).toEqual(expect.arrayContaining(["go", "python"]));
  expect(json("schema.json")).toMatchObject({ name: "consortium", version });
  execFileSync("sha256sum", ["--check", "--quiet", "SHA256SUMS"], { cwd: release });
});

test("each part has a bill of everything in it or installed with it, and the licences", () => {
  const tarball = `pulumi-consortium-${version}.tgz`;
  const archive = `pulumi-resource-consortium-v${version}-${platform}`;
  const wheel = `pulumi_consortium-${version}-py3-none-any.whl`;
  const others = ["service", "console", "fleet"].map((name) => `consortium-${name}-${version}.tgz`);
  expect(names("sbom")).toEqual([tarball, archive, wheel, ...others].map((name) => `${name}.cdx.json`).sort());
  const bill = (name: string) => json(`sbom/${name}.cdx.json`) as unknown as Bill;
  const namesIn = ({ components }: { components?: Component[] }) => components!.map(({ name }) => name);
  expect(namesIn(bill(others[0]!))).toEqual(expect.arrayContaining(["fastify", "ethers", "@foundry-rs/anvil"]));
  expect(namesIn(bill(others[2]!))).toEqual(expect.arrayContaining(["pulumi-consortium", "@pulumi/pulumi"]));
  const npm = bill(tarball);
  expect(npm.metadata.component).toMatchObject({ name: "pulumi-consortium", version });
  const { dependencies } = jest.requireActual<{ dependencies: object }>("../../../package.json");
  expect(namesIn(npm)).toEqual(expect.arrayContaining([...Object.keys(dependencies), "@pulumi/pulumi"]));
  const bundled = ["@grpc/grpc-js", "google-protobuf", "undici", "zod"];
  const within = ({ components }: Bill, bundle: string) => namesIn(components.find(({ name }) => name === bundle)!);
  expect(within(npm, "pulumi-resource-consortium")).toEqual(expect.arrayContaining(bundled));
  const tracing = ["@opentelemetry/api", "@opentelemetry/sdk-trace-base"];
  expect(within(npm, "pulumi-consortium-tracing")).toEqual(expect.arrayContaining(tracing));
  expect(within(bill(others[1]!), "consortium-console-page")).toEqual(expect.arrayContaining(["preact", "uplot"]));
  expect(namesIn(bill(archive))).toEqual(expect.arrayContaining([...bundled, "node"]));
  expect(namesIn(bill(wheel))).toEqual(expect.arrayContaining(["pulumi", "grpcio"]));
  expect(JSON.stringify(bill(wheel))).not.toContain("see the package");

  const text = (file: string, name: string) =>
    execFileSync("tar", ["-xzOf", join(release, file), name], { encoding: "utf8", maxBuffer: 2 ** 24 });
  const packed = `plugin/${archive}.tar.gz`;
  expect(text(packed, "LICENSE-nodejs")).toContain("Node.js is licensed");
  for (const [file, notices, packages] of [
    [packed, "THIRD-PARTY-NOTICES", bundled],
    [`npm/${tarball}`, "package/plugin/pulumi-resource-consortium-third-party.txt", bundled],
    [`npm/${tarball}`, "package/dist/provider/api/otel-third-party.txt", tracing],
    [`npm/${others[1]}`, "package/dist/page/third-party.txt", ["preact", "uplot"]],
  ] as const) {
    for (const name of packages) expect(text(file, notices)).toMatch(new RegExp(`^${name} \\d`, "m"));
    expect(text(file, notices)).toMatch(/Permission is hereby granted, free of charge|Apache License/);
  }
  expect(text(packed, "LICENSE")).toContain("Apache License");
  for (const file of [tarball, ...others]) expect(text(`npm/${file}`, "package/LICENSE")).toContain("Apache License");
  const inWheel = execFileSync("unzip", ["-l", join(release, "python", wheel)], { encoding: "utf8" });
  expect(inWheel).toContain("LICENSE");
});

describe("each npm package installs from the release alone, on Node.js 24, and works as its README says", () => {
  const folder = temporary();
  let service: Service;
  const outcomes: Record<string, Promise<void>> = {};
  beforeAll(async () => {
    for (const name of names("npm")) copyFileSync(join(release, "npm", name), join(folder, name));
    service = await startService({ timing: { environmentStart: 0, nodeStart: 0 } });
    const programs = [await nodeOf("24"), (await cliWithLanguages()).command].map((program) => dirname(program));
    const env = {
      PATH: [...programs, process.env.PATH].join(delimiter),
      CONSORTIUM_BASE_URL: service.baseUrl,
      CONSORTIUM_API_KEY: service.apiKey,
      ACME_API_KEY: service.addOrganization("acme").apiKey,
      PULUMI_BACKEND_URL: `file://${folder}`,
    };
    // At the same time, because most of an installation is waiting.
    for (const [name, live] of Object.entries(works)) {
      const page = name === "pulumi-consortium" ? "README.md" : `${name.replace("consortium-", "")}/README.md`;
      outcomes[name] = live(new Newcomer(join(folder, name), page, env));
    }
    await Promise.allSettled(Object.values(outcomes));
  });
  afterAll(() => service.close());

  /** Packages that others need, too, as npm has installed them: it does not unpack again what fits. */
  let gotPackages: (done: Promise<void>) => void;
  const packages = new Promise<void>((resolve) => (gotPackages = resolve));
  const likeThose = async (user: Newcomer): Promise<unknown> => {
    await packages;
    return user.sh("cp -al ../copy/node_modules .");
  };

  /** Package → the steps of its README, and their output. */
  const works: Record<string, (user: Newcomer) => Promise<void>> = {
    async "pulumi-consortium"(user) {
      const installing = user.runs(/^npm install --save-exact/);
      // npm writes that list in place
      const copied = "mkdir ../copy\ncp -al node_modules ../copy\nrm ../copy/node_modules/.package-lock.json";
      gotPackages(installing.then(() => user.sh(copied)).then(() => undefined));
      await packages;
      const installed = await user.sh("npm ls --all --parseable");
      expect(installed.match(/node_modules\/(fastify|@foundry-rs\/anvil|ethers)$/gm)).toBeNull();
      expect(await user.sh("npm ls --parseable @pulumi/pulumi")).toMatch(/^.*\/node_modules\/@pulumi\/pulumi\n$/);
      await user.runs(/^printf/);
      user.write("index.ts", "ts");
      user.write("tsconfig.json", "json");
      expect(await user.sh("npx --no-install tsc")).toBe("");
      expect(await user.sh("npx --no-install pulumi-resource-consortium --version")).toBe(`${version}\n`);
      const { origin, spans } = await receiver();
      const begin = /^export PULUMI_CONFIG_PASSPHRASE/;
      const otel = `export OTEL_EXPORTER_OTLP_ENDPOINT=${origin}`;
      const up = "pulumi up --yes --skip-preview";
      expect(await user.runs(begin, /^pulumi stack init/, otel, up)).toMatch(/\+ 9 created/);
      expectSpans(spans(), join(folder, "pulumi-consortium"), "2");
      const change = "sed -i -e 's/Who shipped/Who sent/' -e 's/, { protect: true }//' index.ts";
      expect(await user.runs(begin, change, `${up} --refresh`)).toMatch(/ ~ 1 updated\n +8 unchanged\n/);
      expect(await user.runs(begin, "pulumi destroy --yes --skip-preview")).toMatch(/ - 9 deleted\n/);
      const [own] = service.organizations;
      expect(service.store.consortia.list().filter(({ parent }) => parent === own!.id)).toEqual([]);
    },
    async "consortium-service"(user) {
      await user.runs(/^npm install/);
      await user.starts(/^npx .* --data/, async (printed) => {
        const exports = printed.match(/^ *export .*$/gm)!.join("\n");
        const call = 'curl -sf -H "Authorization: Bearer $CONSORTIUM_API_KEY" "$CONSORTIUM_BASE_URL/consortia"';
        expect(await user.sh(`${exports}\n${call}`)).toBe("[]");
      });
      user.write("test.mjs", "js");
      expect(await user.sh("node test.mjs")).toMatch(/^ +name: 'trade'$/m);
    },
    async "consortium-console"(user) {
      await likeThose(user);
      await user.runs(/^npm install/);
      await user.starts(/^npx --no-install consortium-console$/, async (printed) => {
        const [link = ""] = /http\S+\/sign-in\/\S+/.exec(printed)!;
        const entered = await fetch(link, { redirect: "manual" });
        const cookie = entered.headers.get("set-cookie")!;
        const page = await fetch(new URL(entered.headers.get("location")!, link), { headers: { cookie } });
        expect(await page.text()).toContain("<title>");
      });
    },
    async "consortium-fleet"(user) {
      await likeThose(user);
      await user.runs(/^npm install/);
      user.write("networks/trade.yaml", "yaml");
      user.write("fleet.yaml", "yaml", 1);
      const begin = /^export PULUMI_CONFIG_PASSPHRASE/;
      expect(await user.runs(begin, /consortium-fleet preview/)).toContain("1 of 1 stack ok; 8 to be created");
      expect(await user.runs(begin, /consortium-fleet up/)).toContain("1 of 1 stack ok; 8 created");
    },
  };

  test.each(Object.keys(works))("%s", (name) => outcomes[name]);
});

const network = `name: e2e
runtime: yaml
resources:
  trade:
    type: consortium:Network
    properties:
      members: [harbour]
      environments:
        ledger: { provider: quorum, consensusType: ibft, nodes: { harbour: 1 } }
`;

test("the plugin needs no Node.js: a YAML network with its component, without Node.js on the PATH", async () => {
  const archive = join(release, "plugin", names("plugin")[0]!);
  const w = await world(network, { language: "yaml", timing: { environmentStart: 0, nodeStart: 0 } });
  const { stack } = w;
  const bin = join(stack.folder, "bin");
  mkdirSync(bin);
  const pulumi = dirname((await cliWithLanguages()).command);
  for (const name of ["pulumi", "pulumi-language-yaml"]) symlinkSync(join(pulumi, name), join(bin, name));
  Object.assign(stack.env, { PATH: bin, PULUMI_HOME: join(stack.folder, "home"), TERM: "dumb" });
  stack.write("Pulumi.yaml", network); // without the path of the plugin in this repository
  await stack.ok(["plugin", "install", "resource", "consortium", `v${version}`, "--file", archive]);
  const chosen = ["--stack", "test"]; // another home knows nothing of the one that is selected
  expect(await stack.up({}, ...chosen)).toMatchObject({
    code: 0,
    text: expect.stringContaining("+ 7 created") as string,
  });
  expect(await stack.destroy({}, ...chosen)).toMatchObject({ code: 0 });
  expect((await w.network()).consortia).toEqual([]);
});

describe("the images of examples/docker, whose lines run here in a folder", () => {
  const folder = temporary();
  const file = (name: string): string => readFileSync(join(root, "examples/docker", name), "utf8");
  const compose = parse(file("compose.yaml")) as {
    services: Record<"consortium" | "pulumi", { command: string[]; environment: Record<string, string> }>;
  };
  /** Its paths lead into the folder, where nobody has another user's files. */
  const here = (line: string): string =>
    line
      .replace(/(^|[\s"])(?=\/(tmp|root|data|state|opt)\b)/g, `$1${folder}`)
      .replace("--owner=node --group=node ", "");
  const env: NodeJS.ProcessEnv = {
    ...neutralEnv(),
    HOME: join(folder, "root"),
    PULUMI_HOME: undefined,
    npm_config_prefix: join(folder, "usr"),
    TARGETARCH: platform.split("-")[1],
  };
  const sh = (script: string, more: NodeJS.ProcessEnv = {}, cwd = folder) =>
    promisify(execFile)("sh", ["-ec", here(script)], { cwd, env: { ...env, ...more } });

  /** Does what its COPY and RUN say. */
  async function build(dockerfile: string): Promise<void> {
    for (const instruction of DockerfileParser.parse(file(dockerfile)).getInstructions()) {
      const line = instruction.getRawArgumentsContent()!;
      if (instruction.getKeyword() === "ENV") Object.assign(env, Object.fromEntries([here(line).split("=")]));
      if (instruction.getKeyword() === "RUN") await sh(line);
      if (instruction.getKeyword() !== "COPY") continue;
      const [from, to] = line.split(" ");
      await sh(`mkdir -p ${to}\ncp "$RELEASE"/${from} ${to}`, { RELEASE: release });
    }
  }
  /** The program and its arguments. */
  const exec = (instruction: Instruction | undefined): string[] =>
    JSON.parse(/\[.*\]/.exec(instruction!.getRawArgumentsContent()!)![0]) as string[];

  test("the service is healthy while it runs, and Pulumi previews examples/yaml against it with the plugin of the release", async () => {
    const node = dirname(await nodeOf("24"));
    const pulumi = dirname((await cliWithLanguages()).command);
    const paths = process.env.PATH!.split(delimiter).filter((path) => !path.endsWith("node_modules/.bin")); // they have our plugin
    env.PATH = [join(folder, "usr/bin"), node, pulumi, ...paths].join(delimiter);
    await Promise.all(["service.Dockerfile", "pulumi.Dockerfile"].map(build));
    expect(await sh("stat -c %a /data")).toMatchObject({ stdout: "700\n" });

    const dockerfile = DockerfileParser.parse(file("service.Dockerfile"));
    const [program, ...args] = exec(dockerfile.getENTRYPOINTs()[0]).map(here);
    const [check, ...checkArgs] = exec(dockerfile.getHEALTHCHECKs()[0]);
    const port = await freePort();
    const healthy = async () => {
      const at = checkArgs.map((one) => one.replace(":4280/", `:${port}/`));
      return promisify(execFile)(check!, at, { env }).then(
        () => true,
        () => false,
      );
    };
    expect((await sh("consortium-service --help")).stdout).toMatch(/--port <port>[^(]*\(default: 4280/);
    expect(await healthy()).toBe(false);
    const more = [...compose.services.consortium.command, "--port", String(port)];
    const service = spawn(program!, [...args, ...more], { env, stdio: "ignore" });
    try {
      await until(healthy);
      const example = join(folder, "yaml");
      cpSync(join(root, "examples/yaml"), example, { recursive: true });
      const { command, environment } = compose.services.pulumi;
      mkdirSync(join(folder, "state"));
      expect(resolveProviderSettings({}, { ...environment, CONSORTIUM_API_KEY: "k" }).baseUrl).toBe(
        "http://consortium:4280/api/v1",
      );
      const settings = {
        ...Object.fromEntries(
          Object.entries(environment).map(([name, value]) => [name, value.replace("/state", `${folder}/state`)]),
        ),
        CONSORTIUM_BASE_URL: `http://127.0.0.1:${port}/api/v1`,
        PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
      };
      const { stdout } = await sh(command[2]!.replaceAll("$$", "$"), settings, example);
      expect(stdout).toContain("+ 11 to create");
      expect(stdout).not.toContain("warning");
    } finally {
      service.kill();
      await once(service, "exit");
    }
    expect(await healthy()).toBe(false);
  });
});
