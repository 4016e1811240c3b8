import { AppCred, Destination, Environment, EnvironmentZone, Node, Service } from "../../../sdk";
import { UndiciTransport } from "../../../provider/api/transport";
import { send } from "../../support/network";
import { newProcess } from "../../support/service";
import { ledger, onOneAdapter } from "../../support/stacks";
import { rewriting } from "../../support/virtual-time";

/* A missing object and a free name need proof: two quick looks at lists are not enough. */

const two = ledger(({ consortium, membership, environment }) => {
  const quorum = { consortium, provider: "quorum", consensusType: "ibft" } as const;
  void new Environment("e2", quorum);
  void new Node("n", { environment, membership });
  void new AppCred("a", { environment, membership });
});

/** From here on, lists come with one object a page, in an order that changes with each call. */
function shuffling(): void {
  // eslint-disable-next-line @typescript-eslint/unbound-method -- it is the mock of `virtualTime`, and not called
  const mock = jest.mocked(UndiciTransport.prototype.send);
  const send = mock.getMockImplementation()!;
  let calls = 0;
  mock.mockImplementation(async function (this: UndiciTransport, sent) {
    const url = new URL(sent.url);
    const page = Number(url.searchParams.get("page") ?? 0);
    url.searchParams.delete("page");
    const got = await send.call(this, { ...sent, url: url.href });
    const all = sent.method === "GET" ? (JSON.parse(got.text) as unknown) : undefined;
    if (!Array.isArray(all) || all.length < 2) return got;
    const order = ++calls % 2 === 0 ? all : all.toReversed();
    const link = page + 1 < all.length ? { link: `<?page=${page + 1}>; rel="next"` } : {};
    return { ...got, headers: { ...got.headers, ...link }, text: JSON.stringify([order[page]]) };
  });
}

/** Lists with this end of their path are empty as long as this says so. */
const emptying = (end: string, isEmpty: () => boolean): void =>
  rewriting({
    answer: (text, { method, url }) =>
      method === "GET" && new URL(url).pathname.endsWith(end) && isEmpty() ? "[]" : text,
  });

onOneAdapter((make) => {
  describe.each([true, false])("lists in pages that change their order (objects are read by id: %s)", (getById) => {
    test("a refresh loses nothing", async () => {
      const { stack, writes } = await make(two, { answers: { getById } });
      const before = stack.state.length;
      shuffling();
      newProcess();
      const run = await stack.refresh();
      expect(stack.state).toHaveLength(before);
      if (getById) expect(run.errors).toEqual([]);
      else expect(run.failure).toMatch(/the list is incomplete: it has.*\[partial-list:/);
      expect(writes()).toEqual([]);
    });

    test("an empty stack adopts or fails, and creates no second ledger", async () => {
      const { stack, service, writes } = await make(two, { answers: { getById } });
      stack.state = [];
      shuffling();
      newProcess({ CONSORTIUM_ADOPT: "true" });
      const run = await stack.up(two);
      expect(run.failure).toContain("nothing proves that the name is free");
      expect(service.store.environments.list()).toHaveLength(2);
      expect(writes().filter((call) => call.endsWith("/environments"))).toEqual([]);
    });
  });

  test.each(["/environments", "/nodes", "/memberships", "/appcreds", "/consortia"])(
    "%s is an empty list for a moment: nothing leaves the state",
    async (end) => {
      const { stack, time, expectChanges } = await make(two, { answers: { getById: false } });
      time.pass(60_000);
      const moment = time.wall() + 2_000;
      emptying(end, () => time.wall() < moment);
      await expectChanges(two, []);
      expect(stack.resources.size).toBe(6);
    },
  );

  test("an unlisted environment with listed nodes stays until its deletion is confirmed", async () => {
    const { stack, time } = await make(two, { answers: { getById: false } });
    time.pass(60_000);
    emptying("/environments", () => true);
    newProcess();
    const run = await stack.refresh();
    const { id } = stack.of("e");
    expect(run.failure).toMatch(
      new RegExp(
        `/environments/${id} was deleted, .*nothing proves that it is gone: GET .*/nodes is still answered.*\\[not-listed:`,
      ),
    );
    newProcess({ CONSORTIUM_CONFIRM_DELETED: `${id} ${stack.of("e2").id}` });
    expect(await stack.refresh()).toMatchObject({ errors: [] });
    expect([...stack.resources.keys()].toSorted()).toEqual(["a", "c", "m", "n"]);
  });

  test("something that answers everything with an empty list proves nothing", async () => {
    const { stack, service, time } = await make(two);
    time.pass(60_000);
    const before = stack.state.length;
    const fault = service.faults.add({ kind: "status", status: 200, body: [], times: Infinity });
    for (const run of [() => stack.refresh(), () => stack.destroy()]) {
      newProcess();
      expect((await run()).failure).toMatch(/\[not-listed:/);
      expect(stack.state).toHaveLength(before);
    }
    fault.remove();
    newProcess();
    expect(await stack.destroy()).toMatchObject({ errors: [] });
    expect(service.store.consortia.list().filter(({ state }) => state !== "deleted")).toEqual([]);
  });

  test("a zone that was left behind is this stack's own when the program asks for it again", async () => {
    const zone = (region?: string) =>
      ledger(({ environment }) => region && new EnvironmentZone("z", { environment, region, cloud: "aws" }));
    const { stack, service, writes } = await make(zone("us-east-2"), {
      answers: { deleteZones: 405, plainErrors: true },
    });
    const [first] = service.store.zones.list();
    expect((await stack.up(zone("us-west-2"))).errors).toEqual([]);
    newProcess();
    writes();
    const back = await stack.up(zone("us-east-2"));
    expect([back.errors, back.said]).toEqual([[], expect.not.stringContaining("killed")]);
    expect([stack.of("z").id, service.store.zones.list().length]).toEqual([first!.id, 2]);
    expect(writes().filter((call) => call.startsWith("POST"))).toEqual([]);
    expect((await stack.up(zone("us-east-2"), { refresh: true })).changes).toEqual([]);
    // One that somebody else has created there is not.
    const path = `/consortia/${stack.of("c").id}/environments/${stack.of("e").id}/zones`;
    await send(service, "POST", path, { name: "z", region: "eu-central-1", cloud: "aws", type: "kaleido" });
    newProcess();
    expect((await stack.up(zone("eu-central-1"))).failure).toMatch(/There is one already, which others may share/);
  });

  test("an object that was created a moment ago, and is not shown yet, nor its parent, does not count as gone", async () => {
    const program = ledger((base) => new Node("n", base));
    const { stack, service } = await make(program, { answers: { getById: false } });
    const before = stack.state.length;
    service.setTiming({ listLag: 3_500 });
    for (const isParentShown of [true, false]) {
      if (!isParentShown) {
        const unknown = { kind: "status", status: 404, errorMessage: "not found", times: 9 } as const;
        service.faults.add({ ...unknown, method: "GET", route: /\/(nodes|memberships|environments)$/ });
      }
      newProcess();
      expect(await stack.refresh()).toMatchObject({ errors: [] });
      expect(stack.state).toHaveLength(before);
    }
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
});
