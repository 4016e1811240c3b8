import { PassThrough } from "node:stream";
import { confirm } from "../../cli/shared/terminal";
import { exactly } from "../../cli/sweep";
import { type Service, type ServiceOptions, startService } from "../../service/index";
import { send } from "../support/network";
import { containing } from "../service/helpers";
import { connection, consortium } from "./command";
import { found } from "./found";

const hour = 3_600_000;
let service: Service;
/** How far the service's clock is slow. */
let behind: number;
beforeEach(() => begin());
afterEach(() => service.close());

/** Builds it through the API, as a test run would, some hours ago. */
async function make(path: string, body: object, hoursAgo = 3): Promise<string> {
  behind = hoursAgo * hour;
  const { _id, id } = await send(service, "POST", path, body);
  behind = 0;
  return _id ?? id;
}

const kind = { provider: "quorum", consensus_type: "raft" };

/** A consortium with one of each in it. */
async function whole(name: string, hoursAgo: number, inner = "inside") {
  const c = await make("/consortia", { name }, hoursAgo);
  const m = await make(`/consortia/${c}/memberships`, { org_name: inner }, hoursAgo);
  const e = await make(`/consortia/${c}/environments`, { name: inner, ...kind }, hoursAgo);
  const within = `/consortia/${c}/environments/${e}`;
  const n = await make(`${within}/nodes`, { name: inner, membership_id: m }, hoursAgo);
  const a = await make(`${within}/appcreds`, { name: inner, membership_id: m }, hoursAgo);
  return { c, m, e, n, a, within };
}

/** Each test starts with a service, and may replace it. */
async function begin(options: ServiceOptions = {}): Promise<void> {
  await service?.close();
  behind = 1_000 * hour;
  service = await startService({
    clock: () => Date.now() - behind,
    limits: { consortia: 9, environments: 9, nodes: 9 },
    timing: { environmentStart: 0, nodeStart: 0, deletedVisible: 300 },
    ...options,
  });
}

/** Settings besides those of the service. */
let settings: Record<string, string> = {};
afterEach(() => void (settings = {}));

const run = (...args: string[]) => consortium(args, { ...connection(service), ...settings });
const sweep = (...args: string[]) => run("sweep", ...args);
const old = ["--prefix", "test-", "--older-than", "2h"];
const sweepOld = (...args: string[]) => sweep(...old, ...args);
const deleted = (count: number) => ({ code: 0, stdout: containing(`Deleted ${count} of ${count}`) });

const stores = ["consortia", "memberships", "environments", "nodes", "credentials"] as const;
const names = (): string[] =>
  stores.flatMap((store) =>
    service.store[store].list().map(({ fields }) => ("org_name" in fields ? fields.org_name : fields.name) ?? ""),
  );
const deletions = (): string[] =>
  service.calls.filter(({ method }) => method === "DELETE").map(({ path }) => path.split("/").at(-2)!);

test("without --yes, a tree of matching objects that are old enough is listed, also as JSON, and nothing is deleted", async () => {
  await whole("prod", 50);
  const { c, e, n } = await whole("test-old", 3);
  await whole("test-young", 1);
  const { code, stdout } = await sweepOld();
  expect(code).toBe(0);
  expect(stdout).toContain(`consortium "test-old" (${c}), 3 hours old`);
  expect(stdout).toContain(`    node "inside" (${n}), 3 hours old`);
  expect(stdout).not.toMatch(/test-young|prod/);
  expect(stdout).toContain("Nothing was deleted of 5 objects: --yes deletes without asking.");
  const json = await sweepOld("--json");
  const said = JSON.parse(json.stdout) as { found: object[]; deleted: string[] };
  expect([json.code, said.found.length, said.deleted]).toEqual([0, 5, []]);
  const environment = { kind: "environment", id: e, name: "inside", consortiumId: c };
  expect(said.found).toContainEqual(expect.objectContaining(environment));
  const none = await sweep("--prefix", "none-", "--older-than", "2h", "--yes");
  expect(none).toMatchObject({ code: 0, stdout: "Nothing matches.\n" });
  expect(deletions()).toEqual([]);
});

describe("deletion", () => {
  test("whole consortia, children before parents, and nothing that does not match", async () => {
    await begin({ timing: { environmentStart: 0, nodeStart: 0, deleting: 400 } });
    await whole("test-1", 3);
    await whole("test-2", 48);
    await whole("prod", 50);
    await whole("test-young", 1);
    service.clearCalls();
    expect(await sweepOld("--yes")).toMatchObject(deleted(10));
    const both = ["environments", "memberships", "consortia"].flatMap((one) => [one, one]);
    expect(deletions()).toEqual(both);
    expect(names().sort()).toEqual(["prod", "test-young", ...Array<string>(8).fill("inside")].sort());
  });

  test("single objects elsewhere, each by its own name and age", async () => {
    const { c, m, within } = await whole("prod", 50);
    await make(`/consortia/${c}/environments`, { name: "test-env", ...kind }, 5);
    const member = await make(`/consortia/${c}/memberships`, { org_name: "test-member" }, 5);
    await make(`${within}/nodes`, { name: "test-node", membership_id: member }, 5);
    await make(`${within}/nodes`, { name: "test-other", membership_id: m }, 5);
    await make(`${within}/appcreds`, { name: "test-own", membership_id: member }, 5);
    await make(`${within}/appcreds`, { name: "test-cred", membership_id: m }, 5);
    await make(`/consortia/${c}/environments`, { name: "test-young", ...kind }, 1);
    const { kept } = JSON.parse((await sweepOld("--json")).stdout) as { kept: { name: string }[] };
    expect(kept.map(({ name }) => name)).toEqual(["test-cred"]); // the other one goes with its member
    const { code, stdout } = await sweepOld("--yes");
    expect(code).toBe(0);
    expect(stdout).toMatch(/consortium "prod" \(\w+\), stays/);
    expect(stdout).toMatch(/credential "test-cred" \(\w+\), stays: the service does not show its age \(--undated\)/);
    expect(names().sort()).toEqual([...Array<string>(4).fill("inside"), "prod", "test-cred", "test-young"].sort());

    await sweepOld("--undated", "--yes");
    expect(names()).not.toContain("test-cred");
  });

  test("a member stays while it owns an object that does not match", async () => {
    const { c, within } = await whole("prod", 50);
    const member = await make(`/consortia/${c}/memberships`, { org_name: "test-member" }, 5);
    const node = await make(`${within}/nodes`, { name: "precious", membership_id: member }, 5);
    const { code, stdout } = await sweepOld("--yes");
    expect(code).toBe(0);
    expect(stdout).toContain(`membership "test-member" (${member}), stays: it owns node "precious" (${node})`);
    expect(deletions()).toEqual([]);
  });

  test("everything else in a consortium goes with it or before it", async () => {
    const { c, m, within } = await whole("test-1", 3);
    const place = { region: "us-east-2", cloud: "aws" };
    await make(`/consortia/${c}/zones`, { name: "z", ...place });
    await make(`/consortia/${c}/invitations`, { org_name: "third", email: "ops@third.example" });
    const zone = await make(`${within}/zones`, { name: "z", ...place });
    const gas = { name: "gas", type: "node_config", membership_id: m };
    const node_config_id = await make(`${within}/configurations`, gas);
    await make(`${within}/nodes`, { name: "configured", membership_id: m, node_config_id });
    await make(`${within}/services`, { name: "ids", service: "idregistry", membership_id: m, zone_id: zone });
    service.clearCalls();
    expect(await sweepOld("--yes")).toMatchObject(deleted(11));
    expect(deletions()).toEqual(["environments", "invitations", "memberships", "zones", "consortia"]);
  });

  test("shared objects stay: zones of nodes and services that stay, and utility services", async () => {
    const { c, m, within } = await whole("prod", 50);
    const ohio = { region: "us-east-2", cloud: "aws" };
    const used = await make(`${within}/zones`, { name: "test-used", ...ohio }, 5);
    await make(`${within}/zones`, { name: "test-unused", region: "eu-west-1", cloud: "aws" }, 5);
    const above = await make(`/consortia/${c}/zones`, { name: "test-above", ...ohio }, 5);
    const gas = { type: "node_config", membership_id: m };
    const node_config_id = await make(`${within}/configurations`, { name: "test-used-gas", ...gas }, 5);
    await make(`${within}/nodes`, { name: "precious", membership_id: m, zone_id: used, node_config_id }, 5);
    const ids = await make(`${within}/services`, { name: "test-ids", service: "idregistry", membership_id: m }, 5);
    const documents = { name: "test-documents", service: "documentstore", membership_id: m, zone_id: used };
    await make(`${within}/services`, documents, 5);
    await make(`${within}/configurations`, { name: "test-gas", ...gas }, 5);
    await make(`/consortia/${c}/invitations`, { org_name: "test-third", email: "ops@third.example" }, 5);

    const listed = await sweepOld();
    const shared = "the members of its environment share it (--id deletes it)";
    expect(listed.stdout).toContain(`service "test-ids" (${ids}), stays: ${shared}`);
    expect(listed.stdout).toMatch(/configuration "test-used-gas" \(\w+\), stays: node "precious" \(\w+\) uses it/);
    service.clearCalls();
    const { code, stdout, stderr } = await sweepOld("--yes", "--json");
    expect(code).toBe(0);
    expect(stderr).toMatch(new RegExp(`^left: zone "test-used" \\(${used}\\), because the node \\w+ runs there$`, "m"));
    expect(stderr).toMatch(
      new RegExp(`^left: zone "test-above" \\(${above}\\), because the environment \\w+ has a zone`, "m"),
    );
    const said = JSON.parse(stdout) as { kept: { id: string }[]; failed: object[] };
    expect(said.failed).toEqual([]);
    expect(said.kept.map(({ id }) => id).sort()).toEqual([ids, used, above, node_config_id].sort());
    expect(deletions().sort()).toEqual(["configurations", "invitations", "services", "zones"]);

    await sweep("--id", ids, "--yes");
    expect(service.store.services.list()).toEqual([]);
  });

  test("a destination is identified within its service: its name does not select others with the same name", async () => {
    const { c, m, within } = await whole("prod", 50);
    const registry = await make(`${within}/services`, { name: "ids", service: "idregistry", membership_id: m });
    const stores: string[] = [];
    for (const name of ["one", "two"])
      stores.push(await make(`${within}/services`, { name, service: "documentstore", membership_id: m }));
    await send(service, "POST", `/consortia/${c}/memberships/${m}/verify`, { test_certificate: true });
    await send(service, "POST", `/idregistry/${registry}/identity`, { membership_id: m });
    for (const id of stores) await send(service, "PUT", `/documentstore/${id}/destinations/inbox`, { name: "inbox" });
    const none = await sweep("--id", "inbox", "--yes");
    expect(none.stderr).toContain("lists nothing of this organization with the id inbox");
    const { stdout } = await sweep("--id", `${stores[0]}/inbox`, "--yes");
    expect(stdout).toContain(`destination "inbox" (${stores[0]}/inbox)`);
    expect(service.calls.filter(({ method }) => method === "DELETE").map(({ path }) => path)).toEqual([
      expect.stringContaining(`/documentstore/${stores[0]}/destinations/inbox`),
    ]);
  });

  test("failures are reported at the end, and the rest is deleted", async () => {
    const locked = new Map<string, { c: string; e: string }>();
    for (const name of ["test-1", "test-3"]) locked.set(name, await whole(name, 3));
    await whole("test-2", 3);
    const refusal = { kind: "status", status: 403, errorMessage: "locked" } as const;
    for (const { e } of locked.values()) service.faults.add({ ...refusal, method: "DELETE", route: new RegExp(e) });
    const { code, stdout, stderr } = await sweepOld("--yes", "--json");
    expect(code).toBe(1);
    const said = JSON.parse(stdout) as { deleted: string[]; failed: { id: string }[] };
    for (const [name, { c, e }] of locked) {
      expect(stderr).toMatch(new RegExp(`not deleted: environment "inside" \\(${e}\\): .*HTTP 403: locked`));
      expect(stderr).toMatch(
        new RegExp(`not deleted: consortium "${name}" \\(${c}\\): not tried, because environment`),
      );
      expect(said.failed.map(({ id }) => id)).toEqual(expect.arrayContaining([e, c]));
      expect(names()).toContain(name);
    }
    expect(names()).not.toContain("test-2");
  });

  test("what cannot be deleted by itself, twice, and goes with its consortium is no failure", async () => {
    await begin({ answers: { refuseChildren: false } });
    const { c } = await whole("test-1", 3);
    for (const org_name of ["third", "fourth"])
      await make(`/consortia/${c}/invitations`, { org_name, email: `ops@${org_name}.example` });
    const locked = { kind: "status", status: 403, errorMessage: "locked", times: Infinity } as const;
    service.faults.add({ ...locked, method: "DELETE", route: "/consortia/:consortiumId/invitations/:invitationId" });
    const founding = { method: "DELETE", route: "/consortia/:consortiumId/memberships/:membershipId" };
    service.faults.add({ ...founding, kind: "status", status: 405, times: Infinity });
    expect(await sweepOld("--yes")).toMatchObject(deleted(7));
    expect(names()).toEqual([]);
  });
});

describe("by id", () => {
  test("deletes exactly the object that a warning named", async () => {
    const { m, a, within } = await whole("prod", 50);
    const twin = await make(`${within}/appcreds`, { name: "inside", membership_id: m }, 5);
    service.clearCalls();
    expect(await sweep("--id", twin, "--yes")).toMatchObject(deleted(1));
    expect(service.store.credentials.list().map(({ id }) => id)).toEqual([a]);
    expect(deletions()).toEqual(["appcreds"]);
  });

  test("in another organization's consortium, only its own objects match, and the consortium does not", () => {
    const own = found("node", "n1", { name: "own" });
    const theirs = { ...found("node", "n2", { name: "theirs" }), ofOthers: "o2" };
    const environment = { ...found("environment", "e1", {}, [own, theirs]), ofOthers: "o2" };
    const shared = { ...found("consortium", "c1", {}, [environment]), ofOthers: "o2" };
    expect([...exactly([shared], ["n1"]).going]).toEqual([own]);
    for (const id of ["n2", "e1", "c1"])
      expect(() => exactly([shared], ["n1", id])).toThrow(`lists nothing of this organization with the id ${id}.`);
  });

  test("an unknown id: nothing is deleted, not even the others", async () => {
    const { a } = await whole("prod", 50);
    const { code, stderr } = await sweep("--id", a, "nobody", "--yes");
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: containing("lists nothing of this organization with the id nobody"),
    });
    expect(deletions()).toEqual([]);
  });
});

test("with the key of another organization than the settings require, sweep and export do nothing", async () => {
  await whole("test-1", 3);
  settings = { CONSORTIUM_ORGANIZATION: "o-other" };
  const swept = await sweepOld("--yes");
  const exported = await run("export", "--consortium", "test-1");
  for (const { code, stdout, stderr } of [swept, exported]) {
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain(
      "The organization must be o-other (environment variable CONSORTIUM_ORGANIZATION), but the API key",
    );
  }
  expect(deletions()).toEqual([]);
});

test.each([
  ["neither names nor ids", [], "either --prefix and --older-than, or --id"],
  ["names and ids", [...old, "--id", "x"], "either --prefix and --older-than, or --id"],
  ["an empty prefix", ["--prefix", " ", "--older-than", "2h"], "An empty prefix would match everything"],
  ["no age", ["--prefix", "test-"], "either --prefix and --older-than, or --id"],
  ["an age without a unit", ["--prefix", "test-", "--older-than", "2"], "90m, 2h or 1d"],
])("%s is refused before any call", async (_, args, why) => {
  const { code, stderr } = await sweep(...args, "--yes");
  expect({ code, stderr }).toEqual({ code: 1, stderr: containing(why) });
  expect(service.calls).toEqual([]);
});

test.each([
  ["y", true, true],
  ["yes", true, true],
  ["", true, false],
  ["n", true, false],
  ["y", false, false],
])("asked, %j on a terminal (%j) means %j", async (answer, isTTY, meaning) => {
  const input = Object.assign(new PassThrough(), { isTTY });
  input.write(`${answer}\n`);
  expect(await confirm("Delete?", { input, output: new PassThrough() })).toBe(meaning);
  expect(input.isPaused()).toBe(isTTY); // or the process would not end
});
