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
import { type ServiceOptions } from "../../../service/index";
import { type Program } from "../../support/double/stack";
import { setEnvironment } from "../../support/service";
import { type Made, onOneAdapter } from "../../support/stacks";
import { ether, tetherId } from "../../support/tethered";

/* One object, several resources of a program: an object that another resource has, or takes over, is neither adopted nor deleted. */

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
  consensusType?: "raft" | "ibft";
  tether?: TetherServiceArgs;
}

const prod = (consortium: Consortium) =>
  ({ consortium, name: "prod", provider: "quorum", consensusType: "raft" }) as const;

const tree =
  ({ suffix = "", adopt, adoptOnly, options, without = [], consensusType, tether = pins }: Shape = {}) =>
  (): void => {
    const named = (name: string): string => `${name}${suffix}`;
    const adopts = (name: string): boolean | undefined => adopt ?? (adoptOnly === name || undefined);
    const consortium = new Consortium(named("c"), { name: "trade", adopt: adopts("c") });
    const membership = new Membership(named("m"), { consortium, orgName: "harbour", adopt: adopts("m") });
    const environment = new Environment(
      named("e"),
      { ...prod(consortium), ...(consensusType && { consensusType }), adopt: adopts("e") },
      options,
    );
    new Node(named("n"), { environment, membership, name: "node-1", adopt: adopts("n") }, options);
    if (!without.includes("a")) new AppCred(named("a"), { environment, membership, name: "app" });
    new TetherService(named("t"), tether);
  };

onOneAdapter((make) => {
  let world: Made;
  let before: string[];

  /** The objects with data, by their ids. */
  const objects = (): string[] => {
    const { consortia, memberships, environments, nodes } = world.service.store;
    return [consortia, memberships, environments, nodes].flatMap((kind) => kind.list().map(({ id }) => id));
  };
  const names = (): string[] => [...world.stack.resources.keys()].sort();

  async function made(program: Program = tree(), options: ServiceOptions = {}): Promise<Made> {
    world = await make(program, { tethers, ...options });
    before = objects();
    return world;
  }

  /** Everything exists, the tether runs and was paid for once, and nothing is left to do. */
  async function untouched(shape: Shape): Promise<void> {
    const { service, stack } = world;
    expect(objects()).toEqual(before);
    expect(service.store.credentials.list()).toHaveLength(1);
    expect(service.store.tethers.get(tetherId).fields).toMatchObject({ active: true, deployments: { rinkeby: 1 } });
    expect((await stack.up(tree(shape))).changes).toEqual([]);
    expect(await stack.refresh()).toMatchObject({ errors: [] });
    expect((await stack.up(tree(shape))).changes).toEqual([]);
  }

  describe("another logical name", () => {
    test.each([
      ["adopt", { suffix: "2", adopt: true }, {}],
      ["CONSORTIUM_ADOPT", { suffix: "2" }, { CONSORTIUM_ADOPT: "true" }],
    ])("%s: the objects stay, and the old resources leave the state with one line each", async (_, shape, env) => {
      const { stack, writes } = await made();
      setEnvironment(env);
      const run = await stack.up(tree(shape));
      expect(run.errors).toEqual([]);
      for (const [name, id] of ["c", "m", "e", "n"].map((name, at) => [name, before[at]!] as const)) {
        const said = run.lines.filter((line) => line.includes(id) && line.includes("not deleted"));
        expect(said).toEqual([
          expect.stringContaining(`(${id}): not deleted, because it is "${name}2" of the program now`),
        ]);
      }
      expect(names()).toEqual(["a2", "c2", "e2", "m2", "n2", "t2"]);
      expect(writes().filter((call) => /^(DELETE|PATCH|PUT)|tether/.test(call))).toEqual([
        "DELETE /consortia/:consortiumId/environments/:environmentId/appcreds/:credentialId",
      ]);
      setEnvironment({ CONSORTIUM_ADOPT: undefined });
      await untouched(shape);
    });

    test("a run that was killed between the two: the next one keeps the object, too", async () => {
      const { stack } = await made();
      const old = stack.state;
      await stack.up(tree({ suffix: "2", adopt: true, without: ["a"] }));
      // The old resources are in the state still, beside the new ones.
      const back = old.filter(({ name }) => ["c", "m", "e", "n", "t"].includes(name));
      stack.state = [...back, ...stack.state];
      const run = await stack.up(tree({ suffix: "2", adopt: true }));
      const gone = ["Consortium c", "Environment e", "Membership m", "Node n", "TetherService t"];
      const steps = ["create AppCred a2", ...gone.map((one) => `delete ${one}`)];
      expect([run.errors, run.changes.sort()]).toEqual([[], steps]);
      await untouched({ suffix: "2", adopt: true });
    });
  });

  describe("--replace of a resource with adopt", () => {
    test.each([
      ["a consortium", "c", undefined],
      ["a tether service", "t", undefined],
      ["a tether service, which does not show itself", "t", undefined, true],
    ])("%s", async (_, name, options, strict = false) => {
      const shape = { adopt: true, options };
      const { stack, time } = await made(tree(shape), strict ? { answers: { getById: false } } : {});
      time.pass(3 * 3_600_000);
      const run = await stack.up(tree(shape), { replace: [name] });
      expect([run.errors, run.changes.some((step) => step.endsWith(` ${name}`))]).toEqual([[], true]);
      await untouched(shape);
    });

    test.each(["e", "n"])("%s, which is to be deleted first: the run stops, and nothing is lost", async (name) => {
      const shape = { adopt: true, options: { deleteBeforeReplace: true } };
      const { stack, writes } = await made(tree(shape));
      const { failure } = await stack.up(tree(shape), { replace: [name] });
      expect(failure).toMatch(
        /For a new one, take adopt out.* is not deleted, because "\w" of the program may adopt it.*\[managed-twice:/,
      );
      expect([objects(), writes()]).toEqual([before, []]);
    });

    test.each([{}, { deleteBeforeReplace: true }])(
      "an object that a change replaces does not stay, because it does not fit (options: %j)",
      async (options) => {
        const { stack, service } = await made(tree({ adopt: true, options }));
        const fitting = tree({ adopt: true, options, consensusType: "ibft", without: ["a"] });
        expect((await stack.up(fitting)).errors).toEqual([]);
        const { environments, nodes } = service.store;
        expect([before[2], before[3]].filter((id) => objects().includes(id!))).toEqual([]);
        expect(environments.list().map(({ fields }) => fields.consensus_type)).toEqual(["ibft"]);
        expect(nodes.list()).toHaveLength(1);
      },
    );
  });

  describe("an object of another resource of the program", () => {
    /** Environments that all have the name prod: `e`, and the resources that adopt it. */
    const program =
      (...environments: { name: string; adopt?: boolean | string }[]) =>
      (): void => {
        const consortium = new Consortium("c", { name: "trade" });
        for (const { name, adopt } of environments) new Environment(name, { ...prod(consortium), adopt });
      };
    const e = { name: "e" };
    const alone = program(e);

    test("registered while the other is being created: both fail at once, and nothing is created", async () => {
      const later =
        (...others: string[]) =>
        (): void => {
          const consortium = new Consortium("c", { name: "trade" });
          for (const name of others) new Environment(name, prod(consortium));
          new Environment("e", prod(consortium), { dependsOn: new Membership("m", { consortium }) });
        };
      const { stack, time, writes } = await made(later());
      const began = time.now();
      const { errors } = await stack.up(later("e2"));
      expect(errors.map(({ name, message }) => [name, message])).toEqual([
        ["e", expect.stringContaining('is "e" of this program already') as string],
        ["e2", expect.stringContaining("[name-taken:") as string],
      ]);
      expect(time.now() - began).toBeLessThan(5_000);
      expect([objects(), writes()]).toEqual([before, []]);
    });

    test("twice in a state is refused: it stays whichever resource is removed first, and is deleted with the last one", async () => {
      const { stack } = await made(alone);
      const e2 = { name: "e2", adopt: true };
      const one = stack.of("e");
      const twin = { ...one, name: "e2", urn: one.urn.replace(/::e$/, "::e2") };
      const twice = [...stack.state, { ...twin, inputs: { ...twin.inputs, __logicalName: "e2" } }];
      stack.state = twice;
      expect((await stack.up(program(e, e2))).failure).toMatch(/take "e2?" or "e2?" out of the program/);
      for (const left of [e, e2]) {
        stack.state = twice;
        expect((await stack.up(program(left))).errors).toEqual([]);
        expect([objects(), names()]).toEqual([before, ["c", left.name]]);
      }
      stack.state = twice;
      expect((await stack.destroy()).errors).toEqual([]);
      expect(objects()).toEqual([]);
    });
  });
});

onOneAdapter((make) => {
  test.each([400, 403, 405, 409])(
    "an adopted founding membership is deleted with its consortium (HTTP %s)",
    async (status) => {
      const founding = { answers: { foundingMembership: true } };
      const { stack, service, time } = await make(undefined, founding);
      const { memberships, consortia } = service.store;
      const program = (): void => {
        const consortium = new Consortium("c");
        const orgName = consortium.id.apply(() => String(memberships.list()[0]!.fields.org_name));
        new Membership("founder", { consortium, orgName, adopt: true });
      };
      expect(await stack.up(program)).toMatchObject({ errors: [] });
      const refusal = { kind: "status", status, errorMessage: "The founder cannot leave" } as const;
      service.faults.add({ ...refusal, method: "DELETE", route: /memberships/ });
      const began = time.now();
      const run = await stack.destroy();
      expect(run.errors).toEqual([]);
      expect(time.now() - began).toBeLessThan(20_000);
      expect(run.said).toMatch(/stays for now, and is deleted together with its consortium.*The founder cannot leave/);
      expect([stack.state, consortia.list()]).toEqual([[], []]);
    },
  );
});
