import { AppCred, Consortium, Environment, Membership, Node } from "../../../sdk";
import { bases, collected, type Collected, nameField, nameKey } from "../../support/bases";
import { type Run, Stack } from "../../support/double/stack";
import { world } from "../../support/lifecycle";
import { newProcess, start } from "../../support/service";
import { rewriting } from "../../support/virtual-time";

/* A service that writes names in a way of its own: that is no change, and no other object. */

const ways: [string, (name: string) => string][] = [
  ["small letters", (name) => name.toLowerCase()],
  ["capitals", (name) => name.toUpperCase()],
  ["small letters and hyphens", (name) => name.toLowerCase().replaceAll(" ", "-")],
];

/** A body with its names as such a service keeps them. */
const written =
  (write: (name: string) => string) =>
  (body: string): string =>
    body.replace(/"(name|org_name)":"([^"]*)"/g, (_, key: string, name: string) => `"${key}":"${write(name)}"`);

const inSmallLetters = written((name) => name.toLowerCase());

const listed = (text: string, { method }: { method: string }): string =>
  method === "GET" ? inSmallLetters(text) : text;

const isChange = (call: string): boolean => !call.startsWith("GET");

describe.each(ways)("%s", (_way, write) => {
  /** One with a name that the service writes in its way, after a first answer that was lost. */
  const made = async (kind: Collected) => {
    const at = await world(kind);
    rewriting({ request: written(write) });
    const before = await at.count();
    const args = { ...bases[kind](at.net), [nameKey(kind)]: "Acme Trade" };
    at.service.faults.add({ kind: "resetAfter", method: "POST" });
    return { ...at, args, before, outcome: await at.engine.up(args) };
  };

  test.each(collected)("%s: it is found after a lost answer, and keeps the program's name", async (kind) => {
    const { engine, count, shown, before, outcome } = await made(kind);
    expect(outcome).toEqual({ then: "created" });
    expect(await count()).toBe(before + 1);
    expect(await shown()).toMatchObject({ [nameField(kind)]: write("Acme Trade") });
    expect(engine.outputs).toMatchObject({ [nameKey(kind)]: "Acme Trade" });
  });

  test.each(collected)("%s: neither an up nor a refresh of a later process finds a change", async (kind) => {
    const { engine, args, calls } = await made(kind);
    newProcess();
    calls();
    expect(await engine.up(args)).toEqual({ then: "same" });
    for (const round of [1, 2]) {
      newProcess();
      expect([round, await engine.refresh(), await engine.up(args)]).toEqual([round, "there", { then: "same" }]);
    }
    expect(calls().filter(isChange)).toEqual([]);
  });

  test.each(collected)("%s: another name is set once", async (kind) => {
    const { engine, args, count, before } = await made(kind);
    const renamed = { ...args, [nameKey(kind)]: "Acme Goods" };
    expect((await engine.up(renamed)).then).toBe("updated");
    newProcess();
    await engine.refresh();
    expect(await engine.up(renamed)).toEqual({ then: "same" });
    expect(await count()).toBe(before + 1);
  });
});

describe.each(["dynamic", "plugin"] as const)("a whole stack on the %s provider", (adapter) => {
  const program = (): void => {
    const consortium = new Consortium("c", { name: "Trade Net" });
    const membership = new Membership("m", { consortium, orgName: "Acme Inc" });
    const environment = new Environment("e", { consortium, name: "Prod", provider: "quorum", consensusType: "raft" });
    new Node("n", { environment, membership, name: "Acme 1" });
    new AppCred("a", { environment, membership, name: "App" });
  };
  const changes = ({ steps }: Run): string[] => steps.filter((step) => !/^(same|refresh) /.test(step));

  test.each([
    ["names in small letters", { request: inSmallLetters }],
    ["names that only lists show in small letters", { answer: listed }],
  ])("%s: nothing changes, with and without a refresh", async (_title, way) => {
    const { calls } = await start();
    rewriting(way);
    const stack = new Stack(adapter);
    expect((await stack.up(program)).errors).toEqual([]);
    calls();
    for (const options of [{}, { refresh: true }, {}]) {
      newProcess();
      const run = await stack.up(program, options);
      expect([run.errors, changes(run)]).toEqual([[], []]);
    }
    expect(calls().filter(isChange)).toEqual([]);
  });

  test("names that only lists show in small letters, without revisions: they are sent once more, and then left", async () => {
    await start();
    rewriting({ answer: (text, sent) => listed(text, sent).replaceAll('"_revision":', '"version":') });
    const stack = new Stack(adapter);
    expect((await stack.up(program)).errors).toEqual([]);
    const rounds: number[] = [];
    for (let round = 0; round < 3; round++) {
      newProcess();
      const run = await stack.up(program, { refresh: true });
      expect(run.errors).toEqual([]);
      rounds.push(changes(run).length);
    }
    expect(rounds[0]).toBeGreaterThan(0);
    expect(rounds.slice(1)).toEqual([0, 0]);
  });

  describe("adopt", () => {
    const network = (adopt: boolean) => (): void => {
      const consortium = new Consortium("c", { name: "Trade Net", adopt });
      new Membership("m", { consortium, orgName: "Acme Inc", adopt });
    };
    const ids = (stack: Stack): string[] => ["c", "m"].map((name) => stack.of(name).id);

    test("where a state shows how the service writes names, the object is found and left as it is", async () => {
      const { calls, service } = await start();
      rewriting({ request: inSmallLetters });
      const stack = new Stack(adapter);
      expect((await stack.up(network(false))).errors).toEqual([]);
      const [before, made] = [stack.state, ids(stack)];
      // A killed run has recorded the consortium alone.
      stack.state = before.filter(({ name }) => name !== "m");
      newProcess();
      calls();
      expect((await stack.up(network(true))).errors).toEqual([]);
      expect(ids(stack)).toEqual(made);
      expect(calls().filter(isChange)).toEqual([]);
      expect(service.store.memberships.list()).toHaveLength(1);
      newProcess();
      expect(changes(await stack.up(network(true), { refresh: true }))).toEqual([]);
    });

    test("where nothing shows it, a name that differs only in how it is written is named, and nothing is made or lost", async () => {
      const { service, calls } = await start();
      rewriting({ request: inSmallLetters });
      const stack = new Stack(adapter);
      await stack.up(network(false));
      const [consortium, before] = [stack.of("c").id, ids(stack)];
      newProcess();
      calls();
      const renamed = (adopt: true | string) => (): void => {
        const c = new Consortium("c2", { name: "Trade Net", adopt });
        new Membership("m2", { consortium: c, orgName: "Acme Inc", adopt: true });
      };
      const refused = await stack.up(renamed(true));
      expect(refused.errors[0]!.message).toMatch(
        new RegExp(
          `nothing has exactly this name, but ${consortium} is called "trade net".*set adopt: "${consortium}"`,
        ),
      );
      expect([calls().filter(isChange), ids(stack)]).toEqual([[], before]);
      // The consortium shows how this service writes names.
      expect((await stack.up(renamed(consortium))).errors).toEqual([]);
      expect(["c2", "m2"].map((name) => stack.of(name).id)).toEqual(before);
      expect(service.store.memberships.list()).toHaveLength(1);
    });

    test("--replace of what has adopt loses nothing there either", async () => {
      const { service } = await start();
      rewriting({ request: inSmallLetters });
      const stack = new Stack(adapter);
      await stack.up(network(true));
      const [consortium] = ids(stack);
      newProcess();
      const refused = await stack.up(network(true), { replace: ["c"] });
      expect(refused.errors[0]!.message).toContain(`adopt: "${consortium}"`);
      expect([stack.of("c").id, service.store.consortia.list().map(({ id }) => id)]).toEqual([
        consortium,
        [consortium],
      ]);
    });
  });
});
