import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { send, startPinning } from "../../support/network";
import { failed, root, Stack, onNewest } from "../support/stack";
import { canaryKey, tetherId, type World, world, writesOf } from "../support/world";

/** A network that was made by hand comes into a stack with Pulumi's own import, and nothing of it is touched. */

let w: World;

const post = async (path: string, body: object) => {
  const made = await send(w.service, "POST", path, body);
  return { ...made, id: made._id ?? made.id, password: String(made.password) };
};

const env = () => ({ CONSORTIUM_BASE_URL: w.service.baseUrl, CONSORTIUM_API_KEY: canaryKey });
const changing = () => writesOf(w.service);
const members = ["Globex & Co.", "globex co", "東京", "acme", "true"];
const ids: Record<string, string> = {};
const passwords: string[] = [];

/** One consortium, five members, three environments with four nodes and three credentials each: 30 objects; and a tether. */
beforeAll(async () => {
  const quick = { timing: { environmentStart: 0, nodeStart: 0 }, limits: { consortia: 2, environments: 3, nodes: 4 } };
  w = await world("resources: {}\n", { language: "yaml", inline: true, plugin: true, ledger: false, ...quick });
  const { id } = await post("/consortia", { name: "Kaffee / Tee", description: "made by hand" });
  const within = `/consortia/${id}`;
  const owners: string[] = [];
  for (const org_name of members) owners.push((await post(`${within}/memberships`, { org_name })).id);
  for (const name of ["prod", "test / eu", "dev"]) {
    const environment = await post(`${within}/environments`, { name, provider: "quorum", consensus_type: "ibft" });
    const inside = `${within}/environments/${environment.id}`;
    ids[name] = environment.id;
    for (const [index, owner] of owners.slice(0, 4).entries())
      ids[`${name}/node-${index}`] = (
        await post(`${inside}/nodes`, { name: `acme-${index + 1}`, membership_id: owner })
      ).id;
    for (const credential of ["acme-1", "ERP", "app"]) {
      const made = await post(`${inside}/appcreds`, { name: credential, membership_id: owners[3] });
      ids[`${name}/${credential}`] = made.id;
      passwords.push(made.password);
    }
  }
  await startPinning(post, tetherId, 12);
  w.service.clearCalls();
});

test("two commands import 30 objects into a YAML program, which changes nothing", async () => {
  const args = [join(root, "dist/cli/consortium.js"), "export", "--consortium", "Kaffee / Tee", "--import"];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: { ...process.env, ...env() } });
  w.stack.write("bulk.json", stdout);
  const imported = await w.stack.run([
    "import",
    "--file",
    "bulk.json",
    "--out",
    "program.yaml",
    "--yes",
    "--protect=false",
  ]);
  expect(imported).toMatchObject({ code: 0 });
  expect(imported.text).toContain("= 30 imported");
  expect(imported.text).toContain(
    "the password is not available: the service showed it only once. If your program needs one, declare another credential",
  );
  w.stack.rename("program.yaml", "Main.yaml");
  const preview = await w.stack.preview({}, "--refresh", "--expect-no-changes");
  expect(preview).toMatchObject({ code: 0 });
  expect(preview.text).toContain("31 unchanged");
  expect(changing()).toEqual([]);
  const said = imported.text + (await w.stack.exported());
  expect(passwords.filter((password) => said.includes(password))).toEqual([]);
});

const eu = "Kaffee %2F Tee/test %2F eu";
/** @param options of each resource: its import id is given to it */
const classes = (options: (id: string) => object): string => {
  const text = (id: string): string => JSON.stringify(options(id));
  return `
    const { AppCred, Consortium, Environment, Membership, Node, TetherService } = require("pulumi-consortium");
    const consortium = new Consortium("c", { name: "Kaffee / Tee", description: "made by hand" }, ${text("Kaffee %2F Tee")});
    const membership = new Membership("m", { consortium, orgName: "東京" }, ${text("Kaffee %2F Tee/東京")});
    const owner = new Membership("o", { consortium, orgName: "acme" }, ${text("Kaffee %2F Tee/acme")});
    const main = { consortium, name: "test / eu", provider: "quorum", consensusType: "ibft" };
    const environment = new Environment("e", main, ${text(eu)});
    new Node("n", { environment, membership, name: "acme-3" }, ${text(`${eu}/acme-3`)});
    new AppCred("a", { environment, membership: owner, name: "ERP" }, ${text(ids["test / eu/ERP"]!)});
    new TetherService("t", { tetherId: "${tetherId}", network: "rinkeby", intervalHours: 12 }, ${text(tetherId)});
  `;
};

describe("classes on the plugin", () => {
  let stack: Stack;
  beforeAll(async () => {
    stack = await Stack.create({ program: "", inline: true, plugin: true, env: env() });
    w.service.clearCalls();
  });

  test("the resource option imports, and may stay; get only reads; a missing object is one clear error", async () => {
    await stack.ok(["stack", "init", "second"]);
    stack.env.PULUMI_STACK = "second";
    stack.program(classes((id) => ({ import: id })));
    expect(await stack.up()).toMatchObject({ code: 0, text: expect.stringContaining("= 7 imported") as string });
    expect(await stack.preview({}, "--expect-no-changes")).toMatchObject({ code: 0 });
    stack.program(`${classes((id) => ({ import: id }))}
      const read = Node.get("read", "${ids["prod/node-0"]}", { consortium, environment: "${ids.prod}" });
      exports.read = read.name;
    `);
    expect(await stack.up()).toMatchObject({ code: 0 });
    expect(await stack.outputs("second")).toEqual({ read: "acme-1" });
    const missing = await failed(
      stack.run(["import", "consortium:index:Node", "x", "Kaffee %2F Tee/prdo/acme-1", "--yes"]),
    );
    expect(missing).toMatch(/There is no environment "prdo" in \S+; did you mean "prod"\?/);
    expect(changing()).toEqual([]);
  });

  test("a difference in the run that imports: later runs import the same object again, and delete nothing", async () => {
    await stack.ok(["stack", "init", "third"]);
    stack.env.PULUMI_STACK = "third";
    const differing = classes((id) => ({ import: id }))
      .replace("made by hand", "made by a program")
      .replace('"acme-3" }', '"acme-3", size: "medium" }');
    stack.program(differing);
    expect(await stack.up()).toMatchObject({ code: 0, text: expect.stringContaining("2 updated") as string });
    w.service.clearCalls();
    // Older releases forget by which text they imported them: they are replaced by themselves.
    const again = await stack.up();
    const said = onNewest ? "8 unchanged" : "2 replaced";
    expect(again).toMatchObject({ code: 0, text: expect.stringContaining(said) as string });
    if (!onNewest) expect(again.text).toMatch(/not deleted, because it is "n" of the program now/);
    expect(await stack.preview({}, "--expect-no-changes", "--refresh")).toMatchObject({ code: 0 });
    expect(changing()).toEqual([]);
    stack.env.PULUMI_STACK = "second";
  });

  test("destroy --run-program --refresh deletes a resource that was just renamed", async () => {
    await stack.ok(["stack", "init", "fourth"]);
    stack.env.PULUMI_STACK = "fourth";
    const solo = (name: string, options: string) =>
      `const { Consortium } = require("pulumi-consortium"); new Consortium("${name}", { name: "solo" }, ${options});`;
    stack.program(solo("c", "{}"));
    expect(await stack.up()).toMatchObject({ code: 0 });
    stack.program(solo("biz", '{ aliases: [{ name: "c" }] }'));
    expect(await stack.destroy({}, "--run-program", "--refresh")).toMatchObject({ code: 0 });
    expect(w.service.store.consortia.list().map(({ fields }) => fields.name)).toEqual(["Kaffee / Tee"]);
    stack.env.PULUMI_STACK = "second";
    w.service.clearCalls();
  });
});
