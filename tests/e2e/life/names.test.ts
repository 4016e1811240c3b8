import { spawnSync } from "node:child_process";
import { treeOf } from "../../../tools/lib/processes.mjs";
import { until } from "../../support/until";
import { done, failed, finished } from "../support/stack";
import { world, writesOf } from "../support/world";

/*
 * Names that are taken, with the real CLI. The rules are in provider/resources/names and provider/stacks/given-up: they are core's, so each
 * meets the engine once.
 */

const ledger = (name: string, ...more: string[]): string => `
  const { Consortium, Environment, Membership, Node } = require("pulumi-consortium");
  const consortium = new Consortium("c");
  const membership = new Membership("m", { consortium });
  const base = { consortium, provider: "quorum", consensusType: "raft" };
  const environment = new Environment("e", { ...base, name: ${JSON.stringify(name)} });
  const within = { environment, membership };
  ${more.join("\n")}
`;

describe("names", () => {
  const adapter = { inline: true, plugin: true };

  test("one step at a time, the name of a renamed or removed sibling is not adopted, and two runs work", async () => {
    const { stack, network } = await world(ledger("e", 'new Node("n", within);'), adapter);
    expect(await stack.up()).toMatchObject({ code: 0 });
    const [{ _id: id } = { _id: "" }] = (await network()).nodes;
    const given = 'const b = new Node("b", { ...within, name: "n" });';
    // Only this order makes sure that the resource that takes the name comes first.
    stack.program(ledger("e", given, 'new Node("n", { ...within, name: "other" }, { dependsOn: b });'));
    const removed = /If a resource of this stack has it, and this update renames or removes that one, do that first/;
    expect(await failed(stack.up({}, "--parallel", "1"))).toMatch(removed);
    stack.program(ledger("e", given));
    expect(await failed(stack.up({}, "--parallel", "1"))).toMatch(removed);
    expect((await network()).nodes).toMatchObject([{ _id: id, name: "n" }]);
    stack.program(ledger("e", 'new Node("n", { ...within, name: "other" });'));
    expect(await stack.up()).toMatchObject({ code: 0 });
    stack.program(ledger("e", given, 'new Node("n", { ...within, name: "other" });'));
    expect(await stack.up({}, "--parallel", "1")).toMatchObject({ code: 0 });
    expect((await network()).nodes.map(({ name }) => name).sort()).toEqual(["n", "other"]);
  });

  test("two names that are swapped in one run: the preview says how to do it in two, and that works", async () => {
    const named = (a: string, b: string): string =>
      ledger("e", `new Node("a", { ...within, name: "${a}" });`, `new Node("b", { ...within, name: "${b}" });`);
    const { service, stack, network } = await world(named("one", "two"), adapter);
    expect(await stack.up()).toMatchObject({ code: 0 });
    const ids = await stack.ids();
    service.clearCalls();
    stack.program(named("two", "one"));
    const how = /swaps names with "[ab]".*Give one of them a temporary name, run `pulumi up`, then set the final one/s;
    expect(await failed(stack.preview())).toMatch(how);
    expect(writesOf(service)).toEqual([]);
    for (const program of [named("spare", "two"), named("spare", "one"), named("two", "one")]) {
      stack.program(program);
      expect(await stack.up()).toMatchObject({ code: 0 });
    }
    expect((await network()).nodes.map(({ name }) => name).sort()).toEqual(["one", "two"]);
    expect(await stack.ids()).toEqual(ids);
  });

  test("--continue-on-error after a failed adoption: the object to adopt stays, with everything in it", async () => {
    const { service, stack, network } = await world(ledger("e", 'new Node("n", within);'), adapter);
    expect(await stack.up()).toMatchObject({ code: 0 });
    const before = await network();
    const renamed = (more: string): string =>
      ledger("e").replace(
        'new Environment("e", { ...base, name: "e" })',
        `new Environment("e2", { ...base, name: "e", ${more} })`,
      );
    service.clearCalls();
    stack.program(renamed('adopt: true, consensusType: "ibft"'));
    const text = await failed(stack.up({}, "--continue-on-error"));
    expect(text).toMatch(/cannot be adopted, because consensusType is raft, not ibft/);
    expect(text).toMatch(/Fix "e2", .*node "n" \(\w+\) is not deleted, because that asks for its parent and failed/);
    expect([writesOf(service), await network()]).toEqual([[], before]);
    stack.program(`${renamed("adopt: true")} new Node("n", within);`);
    expect(await done(stack.up())).toMatchObject({ code: 0 });
    expect([writesOf(service), await network()]).toEqual([[], before]);
  });

  test("deleteBeforeReplace with adopt: --replace keeps the object and everything in it", async () => {
    const environment = `new Environment("e", { ...base, adopt: true }, { deleteBeforeReplace: true })`;
    const program = ledger("e", 'new Node("n", within);').replace(
      'new Environment("e", { ...base, name: "e" })',
      environment,
    );
    expect(program).toContain(environment);
    const { service, stack, network } = await world(program, adapter);
    expect(await stack.up()).toMatchObject({ code: 0 });
    const before = await network();
    const { urn } = (await stack.resources()).find((one) => one.urn.endsWith("::e"))!;
    service.clearCalls();
    const { text } = await done(stack.up({}, "--replace", urn));
    expect(text).toMatch(/environment "e" \(\w+\): not deleted, because "e" of the program adopts it/);
    expect([writesOf(service), await network()]).toEqual([[], before]);
    expect(await stack.preview({}, "--expect-no-changes")).toMatchObject({ code: 0 });
  });
});

test("a name that `pulumi:autonaming` made is found again after a kill: `pulumi cancel && pulumi up`", async () => {
  const config = { "pulumi:autonaming": { pattern: "${name}-${hex(8)}" } } as Record<string, unknown>;
  const program = `new (require("pulumi-consortium").Consortium)("c")`;
  const { service, stack, network } = await world(program, { plugin: true, config: config as Record<string, string> });
  service.faults.add({ kind: "hang", method: "POST", route: "/consortia", acted: true, times: 1 });
  const child = stack.start(["up", "--yes", "--skip-preview"]);
  const end = finished(child);
  await until(() => service.calls.some(({ method, route }) => method === "POST" && route === "/consortia"));
  spawnSync("kill", ["-KILL", ...treeOf(child.pid!).map(({ pid }) => String(pid))]);
  expect((await end).code).not.toBe(0);
  const [{ name } = { name: "" }] = (await network()).consortia;
  expect(name).toMatch(/^c-[0-9a-f]{8}$/);
  await stack.ok(["cancel", "--yes"]);
  expect(await stack.up()).toMatchObject({ code: 0 });
  expect((await network()).consortia).toMatchObject([{ name }]);
  expect(await stack.preview({}, "--expect-no-changes")).toMatchObject({ code: 0 });
});
