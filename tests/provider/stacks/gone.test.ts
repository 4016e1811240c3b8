import { AppCred, ConsortiumZone, Environment, EnvironmentZone, Node } from "../../../sdk";
import { UndiciTransport } from "../../../provider/api/transport";
import { type RunOptions } from "../../support/double/deployment";
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

const environments = "/consortia/:consortiumId/environments";

onOneAdapter((make) => {
  test.each<[string, RunOptions]>([
    ["ends it", {}],
    ["ends it, as Pulumi 3.220 does", { release: "oldest" }],
  ])("after a replacement of a ledger that failed, nothing is lost: the next run %s", async (_, how) => {
    const whole = (consensusType: string) =>
      ledger(({ environment, membership }) => void new Node("n", { environment, membership }), { consensusType });
    const { stack, service } = await make(whole("ibft"));
    const [was] = service.store.nodes.list();
    const fault = service.faults.add({ kind: "status", status: 403, method: "POST", route: environments, times: 9 });
    for (let turn = 1; turn <= 2; turn++) {
      expect((await stack.up(whole("raft"), how)).errors).toHaveLength(1);
      expect(service.store.nodes.list()).toEqual([was]);
    }
    fault.remove();
    expect(await stack.up(whole("raft"), how)).toMatchObject({ errors: [] });
    const live = service.store.environments.list().filter(({ state }) => state !== "deleted");
    expect([live.length, service.store.nodes.list().map(({ parent }) => parent)]).toEqual([1, [live[0]!.id]]);
    expect((await stack.up(whole("raft"), how)).changes).toEqual([]);
  });

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

  test.each(["/consortia", "/environments"])(
    "%s is empty for a moment: an object to adopt is not created twice",
    async (end) => {
      const { stack, service, time } = await make(two);
      stack.state = [];
      const moment = time.wall() + 2_000;
      emptying(end, () => time.wall() < moment);
      newProcess({ CONSORTIUM_ADOPT: "true" });
      expect(await stack.up(two)).toMatchObject({ errors: [] });
      expect([service.store.consortia.list(), service.store.environments.list()].map(({ length }) => length)).toEqual([
        1, 2,
      ]);
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

  test("zones that cannot be deleted are left behind, with a warning", async () => {
    const zones = ledger(({ consortium, environment }) => {
      const where = { region: "us-east-2", cloud: "aws" };
      void new ConsortiumZone("cz", { consortium, ...where });
      void new EnvironmentZone("ez", { environment, ...where });
    });
    const { stack } = await make(zones, { answers: { deleteZones: 405, plainErrors: true } });
    const run = await stack.destroy();
    expect(run.errors).toEqual([]);
    expect(run.said).toMatch(/Warning: zone "ez" .*stays for now, and is deleted with its environment/);
    expect(run.said).toMatch(/Warning: zone "cz" .*stays for now, and is deleted with its consortium/);
  });

  test("a list of credentials that the service lacks is requested once in each place", async () => {
    const answers = { extended: false, getById: false, listCredentials: 404 as const };
    const many = ledger(({ consortium, membership, environment }) => {
      const other = new Environment("e2", { consortium, provider: "quorum", consensusType: "raft" });
      for (const [at, one] of [environment, other].entries())
        for (const name of ["a", "b", "c"]) void new AppCred(`${name}${at}`, { environment: one, membership });
    });
    const { stack, calls } = await make(many, { answers });
    newProcess();
    expect(await stack.refresh()).toMatchObject({ errors: [] });
    expect(calls().filter((call) => call.endsWith("/appcreds"))).toHaveLength(2);
    expect(stack.resources.size).toBe(10);
  });
});
