import { Configuration, Consortium, EnvironmentZone, Node, Service } from "../../../sdk";
import { fieldsOf, isObject } from "../../../provider/plain";
import { send } from "../../support/network";
import { newProcess } from "../../support/service";
import { ledger, onOneAdapter } from "../../support/stacks";
import { rewriting } from "../../support/virtual-time";

/* Objects that stay although a program is edited, values that a preview cannot know yet, and edits that are not changes. */

const withArgs = (args: object) => ledger(undefined, args);

onOneAdapter((make) => {
  test("a kept value is remembered through other changes", async () => {
    const quick = { testFeatures: { quick: true } };
    const { expectChanges } = await make(withArgs({ testFeatures: { quick: true, multi_region: true } }));
    const described = withArgs({ ...quick, description: "x" });
    await expectChanges(described, ["update Environment e"]);
    expect((await expectChanges(described, [])).said).toContain("multiRegion stays as it is");
    await expectChanges(withArgs({ ...quick, description: "x", multiRegion: true }), []);
  });

  test("multiRegion precedes the feature of that name, in the create and in later runs", async () => {
    const both = withArgs({ multiRegion: true, testFeatures: { multi_region: false, quick: true } });
    const { service, expectChanges } = await make(both);
    expect(service.store.environments.list()[0]!.fields.test_features).toEqual({ multi_region: true, quick: true });
    for (let times = 0; times < 2; times++) await expectChanges(both, []);
  });

  describe("an object that others may share", () => {
    const registry = (args: object) =>
      ledger(
        ({ environment, membership }) =>
          new Service("ids", { environment, membership, service: "idregistry", adopt: true, ...args }),
      );

    test("keeps its values, whatever the program asks for, and none of its secrets are shown", async () => {
      const { service, stack, said, writes, forget, expectChanges } = await make(registry({}));
      const { services } = service.store;
      const { id } = stack.of("ids");
      services.patch(id, { name: "theirs", details: { password: "canary" } });
      forget("ids");
      const adopted = await expectChanges(registry({ details: { x: 1 } }), ["create Service ids"]);
      expect(adopted.said).toContain('stays as it is: name is "theirs", details is another one');
      const run = await expectChanges(registry({ details: { x: 2 } }), []);
      expect(run.said).toContain("details stays as it is, because others may share it");
      await expectChanges(registry({}), []);
      expect(services.get(id).fields).toMatchObject({ name: "theirs", details: { password: "canary" } });
      expect([adopted.said, run.said, JSON.stringify(said)].join()).not.toContain("canary");
      expect(writes().filter((call) => !call.startsWith("POST"))).toEqual([]);
    });

    test("a zone without a name was not created by this stack, so a recovering run shares it", async () => {
      const { service, stack } = await make(ledger());
      const { zones } = service.store;
      const path = `/consortia/${stack.of("c").id}/environments/${stack.of("e").id}/zones`;
      const { _id: id } = await send(service, "POST", path, { region: "r2", cloud: "aws" });
      zones.patch(id, { name: undefined });
      newProcess({ CONSORTIUM_ADOPT: "true" });
      const zone = ledger(({ environment }) => new EnvironmentZone("z", { environment, region: "r2", cloud: "aws" }));
      expect((await stack.up(zone)).errors).toEqual([]);
      newProcess({ CONSORTIUM_ADOPT: undefined });
      expect(stack.of("z").id).toBe(id);
      expect((await stack.up(ledger())).errors).toEqual([]);
      expect(zones.list().map((one) => one.id)).toEqual([id]);
    });
  });

  test("a member that is removed from secret details is deleted, even if the service merges objects", async () => {
    const program = (details: Record<string, unknown>) =>
      ledger(
        ({ environment, membership }) =>
          new Configuration("g", { environment, membership, type: "node_config", details }),
      );
    const world = await make(program({ allow: "a", debug: true, deep: { x: 1, y: 2 } }));
    const { configurations } = world.service.store;
    const details = (): object => configurations.list()[0]!.fields.details as object;
    const merged = (old: unknown, now: unknown): unknown => {
      if (!isObject(now)) return now;
      const all = { ...fieldsOf(old), ...now };
      const members = Object.entries(all).filter(([, value]) => value !== null);
      return Object.fromEntries(members.map(([key, value]) => [key, merged(fieldsOf(old)[key], value)]));
    };
    rewriting({
      request: (text) => {
        const body = JSON.parse(text) as { details?: object };
        return JSON.stringify({ ...body, ...(body.details && { details: merged(details(), body.details) }) });
      },
    });
    await world.expectChanges(program({ allow: "a", deep: { x: 1 } }), ["update Configuration g"]);
    expect(details()).toEqual({ allow: "a", deep: { x: 1 } });
  });

  test("a value that a program takes over from the console counts as requested: a later change there is drift", async () => {
    const program = (description: string, name: string) => (): void => void new Consortium("c", { description, name });
    const { service, stack, expectChanges } = await make(program("one", "c"));
    const inConsole = (description: string): Promise<unknown> =>
      send(service, "PATCH", `/consortia/${stack.of("c").id}`, { description });
    await inConsole("two");
    newProcess();
    await stack.refresh();
    expect((await stack.up(program("two", "c2"))).changes).toEqual(["update Consortium c"]);
    await inConsole("one"); // back to the earlier answer of the service
    await expectChanges(program("two", "c2"), ["update Consortium c"]);
  });

  test.each([
    ["are renamed without aliases", ["x", "y"], [], 'nodes "x" and "y", and deletes "a" and "b", which'],
    ["are renamed with aliases", ["x", "y"], ["a", "b"], undefined],
  ])("a preview gives advice if nodes %s", async (_, names, former, expected) => {
    const nodes = (all: string[], old: string[] = []) =>
      ledger(({ environment, membership }) => {
        for (const [at, name] of all.entries()) {
          const aliases = old[at] === undefined ? [] : [{ name: old[at] }];
          new Node(name, { environment, membership, name: old[at] ?? name }, { aliases });
        }
      });
    const { stack } = await make(nodes(["a", "b"]));
    const { errors, said } = await stack.preview(nodes(names, former));
    expect([errors, /creates (nodes .* which)/.exec(said)?.[1]]).toEqual([[], expected]);
    expect((await stack.up(nodes(names, former))).errors).toEqual([]);
  });
});
