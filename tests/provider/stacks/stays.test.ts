import {
  Configuration,
  Consortium,
  Environment,
  EnvironmentZone,
  Invitation,
  Membership,
  Node,
  Service,
} from "../../../sdk";
import { fieldsOf, isObject } from "../../../provider/plain";
import { send } from "../../support/network";
import { newProcess } from "../../support/service";
import { ledger, onOneAdapter } from "../../support/stacks";
import { rewriting } from "../../support/virtual-time";

/* Objects that stay although a program is edited, values that a preview cannot know yet, and edits that are not changes. */

const withArgs = (args: object) => ledger(undefined, args);

onOneAdapter((make) => {
  test.each([
    ["testFeatures", (value: unknown) => ({ testFeatures: value })],
    ["a feature", (value: unknown) => ({ testFeatures: { multi_region: value } })],
    ["prefundedAccounts", (value: unknown) => ({ prefundedAccounts: value })],
  ])("an unknown value in %s may replace the ledger, and the preview says so", async (_, args) => {
    const { stack } = await make(ledger());
    const program = (): void => {
      const consortium = new Consortium("c");
      new Membership("m", { consortium });
      const unknown = new Membership("later", { consortium }).id.apply(() => true);
      new Environment("e", { consortium, provider: "quorum", consensusType: "ibft", ...args(unknown) } as never);
    };
    const run = await stack.preview(program);
    expect([run.errors, run.changes]).toEqual([
      [],
      expect.arrayContaining(["delete Environment e", "create Environment e"]) as string[],
    ]);
    expect(run.said).toContain("REPLACING AN ENVIRONMENT DESTROYS ITS LEDGER");
  });

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

  describe("details", () => {
    const service = (details: Record<string, unknown>) =>
      ledger(({ environment, membership }) => new Service("s", { environment, membership, service: "ipfs", details }));
    const configuration = (details: Record<string, unknown>) =>
      ledger(
        ({ environment, membership }) =>
          new Configuration("g", { environment, membership, type: "node_config", details }),
      );

    test("a member that a killed run removed: the missing restart is made", async () => {
      const world = await make(service({ a: 1, b: 2 }));
      world.service.store.services.patch(world.stack.of("s").id, { details: { a: 1 } });
      await world.expectChanges(service({ a: 1 }), ["update Service s"]);
      expect(world.writes()).toContain(
        "PUT /consortia/:consortiumId/environments/:environmentId/services/:serviceId/reset",
      );
    });

    test("a member that is removed from a secret is deleted, even if the service merges objects", async () => {
      const world = await make(configuration({ allow: "a", debug: true, deep: { x: 1, y: 2 } }));
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
      await world.expectChanges(configuration({ allow: "a", deep: { x: 1 } }), ["update Configuration g"]);
      expect(details()).toEqual({ allow: "a", deep: { x: 1 } });
    });

    const patches = { method: "PATCH", route: /configurations/, times: Infinity } as const;

    test("a refused change was not made: the old value is not a change", async () => {
      const world = await make(configuration({ gas: "1" }));
      world.service.faults.add({ ...patches, kind: "status", status: 400, errorMessage: "no" });
      expect((await world.stack.up(configuration({ gas: "2" }))).errors).toHaveLength(1);
      world.service.faults.clear();
      world.writes();
      await world.expectChanges(configuration({ gas: "1" }), []);
      expect(world.writes()).toEqual([]);
    });
  });

  test("a value that a program takes over from the console counts as requested: a later change there is drift", async () => {
    const program = (description: string, name: string) => (): void => void new Consortium("c", { description, name });
    const bare = (): void => void new Consortium("c", { name: "c3" });
    const { service, stack, expectChanges } = await make(program("one", "c"));
    const { id } = stack.of("c");
    const inConsole = (description: string): Promise<unknown> =>
      send(service, "PATCH", `/consortia/${id}`, { description });
    const update = ["update Consortium c"];
    // The later change is back to the earlier answer of the service.
    for (const [now, taken, before] of [
      ["two", program("two", "c2"), "one"],
      ["", bare, "two"],
    ] as const) {
      await inConsole(now);
      newProcess();
      await stack.refresh();
      expect((await stack.up(taken)).changes).toEqual(update);
      await inConsole(before);
      await expectChanges(taken, update);
    }
    await expectChanges(program("two", "c2"), update);
    expect(service.store.consortia.get(id).fields).toMatchObject({ description: "two", name: "c2" });
  });

  describe("an invitation that has served its purpose", () => {
    const program =
      ({ orgName = "acme", email = "ops@acme.example" } = {}) =>
      (): void => {
        const consortium = new Consortium("c");
        new Membership("second", { consortium });
        new Invitation("i", { consortium, orgName, email });
      };
    const joined = async () => {
      const world = await make(program());
      const { service, stack } = world;
      service.store.invitations.remove(stack.of("i").id);
      await send(service, "POST", `/consortia/${stack.of("c").id}/memberships`, { org_name: "acme" });
      return world;
    };

    test.each([
      ["nothing else", {}, [], ""],
      [
        "another address",
        { email: "it@acme.example" },
        ["update Invitation i"],
        "so the change of email has no effect",
      ],
      ["the member's name, written differently", { orgName: "Acme" }, ["update Invitation i"], ""],
      ["the name of another member", { orgName: "second" }, ["update Invitation i"], ""],
    ])("is not sent again: %s", async (_, change, steps, says) => {
      const { service, expectChanges } = await joined();
      expect((await expectChanges(program(change), steps)).said).toContain(says);
      expect(service.store.invitations.list()).toEqual([]);
    });

    test("cannot invite somebody else: the error says how to do that", async () => {
      const { service, stack } = await joined();
      newProcess();
      const other = program({ orgName: "other" });
      const run = await stack.up(other, { refresh: true });
      expect(run.failure).toMatch(/--replace.*has served its purpose and is gone, so it cannot get another orgName/);
      expect((await stack.up(other, { replace: ["i"] })).errors).toEqual([]);
      expect(service.store.invitations.list()).toMatchObject([{ fields: { org_name: "other" } }]);
    });
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
