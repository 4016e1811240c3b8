import { Configuration, EnvironmentZone, Node, Service } from "../../../sdk";
import { fieldsOf, isObject } from "../../../provider/plain";
import { send } from "../../support/network";
import { newProcess } from "../../support/service";
import { ledger, onOneAdapter } from "../../support/stacks";
import { rewriting } from "../../support/virtual-time";

/* Objects that stay although a program is edited, values that a preview cannot know yet, and edits that are not changes. */

const withArgs = (args: object) => ledger(undefined, args);

onOneAdapter((make) => {
  test("a replacement that is to be paused starts running, and the preview says so", async () => {
    const paused = (args: object = {}) => ledger((base) => new Node("n", base), { paused: true, ...args });
    const { stack } = await make(paused());
    expect(await stack.up(paused())).toMatchObject({ errors: [], changes: ["update Environment e"] });
    const replaced = paused({ chainId: 77 });
    const caution = 'environment "e": paused: a new environment starts running; the next `pulumi up` pauses it';
    expect((await stack.preview(replaced)).said).toContain(caution);
    expect((await stack.up(replaced)).errors).toEqual([]);
    expect(await stack.up(replaced)).toMatchObject({ errors: [], changes: ["update Environment e"] });
    expect(await stack.up(replaced)).toMatchObject({ changes: [], said: "" });
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

  test("two spellings of a zone are one zone: the existing one stays, and a second resource is refused", async () => {
    const program = (...clouds: string[]) =>
      ledger(({ environment }) =>
        clouds.forEach((cloud, at) => new EnvironmentZone(`z${at}`, { environment, region: "us-east-2", cloud })),
      );
    const { service, stack, writes, expectChanges } = await make(program("AWS"));
    await expectChanges(program("aws"), []);
    expect(writes()).toEqual([]);
    expect((await stack.up(program("AWS", "aws"))).errors).toHaveLength(1);
    expect(service.store.zones.list()).toHaveLength(1);
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

  test.each([
    ["are renamed without aliases", ["x", "y"], [], 'nodes "x" and "y", and deletes "a" and "b", which'],
    ["are renamed with aliases", ["x", "y"], ["a", "b"], undefined],
    ["come", ["a", "b", "x"], [], undefined],
    ["go", ["a"], [], undefined],
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
