import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { root, type Stack } from "../support/stack";
import { world, type World } from "../support/world";

/* The range of @pulumi/pulumi that package.json names: a short life with the oldest and with the newest, as a user installs them. */

const execute = promisify(execFile);
const { peerDependencies, devDependencies } =
  jest.requireActual<Record<"peerDependencies" | "devDependencies", Record<string, string>>>("../../../package.json");
const [, oldest, newest] = /^>=(\S+) <=(\S+)$/.exec(peerDependencies["@pulumi/pulumi"]!)!;

const packed = mkdtempSync(join(tmpdir(), "consortium-packed-"));
let w: World | undefined;
beforeAll(async () => {
  await execute("npm", ["pack", "--ignore-scripts", "--pack-destination", packed], { cwd: root });
});
afterEach(() => w?.close());
afterAll(() => rmSync(packed, { recursive: true, force: true }));

const program = `
  const { Consortium, Environment, Membership, Provider, getConsortiaOutput } = require("pulumi-consortium");
  const provider = new Provider("own", { apiKey: process.env.CONSORTIUM_API_KEY });
  const consortium = new Consortium("c", { description: "of the program" }, { provider });
  new Environment("e", { consortium, provider: "geth", consensusType: "poa" }, { parent: consortium });
  new Membership("m", { consortium }, { parent: consortium });
  exports.seen = getConsortiaOutput({}, { provider, dependsOn: consortium }).apply((found) => found.map(({ name }) => name));
`;

async function install(stack: Stack, version: string): Promise<void> {
  rmSync(join(stack.folder, "node_modules"), { recursive: true });
  const tarball = join(
    packed,
    readdirSync(packed).find((file) => file.endsWith(".tgz"))!,
  );
  writeFileSync(join(stack.folder, "package.json"), '{ "name": "user", "private": true, "main": "index.js" }');
  const flags = ["--no-audit", "--no-fund", "--prefer-offline", "--omit=optional"];
  await execute("npm", ["install", ...flags, tarball, `@pulumi/pulumi@${version}`], { cwd: stack.folder });
}

test("the newest is the one that everything else is tested with", () => {
  expect(devDependencies["@pulumi/pulumi"]).toBe(newest);
});

test.each([oldest, newest])(
  "@pulumi/pulumi %s: up, a refresh that shows a change by hand, destroy",
  async (version) => {
    const { stack, service, network } = (w = await world(program));
    await install(stack, version!);
    await stack.ok(["up", "--yes", "--skip-preview"]);
    expect(await stack.outputs()).toEqual({ seen: ["c"] });

    const [{ _id: id }] = (await network()).consortia as [{ _id: string }];
    const headers = { authorization: `Bearer ${service.apiKey}`, "content-type": "application/json" };
    const body = JSON.stringify({ description: "by hand" });
    const changed = await fetch(`${service.baseUrl}/consortia/${id}`, { method: "PATCH", headers, body });
    expect(changed.status).toBe(200);

    await stack.ok(["refresh", "--yes", "--skip-preview"]);
    const found = (await stack.resources()).find(({ type }) => type.endsWith(":Consortium"))!;
    expect(found.inputs.description).toBe("by hand");
    const { text } = await stack.ok(["up", "--yes", "--skip-preview"]);
    expect(text).toMatch(/1 updated/);
    expect((await network()).consortia).toMatchObject([{ description: "of the program" }]);

    await stack.ok(["destroy", "--yes", "--skip-preview"]);
    expect((await network()).consortia).toEqual([]);
  },
);
