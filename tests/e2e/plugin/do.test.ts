import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { done, root } from "../support/stack";
import { type World, world } from "../support/world";

/* `pulumi do` of the newest CLI, as docs/do.md shows it: with a stack and without. */

jest.setTimeout(1_800_000); // the first time, that CLI is built

let w: World;
const home = mkdtempSync(join(tmpdir(), "consortium-home-"));
const pulumi = (...args: string[]) => w.stack.run(args, { PULUMI_HOME: home });
const asked = async (...args: string[]): Promise<unknown> => JSON.parse((await done(pulumi("do", ...args))).stdout);
const stateless = (...args: string[]) => pulumi("do", "--stateless", ...args);

interface Item {
  id: string;
  name: string;
}
const list = (type: string, ...args: string[]) => asked(`consortium:index:${type}`, "list", ...args) as Promise<Item[]>;

beforeAll(async () => {
  w = await world("resources: {}\n", { language: "yaml", release: "newest", ledger: false, limits: { consortia: 3 } });
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
  const packed = join(home, "plugin.tar.gz");
  execFileSync("tar", ["czf", packed, "-C", join(root, "plugin"), "pulumi-resource-consortium", "dist"]);
  await done(pulumi("plugin", "install", "resource", "consortium", `v${version}`, "--file", packed));
});

test("without a stack: create, list, read, patch and delete, by ids and by paths of names", async () => {
  await done(stateless("consortium:index:Consortium", "create", "--yes", "--name", "trade"));
  const [trade] = await list("Consortium");
  expect(trade).toEqual({ id: expect.any(String) as string, name: "trade" });
  await done(
    stateless("consortium:index:Membership", "create", "--yes", "--consortium-id", trade!.id, "--org-name", "mill"),
  );
  w.stack.write(
    "prod.pp",
    `consortiumId = "${trade!.id}"\nname = "prod"\nprovider = "quorum"\nconsensusType = "raft"\n`,
  );
  const environment = ["create", "--yes", "--input", "pcl", "--input-file", "prod.pp"];
  await done(stateless("consortium:index:Environment", ...environment));
  const [mill] = await list("Membership", "--consortium-id", "trade", "--count", "1");
  const [prod] = await list("Environment");
  const [, member = ""] = (await list("Membership")).find(({ name }) => name === "mill")!.id.split("/");
  const [consortiumId = "", environmentId = ""] = prod!.id.split("/");
  const place = ["--consortium-id", consortiumId, "--environment-id", environmentId, "--membership-id", member];
  await done(stateless("consortium:index:Node", "create", "--yes", ...place, "--name", "mill-1"));
  expect(mill).toBeDefined();
  const [node] = await list("Node", "--environment-id", "prod");
  const read = await asked("--stateless", "consortium:index:Node", "read", "trade/prod/mill-1", "--output", "json");
  expect(read).toMatchObject({ id: node!.id.split("/")[2], name: "mill-1" });
  await done(stateless("consortium:index:Node", "patch", "trade/prod/mill-1", "--yes", "--name", "mill-2"));
  expect(await list("Node")).toEqual([{ id: node!.id, name: "mill-2" }]);
  const nodes = await asked("consortium:index:getNodes", ...place.slice(0, 4));
  expect(nodes).toMatchObject({ nodes: [{ name: "mill-2" }] });
  // Without a confirmation, nothing is deleted, and the losses are shown before the question.
  expect((await stateless("consortium:index:Environment", "delete", "trade/prod")).code).not.toBe(0);
  const dry = await done(stateless("consortium:index:Environment", "delete", "trade/prod", "--dry-run"));
  expect(dry.text).toMatch(/DELETING AN ENVIRONMENT DESTROYS ITS LEDGER[^]*This would delete/);
  expect(await list("Environment")).toHaveLength(1);
  await done(stateless("consortium:index:Node", "delete", "trade/prod/mill-2", "--yes"));
  await done(stateless("consortium:index:Environment", "delete", prod!.id, "--yes"));
  expect(await list("Environment")).toEqual([]);
});

test("with a stack: the resource is the stack's, and is deleted by name", async () => {
  const [trade] = await list("Consortium");
  const changed = (...args: string[]) => done(pulumi("do", "consortium:index:Membership", ...args, "--yes"));
  await changed("create", "grower", "--consortium-id", trade!.id);
  const owned = async () => (await w.stack.resources()).map(({ type }) => type);
  expect(await owned()).toContain("consortium:index:Membership");
  await changed("delete", "grower");
  expect(await owned()).not.toContain("consortium:index:Membership");
  expect((await list("Membership")).map(({ name }) => name)).not.toContain("grower");
});
