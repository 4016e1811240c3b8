import { AppCred, Configuration, Consortium, Destination, Environment, Membership, Node, Service } from "../../../sdk";
import { type ServiceOptions } from "../../../service/index";
import { type Run, Stack } from "../../support/double/stack";
import { send } from "../../support/network";
import { newProcess, start, type Started } from "../../support/service";

/* What a run or its state knows of an object counts for more than what a service says of it at that moment. */

const changes = ({ steps }: Run): string[] => steps.filter((step) => !/^(same|refresh) /.test(step));
const messages = ({ errors }: Run): string => errors.map(({ message }) => message).join("\n");

interface Base {
  consortium: Consortium;
  membership: Membership;
  environment: Environment;
}

const network =
  (more: (base: Base) => unknown = () => undefined, name = "e") =>
  (): void => {
    const consortium = new Consortium("c");
    const membership = new Membership("m", { consortium });
    const environment = new Environment("e", { consortium, provider: "quorum", consensusType: "raft", name });
    more({ consortium, membership, environment });
  };
const node = (role?: string) =>
  network(({ environment, membership }) => new Node("n", { environment, membership, ...(role && { role }) }));

describe.each(["dynamic", "plugin"] as const)("%s", (adapter) => {
  let started: Started;
  let stack: Stack;
  const begin = async (options: ServiceOptions = {}): Promise<void> => {
    started = await start(options);
    stack = new Stack(adapter);
  };
  const refuse = (method: string, route: RegExp, status: number, times: number, errorMessage?: string) =>
    started.service.faults.add({
      kind: "status",
      status,
      method,
      route,
      times,
      ...(errorMessage === undefined ? { body: {} } : { errorMessage }),
    });

  describe("two new resources that cannot both be had are refused in the preview", () => {
    const two = (first: object, second: object) =>
      network(({ consortium }) => {
        new Membership("a", { consortium, ...first });
        new Membership("b", { consortium, ...second });
      });
    const refused =
      /"(a|b)" of this program is also to be made under this name|"(a|b)" of this program also adopts this one/;

    test.each([
      ["one name", { orgName: "harbour" }, { orgName: "harbour" }],
      ["one object", { orgName: "harbour", adopt: "u1" }, { orgName: "quay", adopt: "u1" }],
    ])("%s", async (_, first, second) => {
      await begin();
      await stack.up(network());
      started.calls();
      expect(messages(await stack.preview(two(first, second)))).toMatch(refused);
      expect(messages(await stack.up(two(first, second)))).toMatch(refused);
      expect(started.calls().filter((call) => call.startsWith("POST")).length).toBeLessThan(2);
    });

    test("but not two names, one name in two places, or one name for two that are adopted", async () => {
      await begin();
      await stack.up(two({ orgName: "harbour" }, { orgName: "quay" }));
      const ids = ["a", "b"].map((name) => stack.of(name).id);
      const elsewhere = network(({ consortium }) => {
        const other = new Consortium("other");
        new Membership("a", { consortium, orgName: "harbour" });
        new Membership("b", { consortium, orgName: "quay" });
        new Membership("there", { consortium: other, orgName: "harbour" });
      });
      expect(messages(await stack.up(elsewhere))).toBe("");
      const again = new Stack(adapter);
      const adopting = (): void => {
        const consortium = new Consortium("c", { adopt: true });
        for (const [index, adopt] of ids.entries()) new Membership(`m${index}`, { consortium, orgName: "same", adopt });
      };
      newProcess();
      expect(messages(await again.up(adopting))).toBe("");
    });
  });

  describe("what was created a moment ago, and is not shown yet", () => {
    test("is not gone for a refresh", async () => {
      await begin({ answers: { getById: false } });
      await stack.up(node());
      started.service.setTiming({ listLag: 3_500 });
      const before = stack.state.length;
      newProcess();
      expect(await stack.refresh()).toMatchObject({ errors: [] });
      expect(stack.state).toHaveLength(before);
      expect(changes(await stack.up(node()))).toEqual([]);
    });

    test("is not gone for a refresh where its parent is not shown yet, either", async () => {
      await begin({ answers: { getById: false } });
      await stack.up(node());
      started.service.setTiming({ listLag: 3_500 });
      refuse("GET", /\/(nodes|memberships|environments)$/, 404, 9, "not found");
      const before = stack.state.length;
      newProcess();
      expect(await stack.refresh()).toMatchObject({ errors: [] });
      expect(stack.state).toHaveLength(before);
    });

    test("is deleted, although the service does not know it at first", async () => {
      await begin({ answers: { getById: false } });
      await stack.up(node());
      started.service.setTiming({ listLag: 3_500 });
      newProcess();
      refuse("DELETE", /nodes/, 404, 1);
      expect(await stack.destroy()).toMatchObject({ errors: [] });
      expect([stack.state, started.service.store.nodes.list()]).toEqual([[], []]);
    });

    test("is waited for by what is put into it", async () => {
      await begin();
      refuse("POST", /\/environments$/, 404, 2, "consortium not found");
      refuse("GET", /\/memberships$/, 404, 2, "consortium not found");
      expect(await stack.up(network())).toMatchObject({ errors: [] });
    });
  });

  test("a 404 for what is put into something older is an error at once", async () => {
    await begin();
    await stack.up(network());
    newProcess();
    const refusal = refuse("POST", /\/nodes$/, 404, 9, "not here");
    expect(messages(await stack.up(node()))).toMatch(/HTTP 404: not here/);
    expect(refusal.hits).toBe(1);
  });

  describe("a create that is refused without a clear reason", () => {
    test("waits for what this run is making beside it", async () => {
      await begin({ timing: { nodeStart: 20_000 } });
      refuse("POST", /\/appcreds$/, 409, 3, "conflict");
      const run = await stack.up(
        network(({ environment, membership }) => {
          new Node("n", { environment, membership });
          new AppCred("a", { environment, membership });
        }),
      );
      expect(run.errors).toEqual([]);
      expect(started.service.store.credentials.list()).toHaveLength(1);
    });

    test.each([undefined, "a node of this name already exists"])(
      "waits for a name that this run has freed: %s",
      async (errorMessage) => {
        await begin();
        await stack.up(node());
        refuse("POST", /\/nodes$/, 409, 3, errorMessage);
        expect(await stack.up(node("other"))).toMatchObject({ errors: [] });
        expect(started.service.store.nodes.list()).toMatchObject([{ fields: { role: "other" } }]);
      },
    );

    test("says how to delete first what it replaces", async () => {
      const program = (type: string) =>
        network(
          ({ environment, membership }) => new Configuration("g", { environment, membership, type, details: {} }),
        );
      await begin();
      await stack.up(program("node_config"));
      refuse("POST", /\/configurations$/, 409, 9);
      expect(messages(await stack.up(program("other")))).toMatch(/It replaces .*deleteBeforeReplace: true/);
      expect(started.service.store.configurations.list()).toHaveLength(1);
    });
  });

  test.each([
    ["Live Ledger", "live-ledger", false],
    ["Ledger", "ledger", false],
    ["ledger-1-1", "ledger-11", true],
    ["Ledger", "other", true],
  ])("environment %s beside %s of nobody in the program: made is %s", async (name, there, isMade) => {
    await begin();
    await stack.up((): void => void new Consortium("c"));
    const fields = { name: there, provider: "quorum", consensus_type: "raft" };
    await send(started.service, "POST", `/consortia/${stack.of("c").id}/environments`, fields);
    newProcess();
    const run = await stack.up(network(undefined, name));
    expect(started.service.store.environments.list()).toHaveLength(isMade ? 2 : 1);
    if (isMade) expect(run.errors).toEqual([]);
    else expect(messages(run)).toMatch(`nothing has exactly this name, but`);
  });

  test("what is in a service that failed is kept by a refresh, and goes with it", async () => {
    const program = network(({ environment, membership }) => {
      const service = new Service("s", { environment, membership, service: "documentstore" });
      const idRegistry = new Service("r", { environment, membership, service: "idregistry" });
      new Destination("d", { service, membership, idRegistry, testCertificate: true });
    });
    await begin();
    expect(await stack.up(program)).toMatchObject({ errors: [] });
    const { services } = started.service.store;
    services.setState(stack.of("s").id, "failed");
    newProcess();
    const refreshed = await stack.refresh();
    expect([refreshed.errors, stack.of("d").id]).toEqual([[], "d"]);
    expect(refreshed.lines.join("\n")).toMatch(/destination "d".* is kept as it was, because it cannot be read: GET/);
    const replaced = await stack.up(program, { replace: ["s"] });
    expect(messages(replaced)).toMatch(/taken by .*`--replace`, see "already taken"/);
    const gone = await stack.destroy();
    expect([gone.errors, stack.state, services.list()]).toEqual([[], [], []]);
  });

  test("a member that came with the consortium is named as such", async () => {
    await begin({ answers: { foundingMembership: true } });
    const run = await stack.up((): void => {
      const consortium = new Consortium("c");
      new Membership("local", { consortium });
    });
    expect(messages(run)).toMatch(/which the service made with what it is in\. Set adopt: true/);
  });
});
