import { execFile, execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { platform } from "../../../tools/lib/nodes.mjs";
import { cliWithLanguages, virtualEnvironment } from "../support/languages/sdk";
import { root } from "../support/stack";
import { world } from "../support/world";

/* What `npm run release` writes, as its users take it. The npm package has tests of its own. */

const { version } = jest.requireActual<{ version: string }>("../../../package.json");
const release = join(root, "release");
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
  const args = [join(root, "tools/release.mjs"), "--platforms", platform];
  await promisify(execFile)(process.execPath, args, { cwd: root, maxBuffer: 2 ** 26 });
}, 600_000);

test("all parts are there, of one version, and their checksums hold", () => {
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

test("each part has a bill of all that is in it or comes with it, and the licences", () => {
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
  expect(namesIn(npm.components.find(({ name }) => name === "pulumi-resource-consortium")!)).toEqual(
    expect.arrayContaining(bundled),
  );
  expect(namesIn(bill(archive))).toEqual(expect.arrayContaining([...bundled, "node"]));
  expect(namesIn(bill(wheel))).toEqual(expect.arrayContaining(["pulumi", "grpcio"]));

  const packed = join(release, "plugin", `${archive}.tar.gz`);
  const text = (name: string) => execFileSync("tar", ["-xzOf", packed, name], { encoding: "utf8", maxBuffer: 2 ** 24 });
  expect(text("LICENSE")).toContain("Apache License");
  expect(text("LICENSE-nodejs")).toContain("Node.js is licensed");
  for (const name of bundled) expect(text("THIRD-PARTY-NOTICES")).toMatch(new RegExp(`^${name} \\d`, "m"));
  expect(text("THIRD-PARTY-NOTICES")).toContain("Redistribution and use in source and binary forms");
  const inWheel = execFileSync("unzip", ["-l", join(release, "python", wheel)], { encoding: "utf8" });
  expect(inWheel).toContain("LICENSE");
});

test("the Python wheel installs, and has the classes", async () => {
  const python = join(await virtualEnvironment(), "bin", "python");
  const target = mkdtempSync(join(tmpdir(), "consortium-wheel-"));
  try {
    const wheel = join(release, "python", `pulumi_consortium-${version}-py3-none-any.whl`);
    const pip = ["-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--disable-pip-version-check"];
    execFileSync(python, [...pip, "--target", target, wheel]);
    const program = "import pulumi_consortium as c; print(c.Node.__name__, c.get_nodes.__name__)";
    const env = { ...process.env, PYTHONPATH: target };
    expect(execFileSync(python, ["-c", program], { env, encoding: "utf8" })).toBe("Node get_nodes\n");
  } finally {
    rmSync(target, { recursive: true });
  }
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

test("the plugin needs no Node.js: a YAML network with its component, where there is none on the PATH", async () => {
  const archive = join(release, "plugin", names("plugin")[0]!);
  const w = await world(network, { language: "yaml", timing: { environmentStart: 0, nodeStart: 0 } });
  const { stack } = w;
  try {
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
  } finally {
    await w.close();
  }
});
