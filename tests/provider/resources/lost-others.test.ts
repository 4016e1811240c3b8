import { logicalNameKey } from "../../../provider/constants";
import { wireName } from "../../../provider/core/field";
import { bases, type Collected, collectionOf, nameField, nameKey, routeOf, storeOf } from "../../support/bases";
import { Engine, errorOf, failed, type Props } from "../../support/engine";
import { world, type World } from "../../support/lifecycle";
import { type Network, send } from "../../support/network";
import { newProcess } from "../../support/service";
import { rewriting } from "../../support/virtual-time";

/* Objects that others create while an answer is lost are theirs: they are named, and neither taken nor deleted. */

/** Somebody else's request for the same object as the program's. */
const bodyOf = (kind: Collected, net: Network): Props => {
  const args = Object.entries(bases[kind](net)).filter(([key]) => !["consortiumId", "environmentId"].includes(key));
  return Object.fromEntries(args.map(([key, value]) => [wireName(key), value]));
};

const roomy = { consortia: 9, environments: 9 };

const lostBefore = { kind: "resetBefore", method: "POST" } as const;
const lostAfter = { kind: "resetAfter", method: "POST" } as const;

/** Somebody else creates one. */
const byOthers = ({ service, net }: World, kind: Collected, change: Props = {}): Promise<string> =>
  send(service, "POST", collectionOf(kind, net), { ...bodyOf(kind, net), ...change }).then(({ _id, id }) => _id ?? id);

/** The same, this long after the provider's first POST. */
function later(at: World, ms: number, kind: Collected, change: Props = {}): { id?: string } {
  const made: { id?: string } = {};
  at.time.when(/^POST /, () => at.time.during(async () => void (made.id = await byOthers(at, kind, change))), ms);
  return made;
}

const deletes = (calls: string[]): string[] => calls.filter((call) => call.startsWith("DELETE"));
const posts = (calls: string[]): string[] => calls.filter((call) => call.startsWith("POST"));

describe("a visibly different object with the same name", () => {
  test.each<[Collected, Props, (net: Network) => Props, RegExp]>([
    ["consortium", { description: "theirs" }, () => ({}), /its description is "theirs"/],
    ["environment", { consensus_type: "ibft" }, () => ({}), /its consensusType is "ibft"/],
    [
      "environment",
      { provider: "geth", consensus_type: "poa" },
      () => ({}),
      /its provider is "geth"; its consensusType is "poa"/,
    ],
    ["environment", { chain_id: 77 }, () => ({ chainId: 78 }), /its chainId is 77/],
    ["environment", {}, () => ({ extra: { region: "elsewhere" } }), /its region is another one/],
    ["node", {}, ({ otherMembershipId }) => ({ membershipId: otherMembershipId }), /its membershipId is "\S+"/],
  ])("%s with %j: it is named, and nothing is taken, sent again or deleted", async (kind, theirs, own, why) => {
    const at = await world(kind);
    const { engine, service, net, count, calls } = at;
    service.faults.add(lostBefore);
    const other = later(at, 600, kind, theirs);
    const outcome = await engine.up({ ...bases[kind](net), ...own(net) });
    expect(outcome).toEqual(failed(why));
    const error = errorOf(outcome);
    expect(error).toContain(`${other.id} has the name now`);
    expect(error).toMatch(/choose another name, or adopt it by its id\. .*It was left alone\./);
    expect(engine.kept).toBeUndefined();
    const made = calls();
    expect(posts(made)).toHaveLength(2); // theirs, and ours
    expect(deletes(made)).toEqual([]);
    expect(await count()).toBe(1);
  });
});

/** The service shows the object with this name twice, under two ids. */
const shownTwice = (kind: Collected, name: unknown): void =>
  rewriting({
    answer: (text) => {
      const body = text.startsWith("[") ? (JSON.parse(text) as Props[]) : undefined;
      const again = (item: Props): Props[] => [item, { ...item, _id: `${String(item._id)}-2` }];
      return body
        ? JSON.stringify(body.flatMap((item) => (item[nameField(kind)] === name ? again(item) : [item])))
        : text;
    },
  });
test.each([
  ["environment", "lost"],
  ["node", "accepted"],
] as const)(
  "%s: if there are more than this run can have made, none is taken or deleted (answer: %s)",
  async (kind, how) => {
    const at = await world(kind);
    const { engine, service, net, count, calls } = at;
    const args = bases[kind](net);
    if (how === "lost") service.faults.add(lostAfter);
    else service.faults.add({ kind: "status", status: 202, method: "POST", body: {}, acted: true });
    shownTwice(kind, args[nameKey(kind)]);
    const outcome = await engine.up(args);
    const error = errorOf(outcome);
    const [made] = storeOf(service, kind)
      .list()
      .map(({ id }) => id)
      .filter((id) => error.includes(`${id}, ${id}-2 appeared`));
    expect(made).toBeDefined();
    const why =
      /find out which one is yours, and adopt that: adopt: "<id>"\..*more than this run can have made\. \[unclear-create:/;
    expect(outcome).toEqual(failed(why));
    expect(engine.kept).toBeUndefined();
    expect([posts(calls()).length, await count()]).toEqual([1, 1]);
  },
);

describe("an object that was created twice", () => {
  test.each(["consortium", "environment"] as const)("%s holds data: both stay, with a warning", async (kind) => {
    const { engine, service, net, count, time, calls, said } = await world(kind, {
      timing: { listLag: 70_000 },
      limits: roomy,
    });
    time.pass(80_000);
    service.faults.add(lostAfter);
    expect(await engine.up(bases[kind](net))).toEqual({ then: "created" });
    expect(deletes(calls())).toEqual([]);
    service.setTiming({ listLag: 0 });
    expect(await count()).toBe(2);
    const first = storeOf(service, kind)
      .list()
      .map(({ id }) => id)
      .find((id) => said.some((line) => line.includes(id)));
    expect(first).not.toBe(engine.kept!.id);
    expect(said.join("\n")).toMatch(
      new RegExp(`Warning: .*${first} appeared .*Nothing was deleted.*consortium sweep --id`),
    );
  });
});

describe("a create that is accepted and executed later", () => {
  const accepted = (body?: unknown) => ({ kind: "status", status: 202, method: "POST", body: body ?? {} }) as const;

  test.each([
    ["environment", undefined],
    ["service", { id: "work-1", status: "accepted" }],
  ] as const)("%s with %j: waited for, and sent once", async (kind, body) => {
    const at = await world(kind);
    const { engine, service, net, count, calls, said } = at;
    service.faults.add(accepted(body));
    const made = later(at, 45_000, kind);
    expect(await engine.up(bases[kind](net))).toEqual({ then: "created" });
    expect(engine.kept!.id).toBe(made.id);
    expect(posts(calls())).toHaveLength(2); // ours, and the one that plays the service's work
    expect(await count()).toBe(1);
    expect(said.join("\n")).toMatch(/accepted \(HTTP 202\), but not there yet/);
    expect(await engine.up(bases[kind](net))).toEqual({ then: "same" });
  });

  test.each(["membership", "node"] as const)(
    "%s: not in time: sent once, and the error says what to do",
    async (kind) => {
      const { engine, service, net, calls, count, time } = await world(kind);
      service.faults.add({ ...accepted(), times: Infinity });
      const began = time.now();
      const outcome = await engine.up({ ...bases[kind](net), customTimeouts: { create: 90 } });
      expect(outcome).toEqual(
        failed(
          /adopt it by its id.*accepted its creation \(HTTP 202\), but has not shown it within 90 s.*\[unclear-create:/,
        ),
      );
      expect(time.now() - began).toBeGreaterThanOrEqual(89_000);
      expect(posts(calls())).toHaveLength(1);
      expect(await count()).toBe(0);
    },
  );
});

describe("a credential with a lost password that cannot be deleted", () => {
  const left = (service: World["service"], kept?: string): string[] =>
    service.store.credentials
      .list()
      .map(({ id }) => id)
      .filter((id) => id !== kept);

  test("the new one is kept and the other named; the next credential there names it again", async () => {
    const { engine, service, net, said } = await world("appCred");
    service.faults.add(lostAfter);
    service.faults.add({ kind: "status", status: 500, method: "DELETE", times: Infinity });
    expect(await engine.up(bases.appCred(net))).toEqual({ then: "created" });
    const [orphan] = left(service, engine.kept!.id);
    expect(said.join("\n")).toMatch(
      new RegExp(
        `Warning: .*${orphan}, whose password was lost .*could not be deleted: .*consortium sweep --id ${orphan}`,
      ),
    );
    said.length = 0;
    service.faults.clear();
    newProcess();
    expect(await engine.up({ ...bases.appCred(net), keepers: { month: "may" } })).toMatchObject({ then: "replaced" });
    expect(said.join("\n")).toContain(`consortium sweep --id ${orphan}`);
    expect(left(service, engine.kept!.id)).toEqual([orphan]);
  });

  test("if no attempt succeeds, the error names it, and so does the next run", async () => {
    const { engine, service, net, said } = await world("appCred");
    service.faults.add(lostAfter);
    service.faults.add({ kind: "status", status: 500, method: "POST", nth: 2, times: Infinity });
    const { error } = (await engine.up(bases.appCred(net))) as { error: string };
    const [orphan] = left(service);
    expect(error).toMatch(new RegExp(`HTTP 500: .*${orphan} appeared meanwhile.*consortium sweep --id ${orphan}`));
    service.faults.clear();
    newProcess();
    said.length = 0;
    const next = new Engine("appCred");
    expect(await next.up(bases.appCred(net))).toEqual({ then: "created" });
    expect(said.join("\n")).toMatch(new RegExp(`Warning: .*already ${orphan} with the same member and name`));
    expect(left(service, next.kept!.id)).toEqual([orphan]);
  });
});

test.each(["node", "membership"] as const)(
  "%s: sent again, and the name is taken by the object of the first attempt",
  async (kind) => {
    const { engine, service, net, time, count } = await world(kind);
    service.setTiming({ listLag: 4_000 });
    time.pass(9_000);
    service.faults.add({ kind: "resetAfter", method: "POST", route: routeOf(kind) });
    const taken = { kind: "status", status: 409, errorMessage: "The name is already in use." } as const;
    service.faults.add({ ...taken, method: "POST", route: routeOf(kind), nth: 2, times: Infinity });
    expect(await engine.up(bases[kind](net))).toEqual({ then: "created" });
    service.setTiming({ listLag: 0 });
    expect(await count()).toBe(1);
  },
);

test.each(["membership", "node"] as const)(
  "%s: two names that differ only in case stay two objects, whichever answer is lost",
  async (kind) => {
    const { engine, service, net, count, time } = await world(kind);
    const other = new Engine(kind);
    time.late = ({ method }) => (method === "POST" ? time.sleep(5_000) : Promise.resolve());
    service.faults.add({ kind: "resetBefore", method: "POST" });
    const args = ["ACME", "acme"].map((name) => ({
      ...bases[kind](net),
      [nameKey(kind)]: name,
      [logicalNameKey]: name,
    }));
    const outcomes = await Promise.all([engine.up(args[0]!), other.up(args[1]!)]);
    expect(outcomes).toEqual([{ then: "created" }, { then: "created" }]);
    expect(await count()).toBe(2);
    expect(engine.kept!.id).not.toBe(other.kept!.id);
  },
);
