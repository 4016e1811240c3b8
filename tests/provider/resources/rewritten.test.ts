import { UndiciTransport } from "../../../provider/api/transport";
import { AppCred, Consortium, Environment, Membership, Node } from "../../../sdk";
import { bases, collected, type Collected, nameField, nameKey, named, storeOf } from "../../support/bases";
import { type Run, Stack } from "../../support/double/stack";
import { Engine } from "../../support/engine";
import { world } from "../../support/lifecycle";
import { newProcess, start } from "../../support/service";

/* A service that writes names in a way of its own: that is no change, and no other object. */

const ways: [string, (name: string) => string][] = [
  ["small letters", (name) => name.toLowerCase()],
  ["capitals", (name) => name.toUpperCase()],
  ["small letters and hyphens", (name) => name.toLowerCase().replaceAll(" ", "-")],
];

/** From here on the service keeps names as it likes to. */
function rewriting(write: (name: string) => string): void {
  // eslint-disable-next-line @typescript-eslint/unbound-method -- it is a mock in virtual time, and not called
  const mock = jest.mocked(UndiciTransport.prototype.send);
  const send = mock.getMockImplementation()!;
  mock.mockImplementation(function (this: UndiciTransport, request) {
    const body = request.body?.replace(/"(name|org_name)":"([^"]*)"/g, (_, key: string, name: string) => {
      return `"${key}":"${write(name)}"`;
    });
    return send.call(this, { ...request, body });
  });
}

describe.each(ways)("%s", (_way, write) => {
  test.each(collected)(
    "%s: made once, unchanged by up and refresh, renamed once, and found after a lost answer",
    async (kind) => {
      const { engine, service, net, count, calls, shown } = await world(kind);
      rewriting(write);
      const before = await count();
      const args = { ...bases[kind](net), [nameKey(kind)]: "Acme Trade" };
      service.faults.add({ kind: "resetAfter", method: "POST" });
      expect(await engine.up(args)).toEqual({ then: "created" });
      expect(await count()).toBe(before + 1);
      expect(await shown()).toMatchObject({ [nameField(kind)]: write("Acme Trade") });
      expect(engine.outputs).toMatchObject({ [nameKey(kind)]: "Acme Trade" });

      for (const round of [1, 2]) {
        newProcess();
        calls();
        expect([round, await engine.up(args)]).toEqual([round, { then: "same" }]);
        expect(await engine.refresh()).toBe("there");
        expect(await engine.up(args)).toEqual({ then: "same" });
        expect(calls().filter((call) => !call.startsWith("GET"))).toEqual([]);
      }

      const renamed = { ...args, [nameKey(kind)]: "Acme Goods" };
      expect((await engine.up(renamed)).then).toBe("updated");
      newProcess();
      await engine.refresh();
      expect(await engine.up(renamed)).toEqual({ then: "same" });
      expect(await count()).toBe(before + 1);
    },
  );
});

test.each(named)("%s: a name that somebody changed in its case alone is drift, and is put right", async (kind) => {
  const { engine, service, net, shown } = await world(kind);
  const args = { ...bases[kind](net), [nameKey(kind)]: "Acme" };
  await engine.up(args);
  storeOf(service, kind).patch(engine.kept!.id, { [nameField(kind)]: "acme" });
  newProcess();
  await engine.refresh();
  expect(engine.outputs[nameKey(kind)]).toBe("acme");
  expect(await engine.up(args)).toEqual({ then: "updated" });
  expect(await shown()).toMatchObject({ [nameField(kind)]: "Acme" });
});

test.each<Collected>(["membership", "node"])(
  "%s: two whose names differ in case alone stay two, whatever answer is lost",
  async (kind) => {
    const { engine, service, net, count, time } = await world(kind);
    const before = await count();
    const other = new Engine(kind);
    time.late = ({ method }) => (method === "POST" ? time.sleep(5_000) : Promise.resolve());
    service.faults.add({ kind: "resetBefore", method: "POST" });
    const args = ["ACME", "acme"].map((name) => ({ ...bases[kind](net), [nameKey(kind)]: name }));
    const outcomes = await Promise.all([engine.up(args[0]!), other.up(args[1]!)]);
    expect(outcomes).toEqual([{ then: "created" }, { then: "created" }]);
    expect(await count()).toBe(before + 2);
    expect(engine.kept!.id).not.toBe(other.kept!.id);
  },
);

describe.each(["dynamic", "plugin"] as const)("a whole stack on the %s provider", (adapter) => {
  const program = (): void => {
    const consortium = new Consortium("c", { name: "Trade Net" });
    const membership = new Membership("m", { consortium, orgName: "Acme Inc" });
    const environment = new Environment("e", { consortium, name: "Prod", provider: "quorum", consensusType: "raft" });
    new Node("n", { environment, membership, name: "Acme 1" });
    new AppCred("a", { environment, membership, name: "App" });
  };
  const changes = ({ steps }: Run): string[] => steps.filter((step) => !/^(same|refresh) /.test(step));

  test("names in small letters: nothing changes, with and without a refresh", async () => {
    const { calls } = await start();
    rewriting((name) => name.toLowerCase());
    const stack = new Stack(adapter);
    expect((await stack.up(program)).errors).toEqual([]);
    calls();
    for (const options of [{}, { refresh: true }, {}]) {
      newProcess();
      const run = await stack.up(program, options);
      expect([run.errors, changes(run)]).toEqual([[], []]);
    }
    expect(calls().filter((call) => !call.startsWith("GET"))).toEqual([]);
  });

  describe("adopt", () => {
    const network = (adopt: boolean) => (): void => {
      const consortium = new Consortium("c", { name: "Trade Net", adopt });
      new Membership("m", { consortium, orgName: "Acme Inc", adopt });
    };
    const ids = (stack: Stack): string[] => ["c", "m"].map((name) => stack.of(name).id);

    test("where a state shows how the service writes names, the object is found and left as it is", async () => {
      const { calls, service } = await start();
      rewriting((name) => name.toLowerCase());
      const stack = new Stack(adapter);
      expect((await stack.up(network(false))).errors).toEqual([]);
      const [before, made] = [stack.state, ids(stack)];
      // A killed run has recorded the consortium alone.
      stack.state = before.filter(({ name }) => name !== "m");
      newProcess();
      calls();
      expect((await stack.up(network(true))).errors).toEqual([]);
      expect(ids(stack)).toEqual(made);
      expect(calls().filter((call) => !call.startsWith("GET"))).toEqual([]);
      expect(service.store.memberships.list()).toHaveLength(1);
      newProcess();
      expect(changes(await stack.up(network(true), { refresh: true }))).toEqual([]);
    });

    test("where nothing shows it, a name that differs only in how it is written is named, and nothing is made or lost", async () => {
      const { service, calls } = await start();
      rewriting((name) => name.toLowerCase());
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
      expect([calls().filter((call) => !call.startsWith("GET")), ids(stack)]).toEqual([[], before]);
      // The consortium shows how this service writes names.
      expect((await stack.up(renamed(consortium))).errors).toEqual([]);
      expect(["c2", "m2"].map((name) => stack.of(name).id)).toEqual(before);
      expect(service.store.memberships.list()).toHaveLength(1);
    });

    test("--replace of what has adopt loses nothing there either", async () => {
      const { service } = await start();
      rewriting((name) => name.toLowerCase());
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

  test("what is adopted without a description keeps its own, and one that the program gives is set", async () => {
    const { service, calls } = await start();
    const theirs = new Stack(adapter);
    await theirs.up(() => void new Consortium("c", { name: "trade", description: "theirs" }));
    newProcess();
    const stack = new Stack(adapter);
    const adopting =
      (description?: string): (() => void) =>
      () =>
        void new Consortium("c", { name: "trade", adopt: true, description });
    calls();
    expect((await stack.up(adopting())).errors).toEqual([]);
    const [there] = service.store.consortia.list();
    const changed = (): string[] => calls().filter((call) => !call.startsWith("GET"));
    const description = (): unknown => service.store.consortia.get(there!.id).fields.description;
    for (const options of [{}, { refresh: true }, {}]) {
      newProcess();
      expect(changes(await stack.up(adopting(), options))).toEqual([]);
    }
    expect([changed(), description()]).toEqual([[], "theirs"]);
    service.store.consortia.patch(there!.id, { description: "theirs, too" });
    expect(changes(await stack.up(adopting(), { refresh: true }))).toEqual([]);
    expect([changed(), description()]).toEqual([[], "theirs, too"]);
    expect(changes(await stack.up(adopting("ours")))).toEqual(["update Consortium c"]);
    expect(description()).toBe("ours");
    expect(changes(await stack.up(adopting()))).toEqual(["update Consortium c"]);
    expect(description()).not.toBe("ours");
    expect(changes(await stack.up(adopting()))).toEqual([]);
  });
});
