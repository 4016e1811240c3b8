import { bases, type Collected, nameField, nameKey, named, storeOf } from "../../support/bases";
import { Engine, type Props } from "../../support/engine";
import { world } from "../../support/lifecycle";
import { newProcess } from "../../support/service";

/* Names that are taken, and adopting what exists. */

describe("a name that is taken", () => {
  test.each(named)("%s: refused with the id and what to do, and nothing is made", async (kind) => {
    const { engine, net, count, calls } = await world(kind);
    await new Engine(kind).up(bases[kind](net));
    const before = await count();
    calls();
    const outcome = await engine.up(bases[kind](net));
    expect(outcome).toMatchObject({ then: "failed" });
    const { error } = outcome as { error: string };
    expect(error).toMatch(/already taken by \S+\. .*adopt: true.*CONSORTIUM_ADOPT=true pulumi up/);
    expect(calls().filter((call) => call.startsWith("POST"))).toEqual([]);
    expect(await count()).toBe(before);
  });

  test("only in the same parent", async () => {
    const { engine, net } = await world("node");
    await new Engine("node").up(bases.node(net));
    const elsewhere = { ...bases.node(net), environmentId: net.otherEnvironmentId };
    expect(await engine.up(elsewhere)).toEqual({ then: "created" });
  });

  test("by two resources of one program at once: one is made, the other is told", async () => {
    const { engine, net, count } = await world("membership");
    const before = await count();
    const outcomes = await Promise.all([engine, new Engine("membership")].map((one) => one.up(bases.membership(net))));
    expect(outcomes.map(({ then }) => then)).toEqual(["created", "failed"]);
    expect(outcomes[1]).toMatchObject({ error: expect.stringMatching(/another resource of this program/) as string });
    expect(await count()).toBe(before + 1);
  });

  test("no longer, once it was deleted, although the list is behind", async () => {
    const { engine, service, net, time } = await world("membership");
    await engine.up(bases.membership(net));
    newProcess();
    service.setTiming({ listLag: 500 });
    time.pass(1_000);
    service.store.memberships.remove(engine.kept!.id);
    expect(await new Engine("membership").up(bases.membership(net))).toEqual({ then: "created" });
  });

  test("of credentials does not matter: each is a pair of its own", async () => {
    const { engine, net } = await world("appCred");
    const other = new Engine("appCred");
    await other.up(bases.appCred(net));
    expect(await engine.up(bases.appCred(net))).toEqual({ then: "created" });
    expect(engine.kept!.id).not.toBe(other.kept!.id);
  });
});

/** One that exists already: another run has made it. */
async function theirs(kind: Collected, args: Props): Promise<Engine> {
  const engine = new Engine(kind);
  expect(await engine.up(args)).toEqual({ then: "created" });
  newProcess();
  return engine;
}

describe("adopt", () => {
  test.each(named)("%s: true adopts the one of this name", async (kind) => {
    const { engine, net, count, calls, said } = await world(kind);
    const first = await theirs(kind, bases[kind](net));
    const before = await count();
    calls();
    expect(await engine.up({ ...bases[kind](net), adopt: true })).toEqual({ then: "created" });
    expect(engine.kept!.id).toBe(first.kept!.id);
    expect(engine.outputs).toMatchObject({ ...first.outputs, adopt: true });
    expect(calls().filter((call) => !call.startsWith("GET"))).toEqual([]);
    expect(await count()).toBe(before);
    const adopts = expect.stringMatching(
      `: adopts ${first.kept!.id} \\(exists already; nothing is created\\)$`,
    ) as string;
    expect(said.filter((line) => line.includes(first.kept!.id))).toEqual([adopts]);
    expect(await engine.up(bases[kind](net))).toEqual({ then: "same" });
  });

  test.each(named)("%s: true makes it where there is none", async (kind) => {
    const { engine, net, count } = await world(kind);
    const before = await count();
    expect(await engine.up({ ...bases[kind](net), adopt: true })).toEqual({ then: "created" });
    expect(await count()).toBe(before + 1);
  });

  test.each(named)("%s: CONSORTIUM_ADOPT adopts whatever has its name", async (kind) => {
    const { engine, net } = await world(kind);
    process.env.CONSORTIUM_ADOPT = "true";
    const first = await theirs(kind, bases[kind](net));
    expect(await engine.up(bases[kind](net))).toEqual({ then: "created" });
    expect(engine.kept!.id).toBe(first.kept!.id);
  });

  test.each(named)("%s: an id adopts that one, under its new name", async (kind) => {
    const { engine, net, shown, count } = await world(kind);
    const first = await theirs(kind, bases[kind](net));
    const before = await count();
    const { id } = first.kept!;
    const renamed = { ...bases[kind](net), [nameKey(kind)]: "renamed", adopt: id };
    expect(await engine.up(renamed)).toEqual({ then: "created" });
    expect(engine.kept!.id).toBe(id);
    expect(await shown()).toMatchObject({ [nameField(kind)]: "renamed" });
    expect(engine.outputs).toMatchObject({ [nameKey(kind)]: "renamed", revision: "1" });
    expect(await count()).toBe(before);
  });

  test.each(named)("%s: an id that does not exist fails at up, and nothing is made", async (kind) => {
    const { engine, net, count, calls } = await world(kind);
    const before = await count();
    const args = { ...bases[kind](net), adopt: "nowhere" };
    expect(await engine.preview(args)).toEqual({ then: "created" });
    calls();
    expect(await engine.up(args)).toMatchObject({
      then: "failed",
      error: expect.stringMatching(/there is no .* nowhere under .* to adopt/) as string,
    });
    expect(calls().filter((call) => !call.startsWith("GET"))).toEqual([]);
    expect(await count()).toBe(before);
  });

  test("puts right what can change in place", async () => {
    const { engine, net, shown } = await world("consortium");
    await theirs("consortium", bases.consortium(net));
    expect(await engine.up({ name: "acme", description: "mine", adopt: true })).toEqual({ then: "created" });
    expect(await shown()).toMatchObject({ description: "mine" });
    expect(engine.outputs).toMatchObject({ description: "mine", revision: "1" });
  });

  test("gives a description to one that has none", async () => {
    const { engine, shown } = await world("consortium");
    await theirs("consortium", { name: "acme" });
    expect(await engine.up({ name: "acme", description: "mine", adopt: true })).toEqual({ then: "created" });
    expect(await shown()).toMatchObject({ description: "mine" });
    expect(engine.outputs).toMatchObject({ description: "mine", revision: "1" });
  });

  test.each([
    [
      "environment",
      { provider: "geth", consensusType: "poa" },
      /cannot be adopted, since provider is quorum, not geth; consensusType is raft, not poa/,
    ],
    ["environment", { chainId: 5 }, /chainId is \d+, not 5/],
  ] as const)("%s refuses what does not fit: %j", async (kind, change, why) => {
    const { engine, net, calls } = await world(kind);
    await theirs(kind, bases[kind](net));
    calls();
    expect(await engine.up({ ...bases[kind](net), ...change, adopt: true })).toMatchObject({
      then: "failed",
      error: expect.stringMatching(why) as string,
    });
    expect(calls().filter((call) => !call.startsWith("GET"))).toEqual([]);
  });

  test("a node of another member is refused", async () => {
    const { engine, net } = await world("node");
    await theirs("node", bases.node(net));
    const other = { ...bases.node(net), membershipId: net.otherMembershipId, adopt: true };
    expect(await engine.up(other)).toMatchObject({
      then: "failed",
      error: expect.stringMatching(/membershipId is \S+, not \S+\. Change the program/) as string,
    });
  });

  test("several of one name: says which there are", async () => {
    const { engine, service, net } = await world("node");
    const first = new Engine("node");
    const second = new Engine("node");
    await first.up(bases.node(net));
    await second.up({ ...bases.node(net), name: "n2" });
    newProcess();
    storeOf(service, "node").patch(second.kept!.id, { name: "n1" });
    const { error } = (await engine.up({ ...bases.node(net), adopt: true })) as { error: string };
    expect(error).toContain(`several have this name (${first.kept!.id}, ${second.kept!.id})`);
  });

  test.each(named)("%s: not what another resource of the same program is already", async (kind) => {
    const { engine, net, count } = await world(kind);
    const before = await count();
    const other = new Engine(kind);
    expect(await other.up({ ...bases[kind](net), adopt: true })).toEqual({ then: "created" });
    for (const adopt of [true, other.kept!.id]) {
      expect(await engine.up({ ...bases[kind](net), adopt })).toMatchObject({
        then: "failed",
        error: expect.stringMatching(`another resource of this program is ${other.kept!.id} already`) as string,
      });
    }
    expect(await count()).toBe(before + 1);
  });
});

test.each(["consortium", "environment", "node"] as const)(
  "%s: a quota that is used up is the service's own sentence, and nothing is kept",
  async (kind) => {
    const { engine, net } = await world(kind, { limits: { consortia: 1, environments: 2, nodes: 1 } });
    expect(await engine.up(bases[kind](net))).toMatchObject({
      then: "failed",
      error: expect.stringMatching(/POST \/consortia.*HTTP 409: The limit is reached/) as string,
    });
    expect(engine.kept).toBeUndefined();
  },
);
