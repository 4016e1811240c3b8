import { AppCred, Configuration, Consortium, Destination, Membership, Node, Service } from "../../../sdk";
import { send } from "../../support/network";
import { Stack } from "../../support/double/stack";
import { newProcess } from "../../support/service";
import { ledger, type Made, onBothAdapters } from "../../support/stacks";

/* A run's own knowledge of an object, or its state's, counts for more than the service's momentary answer. */

const node = (role?: string) =>
  ledger(({ environment, membership }) => new Node("n", { environment, membership, ...(role && { role }) }));

/** From here on, such calls are refused, without a reason if `words` is missing. */
const refuse = ({ service }: Made, method: string, route: RegExp, status: number, times: number, words?: string) => {
  const answer = words === undefined ? { body: {} } : { errorMessage: words };
  return service.faults.add({ kind: "status", status, method, route, times, ...answer });
};

onBothAdapters((make, adapter) => {
  describe("two new resources that cannot coexist are refused in the preview", () => {
    const two = (first: object, second: object) =>
      ledger(({ consortium }) => {
        new Membership("a", { consortium, ...first });
        new Membership("b", { consortium, ...second });
      });

    test.each([
      [
        "one name",
        { orgName: "harbour" },
        { orgName: "harbour" },
        /"(a|b)" of this program asks for the same membership/,
      ],
      [
        "one object",
        { orgName: "a", adopt: "u" },
        { orgName: "b", adopt: "u" },
        /"(a|b)" of this program asks for the same membership/,
      ],
    ])("%s", async (_, first, second, refused) => {
      const { stack, writes } = await make(ledger());
      expect((await stack.preview(two(first, second))).failure).toMatch(refused);
      expect((await stack.up(two(first, second))).failure).toMatch(refused);
      expect(writes().length).toBeLessThan(2);
    });

    test("but not two names, one name in two places, or one name for two that are adopted", async () => {
      const { stack } = await make(two({ orgName: "harbour" }, { orgName: "quay" }));
      const ids = ["a", "b"].map((name) => stack.of(name).id);
      const elsewhere = ledger(({ consortium }) => {
        const other = new Consortium("other");
        new Membership("a", { consortium, orgName: "harbour" });
        new Membership("b", { consortium, orgName: "quay" });
        new Membership("there", { consortium: other, orgName: "harbour" });
      });
      expect((await stack.up(elsewhere)).errors).toEqual([]);
      newProcess();
      const adopting = (): void => {
        const consortium = new Consortium("c", { adopt: true });
        for (const [index, adopt] of ids.entries()) new Membership(`m${index}`, { consortium, orgName: "same", adopt });
      };
      expect((await new Stack(adapter).up(adopting)).errors).toEqual([]);
    });
  });

  describe("a credential with a taken name, on a service with unique names", () => {
    const pair = (keepers?: Record<string, unknown>) =>
      ledger(({ environment, membership }) => new AppCred("a", { environment, membership, keepers }));

    test.each(["already exists", "conflict"])(
      "beside the one it replaces: the error says how to delete that first (%s)",
      async (words) => {
        const world = await make(pair());
        refuse(world, "POST", /appcreds$/, 409, 9, words);
        const id = world.stack.of("a").id;
        const replaced = RegExp(`deleteBeforeReplace: true.*It replaces ${id}`);
        expect((await world.stack.up(pair({ a: 1 }))).failure).toMatch(replaced);
        newProcess();
        const asked = await world.stack.up(pair(), { replace: ["a"] });
        expect(asked.failure).toMatch(/for `--replace`, set the resource option deleteBeforeReplace: true/);
      },
    );

    test("beside one that a run left behind: the error names it, and how to remove it, because it cannot be adopted", async () => {
      const world = await make(pair());
      const { id } = world.stack.of("a");
      world.forget("a");
      newProcess();
      const refusal = refuse(world, "POST", /appcreds$/, 409, 9, "already exists");
      const { failure } = await world.stack.up(pair());
      expect(failure).toMatch(RegExp(`The same member and name already exist: ${id}\\..*sweep --id ${id}`));
      expect(failure).not.toContain("adopt");
      refusal.remove();
      world.service.store.credentials.remove(id);
      expect((await world.stack.up(pair())).errors).toEqual([]);
    });
  });

  describe("an object that was created a moment ago, and is not shown yet", () => {
    const lagging = async () => {
      const world = await make(node(), { answers: { getById: false } });
      world.service.setTiming({ listLag: 3_500 });
      newProcess();
      return world;
    };

    test("does not count as gone in a refresh, even if its parent is not shown yet, either", async () => {
      const world = await lagging();
      const { stack } = world;
      const before = stack.state.length;
      expect(await stack.refresh()).toMatchObject({ errors: [] });
      expect(stack.state).toHaveLength(before);
      expect((await stack.up(node())).changes).toEqual([]);
      refuse(world, "GET", /\/(nodes|memberships|environments)$/, 404, 9, "not found");
      newProcess();
      expect(await stack.refresh()).toMatchObject({ errors: [] });
      expect(stack.state).toHaveLength(before);
    });

    test("does not count as gone if it is a credential without a time of creation, and is deleted", async () => {
      const program = ledger(({ environment, membership }) => new AppCred("a", { environment, membership }));
      const world = await make(program, { answers: { getById: false } });
      const { id } = world.stack.of("a");
      world.service.setTiming({ listLag: 3_500 });
      newProcess();
      expect(await world.stack.refresh()).toMatchObject({ errors: [] });
      expect(world.stack.of("a").id).toBe(id);
      const refusal = refuse(world, "DELETE", /appcreds/, 404, 1);
      expect(await world.stack.destroy()).toMatchObject({ errors: [] });
      expect([world.service.store.credentials.list(), refusal.hits]).toEqual([[], 1]);
    });

    test("is deleted, although the service does not know it at first", async () => {
      const world = await lagging();
      refuse(world, "DELETE", /nodes/, 404, 1);
      expect(await world.stack.destroy()).toMatchObject({ errors: [] });
      expect([world.stack.state, world.service.store.nodes.list()]).toEqual([[], []]);
    });

    test("is awaited by new objects in it", async () => {
      const world = await make();
      refuse(world, "POST", /\/environments$/, 404, 2, "consortium not found");
      refuse(world, "GET", /\/memberships$/, 404, 2, "consortium not found");
      expect(await world.stack.up(ledger())).toMatchObject({ errors: [] });
    });
  });

  test("but a 404 for a new object in an older one is an error at once", async () => {
    const world = await make(ledger());
    newProcess();
    const refusal = refuse(world, "POST", /\/nodes$/, 404, 9, "not here");
    expect((await world.stack.up(node())).failure).toMatch(/HTTP 404: not here/);
    expect(refusal.hits).toBe(1);
  });

  describe("a create that is refused without a clear reason", () => {
    test("waits for other objects that this run is creating there", async () => {
      const world = await make(undefined, { timing: { nodeStart: 20_000 } });
      refuse(world, "POST", /\/appcreds$/, 409, 3, "conflict");
      const program = ledger(({ environment, membership }) => {
        new Node("n", { environment, membership });
        new AppCred("a", { environment, membership });
      });
      expect(await world.stack.up(program)).toMatchObject({ errors: [] });
      expect(world.service.store.credentials.list()).toHaveLength(1);
    });

    test.each([undefined, "a node of this name already exists"])("waits for a freed name: %s", async (errorMessage) => {
      const world = await make(node());
      refuse(world, "POST", /\/nodes$/, 409, 3, errorMessage);
      expect(await world.stack.up(node("other:other"))).toMatchObject({ errors: [] });
      expect(world.service.store.nodes.list()).toMatchObject([{ fields: { role: "other" } }]);
    });

    test.each([undefined, "already exists."])(
      "says how to delete the replaced object first: %s",
      async (errorMessage) => {
        const program = (type: string, options = {}) =>
          ledger(({ environment, membership }) => new Configuration("g", { environment, membership, type }, options));
        const world = await make(program("node_config"));
        const { id } = world.stack.of("g");
        refuse(world, "POST", /\/configurations$/, 409, 9, errorMessage);
        const { failure } = await world.stack.up(program("other:kms"));
        expect(failure).toMatch(new RegExp(`deleteBeforeReplace: true.*It replaces ${id}`));
        expect(world.service.store.configurations.list()).toHaveLength(1);
        world.service.faults.clear();
        const steps = ["create Configuration g", "delete Configuration g"];
        await world.expectChanges(program("other:kms", { deleteBeforeReplace: true }), steps);
      },
    );
  });

  test.each([
    ["Live Ledger", "live-ledger", true, false],
    ["Ledger", "ledger", true, false],
    ["Live Ledger", "live-ledger", undefined, true],
    ["Ledger", "other", true, true],
  ])("environment %s beside the unmanaged %s, with adopt %s, is created: %s", async (name, there, adopt, isMade) => {
    const { service, stack } = await make((): void => void new Consortium("c"));
    const fields = { name: there, provider: "quorum", consensus_type: "raft" };
    await send(service, "POST", `/consortia/${stack.of("c").id}/environments`, fields);
    newProcess();
    const { failure } = await stack.up(ledger(undefined, { name, adopt }));
    expect(service.store.environments.list()).toHaveLength(isMade ? 2 : 1);
    expect(failure).toContain(isMade ? "" : "[cannot-adopt:");
    expect(failure === "").toBe(isMade);
  });

  test("destinations of a failed service are kept by a refresh, and deleted with it", async () => {
    const program = ledger(({ environment, membership }) => {
      const service = new Service("s", { environment, membership, service: "documentstore" });
      const idRegistry = new Service("r", { environment, membership, service: "idregistry" });
      new Destination("d", { service, membership, idRegistry, testCertificate: true });
    });
    const { service, stack } = await make(program);
    const { services } = service.store;
    services.setState(stack.of("s").id, "failed");
    newProcess();
    const refreshed = await stack.refresh();
    expect([refreshed.errors, stack.of("d").id]).toEqual([[], "d"]);
    expect(refreshed.said).toMatch(/destination "d".* is kept as it was, because it cannot be read: .*GET/);
    expect((await stack.up(program, { replace: ["s"] })).failure).toMatch(/\[name-taken:/);
    const gone = await stack.destroy();
    expect([gone.errors, stack.state, services.list()]).toEqual([[], [], []]);
  });

  test("a member that came with the consortium is named as such", async () => {
    const { stack } = await make(undefined, { answers: { foundingMembership: true } });
    const run = await stack.up((): void => void new Membership("local", { consortium: new Consortium("c") }));
    expect(run.failure).toMatch(/set adopt: true .*to manage it here/);
  });
});
