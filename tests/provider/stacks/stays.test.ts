import { isDeepStrictEqual } from "node:util";
import {
  AppCred,
  Configuration,
  Consortium,
  Environment,
  EnvironmentZone,
  Invitation,
  Membership,
  Node,
  Service,
} from "../../../sdk";
import { type Run, Stack } from "../../support/double/stack";
import { type FaultRule } from "../../../service/index";
import { fieldsOf, isObject } from "../../../provider/plain";
import { send } from "../../support/network";
import { newProcess, setEnvironment, start, type Started } from "../../support/service";
import { rewriting } from "../../support/virtual-time";

/* What stays although a program is edited, what a preview cannot know yet, and what an edit must not be taken for. */

const changes = ({ steps }: Run): string[] => steps.filter((step) => !/^(same|refresh) /.test(step));
const lines = ({ lines: all }: Run): string => all.join("\n");
const account = "0x52908400098527886E0F7030069857D2E4169EE7";

interface Base {
  consortium: Consortium;
  membership: Membership;
  environment: Environment;
}

/** A program with a consortium, a member, a ledger, and what else it has. */
const network =
  (more: (base: Base) => unknown = () => undefined, args: (membership: Membership) => object = () => ({})) =>
  (): void => {
    const consortium = new Consortium("c");
    const membership = new Membership("m", { consortium });
    const ledger = { consortium, provider: "quorum", consensusType: "ibft" } as const;
    const environment = new Environment("e", { ...ledger, ...args(membership) });
    more({ consortium, membership, environment });
  };

describe.each(["dynamic", "plugin"] as const)("%s", (adapter) => {
  let started: Started;
  let stack: Stack;

  const writes = (): string[] => started.calls().filter((call) => !call.startsWith("GET"));

  async function made(program: () => unknown): Promise<void> {
    started = await start();
    stack = new Stack(adapter);
    expect(await stack.up(program)).toMatchObject({ errors: [] });
    writes();
  }

  /** An update of it changes exactly this, and another one nothing. */
  async function expectChanges(program: () => unknown, steps: string[]): Promise<Run> {
    newProcess();
    const run = await stack.up(program, { refresh: true });
    expect([run.errors, changes(run).sort()]).toEqual([[], [...steps].sort()]);
    expect(changes(await stack.up(program, { refresh: true }))).toEqual([]);
    return run;
  }

  test.each([
    ["multiRegion", (value: unknown) => ({ multiRegion: value })],
    ["testFeatures", (value: unknown) => ({ testFeatures: value })],
    ["a feature", (value: unknown) => ({ testFeatures: { multi_region: value } })],
    ["prefundedAccounts", (value: unknown) => ({ prefundedAccounts: value })],
    ["a balance", (value: unknown) => ({ prefundedAccounts: { [account]: { balance: value } } })],
  ])("what a preview does not know yet of %s may replace the ledger, and it says so", async (_, args) => {
    await made(network());
    const program = (): void => {
      const consortium = new Consortium("c");
      new Membership("m", { consortium });
      const later = new Membership("later", { consortium });
      const unknown = later.id.apply(() => true);
      new Environment("e", { consortium, provider: "quorum", consensusType: "ibft", ...(args(unknown) as object) });
    };
    const run = await stack.preview(program);
    expect([run.errors, changes(run)]).toEqual([
      [],
      expect.arrayContaining(["delete Environment e", "create Environment e"]) as string[],
    ]);
    expect(lines(run)).toContain("REPLACING AN ENVIRONMENT DESTROYS ITS LEDGER");
  });

  test.each([
    ["prefundedAccounts", { prefundedAccounts: { [account]: { balance: "16" } } }, {}],
    ["multiRegion", { multiRegion: true }, {}],
    ["testFeatures", { testFeatures: { quick: true } }, {}],
    ["extra", { extra: { note: "a" } }, {}],
    ["multiRegion", { testFeatures: { multi_region: true, quick: true } }, { testFeatures: { quick: true } }],
  ])("a ledger stays where %s is taken out, and a warning says so", async (key, before, after) => {
    await made(network(undefined, () => before));
    const { id } = stack.of("e");
    const run = await expectChanges(
      network(undefined, () => after),
      [],
    );
    expect(lines(run)).toContain(`environment "e": ${key} stays as it is, because the program no longer sets it`);
    expect([writes(), stack.of("e").id]).toEqual([[], id]);
    const again = await stack.up(
      network(undefined, () => before),
      { refresh: true },
    );
    expect([changes(again), lines(again)]).toEqual([[], ""]);
  });

  test.each([
    ["a feature that is set", {}, { testFeatures: { multi_region: true } }],
    ["one beside another", { testFeatures: { quick: true } }, { testFeatures: { quick: true, multi_region: true } }],
  ])("%s by its own name replaces, as the preview says", async (_, before, after) => {
    await made(network(undefined, () => before));
    const program = network(undefined, () => after);
    const steps = ["create Environment e", "delete Environment e"];
    expect(changes(await stack.preview(program)).sort()).toEqual(steps);
    await expectChanges(program, steps);
  });

  test("what stays is remembered over changes of all else", async () => {
    const quick = { testFeatures: { quick: true } };
    await made(network(undefined, () => ({ testFeatures: { quick: true, multi_region: true } })));
    await expectChanges(
      network(undefined, () => ({ ...quick, description: "x" })),
      ["update Environment e"],
    );
    const again = await expectChanges(
      network(undefined, () => ({ ...quick, description: "x" })),
      [],
    );
    expect(lines(again)).toContain("multiRegion stays as it is");
    await expectChanges(
      network(undefined, () => ({ ...quick, description: "x", multiRegion: true })),
      [],
    );
  });

  test("a member that is null is the same as none", async () => {
    const program = (members: object | undefined) =>
      network(
        ({ environment, membership }) =>
          new AppCred("a", {
            environment,
            membership,
            ...(members && { keepers: members as Record<string, unknown> }),
          }),
        () => (members ? { extra: members } : {}),
      );
    await made(program({ note: null }));
    await expectChanges(program(undefined), []);
    await expectChanges(program({ note: null }), []);
  });

  test("what an adopted ledger may have already, and the service does not show, replaces nothing", async () => {
    await made(network());
    const { id } = stack.of("e");
    stack.state = stack.state.filter(({ name }) => name !== "e");
    await expectChanges(
      network(undefined, () => ({ adopt: id })),
      ["create Environment e"],
    );
    const run = await expectChanges(
      network(undefined, () => ({ adopt: id, prefundedAccounts: { [account]: { balance: "16" } } })),
      [],
    );
    expect(lines(run)).toContain(
      "prefundedAccounts stays as it is, because it was adopted, and the service does not show",
    );
    await stack.refresh();
    const other = { adopt: id, prefundedAccounts: { [account]: { balance: "17" } } };
    await expectChanges(
      network(undefined, () => other),
      [],
    );
    expect(stack.of("e").id).toBe(id);
  });

  describe("what others may share", () => {
    const registry = (args: object) =>
      network(
        ({ environment, membership }) =>
          new Service("ids", { environment, membership, service: "idregistry", adopt: true, ...args }),
      );

    test("keeps its own values, whatever the program asks for, and shows none of their secrets", async () => {
      await made(registry({}));
      const { id } = stack.of("ids");
      started.service.store.services.patch(id, { name: "theirs", details: { password: "canary" } });
      stack.state = stack.state.filter(({ name }) => name !== "ids");
      const adopted = await expectChanges(registry({ details: { x: 1 } }), ["create Service ids"]);
      expect(lines(adopted)).toContain('stays as it is: name is "theirs", details is another one');
      const run = await expectChanges(registry({ details: { x: 2 } }), []);
      expect(lines(run)).toContain("details stays as it is, because others may share it");
      await expectChanges(registry({}), []);
      const { name, details } = started.service.store.services.get(id).fields;
      expect({ name, details }).toEqual({ name: "theirs", details: { password: "canary" } });
      expect([lines(adopted), lines(run), JSON.stringify(started.said)].join()).not.toContain("canary");
      expect(writes().filter((call) => !call.startsWith("POST"))).toEqual([]);
    });

    test.each([
      ["another member", { other: true }],
      ["no zone", { zone: false }],
      ["no extra", { extra: false }],
    ])("is not replaced for %s", async (_, change) => {
      const program = ({ other = false, zone = true, extra = true } = {}) =>
        network(({ consortium, environment, membership }) => {
          const second = new Membership("second", { consortium });
          const where = { environment, region: "us-east-2", cloud: "aws", adopt: true };
          const theirs = new EnvironmentZone("z", { ...where, ...(extra && { extra: { a: 1 } }) });
          new Service("ids", {
            environment,
            membership: other ? second : membership,
            service: "idregistry",
            adopt: true,
            ...(zone && { zone: theirs }),
            ...(extra && { extra: { a: 1 } }),
          });
        });
      await made(program());
      const ids = ["ids", "z"].map((name) => stack.of(name).id);
      stack.state = stack.state.filter(({ name }) => name !== "ids" && name !== "z");
      await expectChanges(program(), ["create EnvironmentZone z", "create Service ids"]);
      const run = await expectChanges(program(change), []);
      expect(lines(run)).toContain("stays as it is, because others may share it");
      expect(["ids", "z"].map((name) => stack.of(name).id)).toEqual(ids);
    });

    test("a zone without a name was not made by a run of this stack: a run that recovers shares it", async () => {
      await made(network());
      const { id: environment } = stack.of("e");
      const zones = `/consortia/${stack.of("c").id}/environments/${environment}/zones`;
      const { _id: id } = (await send(started.service, "POST", zones, { region: "r2", cloud: "aws" })) as {
        _id: string;
      };
      started.service.store.zones.patch(id, { name: undefined });
      const zone = network(
        ({ environment: inside }) => new EnvironmentZone("z", { environment: inside, region: "r2", cloud: "aws" }),
      );
      newProcess();
      setEnvironment({ CONSORTIUM_ADOPT: "true" });
      expect((await stack.up(zone)).errors).toEqual([]);
      setEnvironment({ CONSORTIUM_ADOPT: undefined });
      newProcess();
      expect(stack.of("z").id).toBe(id);
      expect((await stack.up(network())).errors).toEqual([]);
      expect(started.service.store.zones.list().map((one) => one.id)).toEqual([id]);
    });
  });

  test("a zone whose cloud is only written differently is the same one", async () => {
    const program = (cloud: string) =>
      network(({ environment, membership }) => {
        const zone = new EnvironmentZone("z", { environment, region: "us-east-2", cloud });
        new Node("n", { environment, membership, zone });
      });
    await made(program("AWS"));
    await expectChanges(program("aws"), []);
    expect(writes()).toEqual([]);
  });

  test("a utility service that is replaced goes first, because there is one of a type", async () => {
    const program = (other: boolean) =>
      network(({ consortium, environment, membership }) => {
        const second = new Membership("second", { consortium });
        new Service("ids", { environment, membership: other ? second : membership, service: "idregistry" });
      });
    await made(program(false));
    await expectChanges(program(true), ["create Service ids", "delete Service ids"]);
    expect(started.service.store.services.list()).toHaveLength(1);
  });

  test("a replacement that a service takes only after the old one is gone: the error says how", async () => {
    const program = (type: string, options = {}) =>
      network(({ environment, membership }) => new Configuration("g", { environment, membership, type }, options));
    await made(program("node_config"));
    const route = /\/configurations$/;
    started.service.faults.add({ kind: "status", status: 409, errorMessage: "already exists.", method: "POST", route });
    const { id } = stack.of("g");
    const run = await stack.up(program("other"));
    expect(run.errors[0]?.message).toMatch(new RegExp(`already exists.*It replaces ${id}.*deleteBeforeReplace: true`));
    const steps = ["create Configuration g", "delete Configuration g"];
    await expectChanges(program("other", { deleteBeforeReplace: true }), steps);
  });

  describe("details", () => {
    const service = (details: Record<string, unknown>) =>
      network(({ environment, membership }) => new Service("s", { environment, membership, service: "ipfs", details }));
    const configuration = (details: Record<string, unknown>) =>
      network(
        ({ environment, membership }) =>
          new Configuration("g", { environment, membership, type: "node_config", details }),
      );

    test("a member that a killed run took out: the restart is made up for", async () => {
      await made(service({ a: 1, b: 2 }));
      started.service.store.services.patch(stack.of("s").id, { details: { a: 1 } });
      await expectChanges(service({ a: 1 }), ["update Service s"]);
      expect(writes()).toContain("PUT /consortia/:consortiumId/environments/:environmentId/services/:serviceId/reset");
    });

    test.each([
      ["a service", service],
      ["a configuration", configuration],
    ])("of %s: each character counts", async (_, program) => {
      await made(program({ key: "x \n" }));
      newProcess();
      const run = await stack.up(program({ key: "x" }), { refresh: true });
      expect([run.errors, changes(run)]).toEqual([[], [expect.stringMatching(/^update /)]]);
      const { store } = started.service;
      const stored = [...store.services.list(), ...store.configurations.list()].map(({ fields }) => fields.details);
      expect(stored).toEqual([{ key: "x" }]);
    });

    test("a member of a secret that is taken out goes, also where a service merges objects", async () => {
      await made(configuration({ allow: "a", debug: true, deep: { x: 1, y: 2 } }));
      const { configurations } = started.service.store;
      const details = (): object => configurations.get(stack.of("g").id).fields.details as object;
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
      await expectChanges(configuration({ allow: "a", deep: { x: 1 } }), ["update Configuration g"]);
      expect(details()).toEqual({ allow: "a", deep: { x: 1 } });
    });
  });

  test("what a program takes over from the console is asked and answered: a later change there is drift", async () => {
    const program = (description: string, name: string) => (): void => void new Consortium("c", { description, name });
    await made(program("one", "c"));
    const { id } = stack.of("c");
    const inConsole = (description: string): Promise<unknown> =>
      send(started.service, "PATCH", `/consortia/${id}`, { description });
    await inConsole("two");
    newProcess();
    await stack.refresh();
    expect(changes(await stack.up(program("two", "c2")))).toEqual(["update Consortium c"]);
    await inConsole("one");
    await expectChanges(program("two", "c2"), ["update Consortium c"]);
    await inConsole("");
    newProcess();
    await stack.refresh();
    const bare = (): void => void new Consortium("c", { name: "c3" });
    expect(changes(await stack.up(bare))).toEqual(["update Consortium c"]);
    await inConsole("two");
    await expectChanges(bare, ["update Consortium c"]);
    await expectChanges(program("two", "c2"), ["update Consortium c"]);
    const { fields } = started.service.store.consortia.get(id);
    expect(isDeepStrictEqual([fields.description, fields.name], ["two", "c2"])).toBe(true);
  });

  test.each(["Acme", "second"])("an invitation that has done its work may name a member: %s", async (orgName) => {
    const program = (name: string) => (): void => {
      const consortium = new Consortium("c");
      new Membership("second", { consortium });
      new Invitation("i", { consortium, orgName: name, email: "ops@acme.example" });
    };
    await made(program("acme"));
    started.service.store.invitations.remove(stack.of("i").id);
    await send(started.service, "POST", `/consortia/${stack.of("c").id}/memberships`, { org_name: "acme" });
    await expectChanges(program(orgName), ["update Invitation i"]);
    expect(started.service.store.invitations.list()).toEqual([]);
  });

  test("a new password is made where the preview says so", async () => {
    const program = (word: string) =>
      network(
        ({ environment, membership }) => new AppCred("a", { environment, membership, rotateWhenChanged: { word } }),
      );
    await made(program("x "));
    await expectChanges(program("x"), ["update AppCred a"]);
    expect(writes()).toEqual([
      "POST /consortia/:consortiumId/environments/:environmentId/appcreds/:credentialId/regenerate",
    ]);
  });

  test("two ways to write one zone are one zone: a second resource is refused", async () => {
    await made(network());
    const run = await stack.up(
      network(({ environment }) => {
        for (const cloud of ["AWS", "aws"]) new EnvironmentZone(cloud, { environment, region: "us-east-2", cloud });
      }),
    );
    expect(run.errors).toHaveLength(1);
    expect(started.service.store.zones.list()).toHaveLength(1);
  });

  const patches = { method: "PATCH", route: /configurations/, times: Infinity } as const;
  const refused = { kind: "status", status: 403, method: "GET", route: /configurations/, times: Infinity } as const;
  test.each<[string, FaultRule[]]>([
    ["reset", [{ ...patches, kind: "resetAfter" }]],
    ["HTTP 500", [{ ...patches, kind: "status", status: 500, acted: true }]],
    [
      "an empty answer, and a list that is refused",
      [{ ...patches, kind: "status", status: 204, acted: true }, refused],
    ],
    [
      "reset, then refused",
      [
        { ...patches, kind: "resetAfter", times: 1 },
        { ...patches, kind: "status", status: 409, errorMessage: "no" },
      ],
    ],
  ])("a change without a clear answer is sent again, also where the program goes back: %s", async (_, faults) => {
    const details = (): unknown => started.service.store.configurations.list()[0]!.fields.details;
    const program = (gas: string) =>
      network(({ environment: e, membership: m }) => {
        new Configuration("g", { environment: e, membership: m, type: "node_config", details: { gas } });
      });
    await made(program("1"));
    const rules = faults.map((fault) => started.service.faults.add(fault));
    expect((await stack.up(program("2"))).errors).toHaveLength(1);
    expect(details()).toEqual({ gas: "2" });
    for (const rule of rules) rule.remove();
    newProcess();
    expect(lines(await stack.preview(program("1")))).toMatch(/sends details again, because .* no clear answer/);
    const run = await stack.up(program("1"));
    expect([run.errors, changes(run), details()]).toEqual([[], ["update Configuration g"], { gas: "1" }]);
    expect(changes(await stack.up(program("1"), { refresh: true }))).toEqual([]);
  });

  test("a change that is refused was not made: the old value is no change", async () => {
    const program = (gas: string) =>
      network(({ environment: e, membership: m }) => {
        new Configuration("g", { environment: e, membership: m, type: "node_config", details: { gas } });
      });
    await made(program("1"));
    const rule = started.service.faults.add({ ...patches, kind: "status", status: 400, errorMessage: "no" });
    expect((await stack.up(program("2"))).errors).toHaveLength(1);
    rule.remove();
    writes();
    newProcess();
    expect([changes(await stack.up(program("1"), { refresh: true })), writes()]).toEqual([[], []]);
  });

  test("an invitation that has done its work invites nobody else: the error says how", async () => {
    const program = (orgName: string) => (): void =>
      void new Invitation("i", { consortium: new Consortium("c"), orgName, email: "ops@acme.example" });
    await made(program("acme"));
    const { service } = started;
    service.store.invitations.remove(stack.of("i").id);
    await send(service, "POST", `/consortia/${stack.of("c").id}/memberships`, { org_name: "acme" });
    newProcess();
    const run = await stack.up(program("other"), { refresh: true });
    expect(run.errors[0]?.message).toMatch(/has done its work and is gone, so it has no other orgName.*--replace/);
    const replaced = await stack.up(program("other"), { replace: ["i"] });
    expect([replaced.errors, service.store.invitations.list()]).toMatchObject([
      [],
      [{ fields: { org_name: "other" } }],
    ]);
  });
});
