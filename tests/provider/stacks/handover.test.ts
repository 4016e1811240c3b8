import { type CustomResourceOptions } from "@pulumi/pulumi";
import {
  AppCred,
  Consortium,
  Environment,
  Membership,
  Node,
  TetherService,
  type TetherServiceArgs,
} from "../../../sdk";
import { type Run, Stack } from "../../support/double/stack";
import { send } from "../../support/network";
import { setEnvironment, start, type Started } from "../../support/service";
import { ether, post, tetherId } from "../../support/tethered";

/* One object, several resources of a program: what another resource has, or takes over, is neither adopted nor deleted. */

const changes = ({ steps }: Run): string[] => steps.filter((step) => !/^(same|refresh) /.test(step)).sort();
const pins = { tetherId, network: "rinkeby", intervalHours: 1 } as const;
const tethers = [{ id: tetherId, funds: { rinkeby: ether, mainnet: "0" } }];

interface Shape {
  /** Added to the logical names; the names in the service stay. */
  suffix?: string;
  adopt?: boolean;
  /** The one that has `adopt`. */
  adoptOnly?: string;
  /** Options of environment and node. */
  options?: CustomResourceOptions;
  without?: string[];
  tether?: TetherServiceArgs;
}

const tree =
  ({ suffix = "", adopt, adoptOnly, options, without = [], tether = pins }: Shape = {}) =>
  (): void => {
    const named = (name: string): string => `${name}${suffix}`;
    const adopts = (name: string): boolean | undefined => adopt ?? (adoptOnly === name || undefined);
    const consortium = new Consortium(named("c"), { name: "trade", adopt: adopts("c") });
    const membership = new Membership(named("m"), { consortium, orgName: "harbour", adopt: adopts("m") });
    const quorum = { consortium, name: "prod", provider: "quorum", consensusType: "raft" } as const;
    const environment = new Environment(named("e"), { ...quorum, adopt: adopts("e") }, options);
    new Node(named("n"), { environment, membership, name: "node-1", adopt: adopts("n") }, options);
    if (!without.includes("a")) new AppCred(named("a"), { environment, membership, name: "app" });
    new TetherService(named("t"), tether);
  };

describe.each(["dynamic", "plugin"] as const)("%s", (adapter) => {
  let stack: Stack;
  let started: Started;
  let before: string[];

  /** What holds data, by its ids. */
  const objects = (): string[] => {
    const { consortia, memberships, environments, nodes } = started.service.store;
    return [consortia, memberships, environments, nodes].flatMap((kind) => kind.list().map(({ id }) => id));
  };
  const changed = (): string[] => started.calls().filter((call) => !call.startsWith("GET"));

  async function made(shape?: Shape, strict = false): Promise<void> {
    started = await start({ tethers, ...(strict && { answers: { getById: false } }) });
    stack = new Stack(adapter);
    expect(await stack.up(tree(shape))).toMatchObject({ errors: [] });
    before = objects();
    started.calls();
  }

  /** Everything is there, the tether at work and paid once, and there is nothing left to do. */
  async function untouched(shape: Shape): Promise<void> {
    const { service } = started;
    expect(objects()).toEqual(before);
    expect(service.store.credentials.list()).toHaveLength(1);
    expect(service.store.tethers.get(tetherId).fields).toMatchObject({ active: true, deployments: { rinkeby: 1 } });
    expect(changes(await stack.up(tree(shape)))).toEqual([]);
    expect(await stack.refresh()).toMatchObject({ errors: [] });
    expect(changes(await stack.up(tree(shape)))).toEqual([]);
  }

  describe("another logical name", () => {
    test.each([
      ["adopt", { suffix: "2", adopt: true }, {}],
      ["CONSORTIUM_ADOPT", { suffix: "2" }, { CONSORTIUM_ADOPT: "true" }],
    ])("%s: the objects stay, the old resources leave the state, and one line each says so", async (_, shape, env) => {
      await made();
      setEnvironment(env);
      const run = await stack.up(tree(shape));
      expect(run.errors).toEqual([]);
      for (const [name, id] of ["c", "m", "e", "n"].map((name, at) => [name, before[at]!] as const)) {
        const said = run.lines.filter((line) => line.includes(id) && line.includes("not deleted"));
        expect(said).toEqual([
          expect.stringContaining(`(${id}): not deleted, because it is "${name}2" of the program now`),
        ]);
      }
      expect([...stack.resources.keys()].sort()).toEqual(["a2", "c2", "e2", "m2", "n2", "t2"]);
      expect(changed().filter((call) => /^(DELETE|PATCH|PUT)|tether/.test(call))).toEqual([
        "DELETE /consortia/:consortiumId/environments/:environmentId/appcreds/:credentialId",
      ]);
      setEnvironment({ CONSORTIUM_ADOPT: undefined });
      await untouched(shape);
    });

    test("a run that was killed between the two: the next one leaves the object, too", async () => {
      await made();
      const old = stack.state;
      await stack.up(tree({ suffix: "2", adopt: true, without: ["a"] }));
      // The old resources are in the state still, beside the new ones.
      const back = old.filter(({ name }) => ["c", "m", "e", "n", "t"].includes(name));
      stack.state = [...back, ...stack.state];
      const run = await stack.up(tree({ suffix: "2", adopt: true }));
      const gone = ["Consortium c", "Environment e", "Membership m", "Node n", "TetherService t"];
      expect([run.errors, changes(run)]).toEqual([[], ["create AppCred a2", ...gone.map((one) => `delete ${one}`)]]);
      await untouched({ suffix: "2", adopt: true });
    });

    test("without adopt: the error says how a resource gets another name, and nothing changes", async () => {
      await made();
      const run = await stack.up(tree({ suffix: "2" }));
      expect(run.errors[0]!.message).toMatch(
        /already taken by \S+\. Set adopt: true .*a renamed resource.*see "already taken" in docs\/troubleshooting\.md/,
      );
      expect(changed()).toEqual([]);
    });
  });

  describe("--replace of what has adopt", () => {
    test.each([
      ["an environment", "e", undefined],
      ["an environment that is to be deleted first, and what is in it", "e", { deleteBeforeReplace: true }],
      ["a node", "n", undefined],
      ["a consortium", "c", undefined],
      ["a tether service", "t", undefined],
      ["a tether service, which does not show itself", "t", undefined, true],
    ])("%s", async (_, name, options, strict = false) => {
      const shape = { adopt: true, options };
      await made(shape, strict);
      started.time.pass(3 * 3_600_000);
      const run = await stack.up(tree(shape), { replace: [name] });
      expect([run.errors, changes(run).some((step) => step.endsWith(` ${name}`))]).toEqual([[], true]);
      await untouched(shape);
    });

    test("what is in it comes back without adopt, too: this run has left it", async () => {
      const shape = { options: { deleteBeforeReplace: true }, adoptOnly: "e" };
      await made(shape);
      expect(await stack.up(tree(shape), { replace: ["e"] })).toMatchObject({ errors: [] });
      await untouched(shape);
    });

    test("what a change replaces does not stay: it does not fit", async () => {
      await made({ adopt: true });
      const program = (): void => {
        const consortium = new Consortium("c", { name: "trade", adopt: true });
        const other = { consortium, name: "prod", provider: "quorum", consensusType: "ibft", adopt: true } as const;
        new Environment("e", other);
      };
      const run = await stack.up(program);
      expect(run.errors).toEqual([]);
      expect(objects()).not.toContain(before[2]);
      expect(started.service.store.environments.list().map(({ fields }) => fields.consensus_type)).toEqual(["ibft"]);
    });
  });

  describe("what another resource of the program has", () => {
    const second = (adopt: boolean | string) => (consortium: Consortium) =>
      void new Environment("e2", { consortium, name: "prod", provider: "quorum", consensusType: "raft", adopt });
    const both = (adopt: boolean | string, order: "before" | "after") => (): void => {
      const consortium = new Consortium("c", { name: "trade" });
      if (order === "before") second(adopt)(consortium);
      new Environment("e", { consortium, name: "prod", provider: "quorum", consensusType: "raft" });
      if (order === "after") second(adopt)(consortium);
    };
    const alone = (): void => {
      const consortium = new Consortium("c", { name: "trade" });
      new Environment("e", { consortium, name: "prod", provider: "quorum", consensusType: "raft" });
    };

    test.each([
      [true, "before"],
      [true, "after"],
      ["id", "before"],
      ["id", "after"],
    ] as const)("is not adopted, and a preview says so (adopt: %j, registered %s)", async (by, order) => {
      started = await start();
      stack = new Stack(adapter);
      await stack.up(alone);
      before = objects();
      started.calls();
      const adopt = by === "id" ? stack.of("e").id : by;
      for (const run of [await stack.preview(both(adopt, order)), await stack.up(both(adopt, order))]) {
        expect(run.errors.map(({ message }) => message).join()).toMatch(
          /is "e" of this program already.*give "e2" the resource option aliases: \[\{ name: "e" \}\], or run `pulumi state rename`/s,
        );
      }
      expect([objects(), changed(), [...stack.resources.keys()].sort()]).toEqual([before, [], ["c", "e"]]);
    });

    test("registered when the other has adopted it already: it is named, and taking the other out leaves the object", async () => {
      started = await start();
      stack = new Stack(adapter);
      await stack.up(alone);
      before = objects();
      const late = (): void => {
        const consortium = new Consortium("c", { name: "trade" });
        const quorum = { consortium, provider: "quorum", consensusType: "raft" } as const;
        const adopting = new Environment("e2", { ...quorum, name: "prod", adopt: true });
        const name = adopting.id.apply(() => "prod");
        new Environment("e", { ...quorum, name }, { dependsOn: adopting });
      };
      const run = await stack.up(late);
      expect(run.errors.map(({ message }) => message)).toEqual([
        expect.stringMatching(/this run has given it to "e2".*"e"\..*Take "e2" out of the program/) as string,
      ]);
      expect((await stack.up(alone)).errors).toEqual([]);
      expect([objects(), [...stack.resources.keys()].sort()]).toEqual([before, ["c", "e"]]);
    });

    test("in a state that has it twice: whichever goes, the object stays; with the last one it goes", async () => {
      started = await start();
      stack = new Stack(adapter);
      await stack.up(alone);
      before = objects();
      const one = stack.of("e");
      const kept = one.outputs.__kept as { of?: string };
      const outputs = { ...one.outputs, __kept: { ...kept, ...(kept.of && { of: "that of e2" }) } };
      const twin = { ...one, name: "e2", urn: one.urn.replace(/::e$/, "::e2"), outputs };
      const twice = [...stack.state, { ...twin, inputs: { ...twin.inputs, __logicalName: "e2" } }];
      stack.state = twice;
      const same = await stack.up(both(true, "after"));
      expect([same.errors, changes(same)]).toEqual([[], []]);
      expect(same.lines.join("\n")).toMatch(/is both "e" and "e2"\. Take "e2" out of the program/);
      expect((await stack.up(alone)).errors).toEqual([]);
      expect(objects()).toEqual(before);
      stack.state = twice;
      const other = (): void => second(true)(new Consortium("c", { name: "trade" }));
      expect((await stack.up(other)).errors).toEqual([]);
      expect([objects(), [...stack.resources.keys()].sort()]).toEqual([before, ["c", "e2"]]);
      stack.state = twice;
      expect((await stack.destroy()).errors).toEqual([]);
      expect(objects()).toEqual([]);
    });
  });

  describe("a tether service", () => {
    test.each([false, true])("under another logical name; it does not show itself: %s", async (strict) => {
      await made({}, strict);
      started.time.pass(3 * 3_600_000);
      const run = await stack.up(tree({ suffix: "2", adopt: true }));
      expect(run.errors).toEqual([]);
      expect(changed().filter((call) => call === post("deploy"))).toEqual([]);
      await untouched({ suffix: "2", adopt: true });
    });

    test("a second one of the same tether is refused", async () => {
      started = await start({ tethers });
      stack = new Stack(adapter);
      const one = (): void => void new TetherService("t", { ...pins, active: false });
      const two = (): object => {
        one();
        return { id: new TetherService("t2", { ...pins, active: false }).id };
      };
      expect(await stack.up(one)).toMatchObject({ errors: [] });
      started.calls();
      for (const run of [await stack.preview(two), await stack.up(two)])
        expect(run.errors.map(({ message }) => message).join()).toMatch(/tether0001 is "t" of this program already/);
      expect(changed()).toEqual([]);
      expect(changes(await stack.up(one))).toEqual([]);
    });
  });

  describe("a tether service that moves to a network without funds", () => {
    const moved = (waitForFunds?: string) => (): void => {
      tree({ tether: { ...pins, network: "mainnet", waitForFunds } })();
    };
    const writes = (): string[] => changed().filter((call) => call.includes("/tether"));

    test("stays where it is, and at work", async () => {
      await made();
      const run = await stack.up(moved());
      expect(run.errors[0]!.message).toMatch(/has 0 wei on mainnet.*Nothing was spent.*stays on rinkeby as it is/);
      expect(writes()).toEqual([]);
      await untouched({});
    });

    test("under another logical name, too; the error names the account that needs funds", async () => {
      await made();
      const renamed = { suffix: "2", adopt: true, tether: { ...pins, network: "mainnet" } } as const;
      const run = await stack.up(tree(renamed));
      expect(run.errors.map(({ message }) => message).join()).toMatch(/Send funds to 0x[0-9a-f]{40} on mainnet/i);
      expect(writes()).toEqual([]);
      const { fields } = started.service.store.tethers.get(tetherId);
      expect(fields).toMatchObject({ active: true, network: "rinkeby", deployments: { rinkeby: 1 } });
    });

    test("goes on while it waits for them", async () => {
      await made();
      const { service, time } = started;
      let active: unknown;
      time.after(10 * 60_000, () => {
        active = service.store.tethers.get(tetherId).fields.active;
        service.store.tethers.setFunds(tetherId, "mainnet", ether);
      });
      expect(await stack.up(moved("30m"))).toMatchObject({ errors: [] });
      expect(active).toBe(true);
      const { fields } = service.store.tethers.get(tetherId);
      expect(fields).toMatchObject({ active: true, network: "mainnet", deployments: { rinkeby: 1, mainnet: 1 } });
    });
  });

  describe("two siblings that swap their names", () => {
    const members = (first: string, second: string) => (): void => {
      const consortium = new Consortium("c");
      new Membership("m1", { consortium, orgName: first });
      new Membership("m2", { consortium, orgName: second });
    };

    test("swap them in the service", async () => {
      started = await start();
      stack = new Stack(adapter);
      await stack.up(members("harbour", "roaster"));
      expect(await stack.up(members("roaster", "harbour"))).toMatchObject({ errors: [] });
      const names = started.service.store.memberships.list().map(({ id, fields }) => [id, fields.org_name]);
      expect(names).toEqual(
        expect.arrayContaining([
          [stack.of("m1").id, "roaster"],
          [stack.of("m2").id, "harbour"],
        ]),
      );
    });

    test("where the service refuses a name that is taken, the error says how", async () => {
      started = await start();
      stack = new Stack(adapter);
      await stack.up(members("harbour", "roaster"));
      const taken = { kind: "status", status: 409, errorMessage: "the name is in use", times: 1000 } as const;
      started.service.faults.add({
        ...taken,
        method: "PATCH",
        route: "/consortia/:consortiumId/memberships/:membershipId",
      });
      const run = await stack.up(members("roaster", "harbour"));
      expect(run.errors[0]!.message).toMatch(/"m[12]" has the name .* give one of them a third name/);
    });

    test("a new one takes a name that another gives up in the same run", async () => {
      started = await start();
      stack = new Stack(adapter);
      const one =
        (name: string, more = false) =>
        (): void => {
          const consortium = new Consortium("c");
          if (more) new Membership("m2", { consortium, orgName: "harbour" });
          new Membership("m1", { consortium, orgName: name });
        };
      await stack.up(one("harbour"));
      expect(await stack.up(one("roaster", true))).toMatchObject({ errors: [] });
      const names = started.service.store.memberships.list().map(({ fields }) => fields.org_name);
      expect(names.sort()).toEqual(["harbour", "roaster"]);
    });
  });

  test("a founding membership that was adopted goes with its consortium", async () => {
    started = await start({ answers: { foundingMembership: true } });
    const { service } = started;
    stack = new Stack(adapter);
    const program = (): void => {
      const consortium = new Consortium("c");
      const orgName = consortium.id.apply(() => String(service.store.memberships.list()[0]!.fields.org_name));
      new Membership("founder", { consortium, orgName, adopt: true });
    };
    expect(await stack.up(program)).toMatchObject({ errors: [] });
    const route = "/consortia/:consortiumId/memberships/:membershipId";
    service.faults.add({
      kind: "status",
      status: 403,
      errorMessage: "The founder cannot leave",
      method: "DELETE",
      route,
    });
    const run = await stack.destroy();
    expect(run.errors).toEqual([]);
    expect(run.lines.join("\n")).toMatch(
      /stays for now, and is deleted together with its consortium.*The founder cannot leave/,
    );
    expect([stack.state, service.store.consortia.list()]).toEqual([[], []]);
  });

  test("what is being deleted is not adopted: it is waited for", async () => {
    started = await start({ timing: { deleting: 20_000 } });
    stack = new Stack(adapter);
    const consortium = (): Consortium => new Consortium("c");
    await stack.up(() => void consortium());
    const { id } = started.service.store.consortia.list()[0]!;
    const made = (await send(started.service, "POST", `/consortia/${id}/memberships`, { org_name: "harbour" }))._id;
    await send(started.service, "DELETE", `/consortia/${id}/memberships/${String(made)}`);
    const run = await stack.up(
      () => void new Membership("m", { consortium: consortium(), orgName: "harbour", adopt: true }),
    );
    expect(run.errors).toEqual([]);
    expect(stack.of("m").id).not.toBe(made);
    expect(stack.of("m").outputs.state).toBe("active");
  });
});
