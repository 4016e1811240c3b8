import { Consortium } from "../../../sdk";
import { logicalNameKey } from "../../../provider/constants";
import { bases, type Collected, named } from "../../support/bases";
import { Stack } from "../../support/double/stack";
import { Engine, failed, type Props } from "../../support/engine";
import { inBothManners, world } from "../../support/lifecycle";
import { type Network } from "../../support/network";
import { newProcess } from "../../support/service";
import { onBothAdapters } from "../../support/stacks";

/* What `adopt` takes, leaves unchanged and refuses. */

inBothManners(() => {
  /** An existing object, created by another run. */
  async function theirs(kind: Collected, args: Props): Promise<Engine> {
    const engine = new Engine(kind);
    expect(await engine.up(args)).toEqual({ then: "created" });
    newProcess();
    return engine;
  }

  describe("an existing object", () => {
    test.each(named)("%s: true adopts the one of this name", async (kind) => {
      const { engine, net, count, writes, said } = await world(kind);
      const first = await theirs(kind, bases[kind](net));
      writes();
      expect(await engine.up({ ...bases[kind](net), adopt: true })).toEqual({ then: "created" });
      expect(engine.kept!.id).toBe(first.kept!.id);
      expect(engine.outputs).toMatchObject({ ...first.outputs, adopt: true });
      expect(writes()).toEqual([]);
      expect(await count()).toBe(1);
      const adopts = new RegExp(`: adopts ${first.kept!.id} \\(exists already; nothing is created\\)$`);
      expect(said.filter((line) => line.includes(first.kept!.id))).toEqual([expect.stringMatching(adopts)]);
      expect(await engine.up(bases[kind](net))).toEqual({ then: "same" });
    });

    test("--continue-on-error: an object that a failed resource was to adopt stays, with everything in it", async () => {
      const { net, writes } = await world("environment");
      const environment = await theirs("environment", bases.environment(net));
      const node = await theirs("node", { ...bases.node(net), environmentId: environment.kept!.id });
      const renamed = { ...bases.environment(net), consensusType: "ibft", [logicalNameKey]: "e2" };
      writes();
      expect(await new Engine("environment").up({ ...renamed, adopt: true })).toEqual(failed(/\[cannot-adopt:/));
      await expect(node.destroy()).rejects.toThrow(/Fix "e2", then .* not deleted/);
      await expect(environment.destroy()).rejects.toThrow(/Fix "e2", then .* not deleted/);
      expect(writes()).toEqual([]);
      newProcess();
      await node.destroy();
      await environment.destroy();
      expect(writes()).toEqual([
        expect.stringMatching(/^DELETE .*nodes/),
        expect.stringMatching(/^DELETE .*environments/),
      ]);
    });
  });

  describe("changes and refusals", () => {
    test.each(["old", undefined])(
      "updates a property that can change in place: a description %s",
      async (description) => {
        const { engine, shown } = await world("consortium");
        await theirs("consortium", { name: "acme", description });
        expect(await engine.up({ name: "acme", description: "mine", adopt: true })).toEqual({ then: "created" });
        expect(await shown()).toMatchObject({ description: "mine" });
        expect(engine.outputs).toMatchObject({ description: "mine", revision: "1" });
      },
    );

    const mismatches: [Collected, (net: Network) => Props, RegExp][] = [
      [
        "environment",
        () => ({ provider: "geth", consensusType: "poa" }),
        /cannot be adopted, because provider is quorum, not geth; consensusType is raft, not poa/,
      ],
      ["environment", () => ({ chainId: 5 }), /chainId is \d+, not 5/],
      [
        "node",
        ({ otherMembershipId: membershipId }) => ({ membershipId }),
        /change the program .* membershipId is \S+, not \S+\. \[cannot-adopt:/,
      ],
    ];
    test.each(mismatches)("%s refuses an object that does not fit", async (kind, change, why) => {
      const { engine, net, writes } = await world(kind);
      await theirs(kind, bases[kind](net));
      writes();
      expect(await engine.up({ ...bases[kind](net), ...change(net), adopt: true })).toEqual(failed(why));
      expect(writes()).toEqual([]);
    });
  });

  describe("two that are to have one name, adopted at the same time", () => {
    /** Two members, and a resource that adopts one of them under a name that both are to have. */
    async function two() {
      const { net } = await world("membership");
      const made = [new Engine("membership"), new Engine("membership")];
      for (const [index, engine] of made.entries()) {
        await engine.up({ ...bases.membership(net), orgName: `member-${index}` });
      }
      newProcess();
      const take = (id: string, at: number) =>
        new Engine("membership").up({
          ...bases.membership(net),
          orgName: "same",
          adopt: id,
          [logicalNameKey]: `taker ${at}`,
        });
      return { ids: made.map(({ kept }) => kept!.id), take };
    }

    test("by two ids: both", async () => {
      const { ids, take } = await two();
      const outcomes = await Promise.all(ids.map(take));
      expect(outcomes.map(({ then }) => then)).toEqual(["created", "created"]);
    });
  });
});

onBothAdapters((make, adapter) => {
  /** A consortium of another stack with a description, and a stack that adopts it without one. */
  async function adopted() {
    const world = await make(() => void new Consortium("c", { name: "trade", description: "theirs" }));
    const { consortia } = world.service.store;
    const { id } = consortia.list()[0]!;
    const stack = new Stack(adapter);
    /** The changes of a new process to the stack, and the description afterwards. */
    const up = async (description?: string, refresh = false) => {
      newProcess();
      const program = (): void => void new Consortium("c", { name: "trade", adopt: true, description });
      const { errors, changes } = await stack.up(program, { refresh });
      expect(errors).toEqual([]);
      return { changes, description: consortia.get(id).fields.description };
    };
    await up();
    world.writes();
    return { ...world, up, theirs: (description: string) => consortia.patch(id, { description }) };
  }

  test("a description that the program does not give stays theirs, even if others change it later", async () => {
    const { writes, up, theirs } = await adopted();
    for (const refresh of [false, true, false])
      expect(await up(undefined, refresh)).toEqual({ changes: [], description: "theirs" });
    theirs("theirs, too");
    expect(await up(undefined, true)).toEqual({ changes: [], description: "theirs, too" });
    expect(writes()).toEqual([]);
  });

  test("a description that the program gives is set, and removed with it", async () => {
    const { up } = await adopted();
    expect(await up("ours")).toEqual({ changes: ["update Consortium c"], description: "ours" });
    const { changes, description } = await up();
    expect([changes, description === "ours"]).toEqual([["update Consortium c"], false]);
    expect((await up()).changes).toEqual([]);
  });
});
