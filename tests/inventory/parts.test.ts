import {
  belongsTo,
  credentialIn,
  credentialsFor,
  credentialsInOutputs,
  type PlacedCredential,
} from "../../inventory/credentials";
import { type EnvironmentModel, type NetworkModel, objectsOf, type TetherModel } from "../../inventory/model";
import { planName, readPlan, withoutDebug } from "../../inventory/plan/read";
import { modelOf, type Row } from "../../inventory/rows";
import { onlyOf, withStacks } from "../../inventory/stack";
import { asked, chainFor, isAbout, pinIn, Pins } from "../../inventory/tethers";
import { ApiError, type ConsortiumClient } from "../../provider/api";

/** Readers of plans, states, credentials and reports, without a service. */

/** A chain on which each transaction costs its hash. */
jest.mock("../../sdk/runtime/target-chain", () => ({
  targetProvider: () => ({
    _detectNetwork: () => Promise.resolve(),
    getTransactionReceipt: (hash: string) => Promise.resolve({ hash, fee: BigInt(hash) }),
    destroy: () => undefined,
  }),
}));

const lines = (...values: object[]) => values.map((value) => JSON.stringify(value)).join("\n");
const numbered = (...events: object[]) => lines(...events.map((event, sequence) => ({ sequence, ...event })));
const urn = (name: string) => `urn:pulumi:prod::net::consortium:index:Node::${name}`;
const before = (op: string, name = "n", more: object = {}) => ({
  resourcePreEvent: { metadata: { op, urn: urn(name), ...more } },
});
const after = (op: string, name = "n") => ({ resOutputsEvent: { metadata: { op, urn: urn(name) } } });
const end = { summaryEvent: { resourceChanges: { same: 3, create: 1 } } };
const read = (...events: object[]) => readPlan(numbered(...events), "plan");

describe("a plan", () => {
  const refreshed = [before("refresh"), after("update")];
  const twoRefreshed = [before("refresh", "a"), before("refresh", "b"), after("same", "b"), after("delete", "a")];
  test.each<[string, object[], steps: string[], isDriftAlone: boolean]>([
    ["nothing", [], [], false],
    ["planned steps, not their results", [before("create"), after("create")], ["create n"], false],
    ["what is planned without a change", [before("same")], ["same n"], false],
    ["findings of a refresh, once", [...refreshed, after("update")], ["found update n"], true],
    ["what a refresh found as it was", [before("refresh"), after("same")], ["found same n"], true],
    ["both of two refreshed resources", twoRefreshed, ["found same b", "found delete a"], true],
    [
      "what is planned before its refresh has ended",
      [before("refresh"), before("update"), after("update")],
      ["update n", "found update n"],
      false,
    ],
    [
      "a step on a refreshed resource",
      [...refreshed, before("update"), after("update")],
      ["found update n", "update n"],
      false,
    ],
  ])("has %s", (_, events, expected, isDriftAlone) => {
    const { steps, drift } = read(...events, end);
    const shown = steps.map(({ op, urn: of, found }) => `${found ? "found " : ""}${op} ${of.split("::").at(-1)}`);
    expect([shown, drift]).toEqual([expected, isDriftAlone]);
  });

  test("has the name of its stack, or of the file", () => {
    expect(read(before("same"), end).name).toBe("net/prod");
    expect(read(end).name).toBe("plan");
    expect(planName("-")).toBe("standard input");
    expect(planName("plans/a.json")).toBe("a");
    expect(planName("plans/a.json.txt")).toBe("a.json.txt");
  });

  test("without a summary is incomplete, and says so", () => {
    expect(read(before("same"), end)).toMatchObject({ isWhole: true, unchanged: 3, messages: [] });
    const cut = read(before("same"));
    expect(cut).toMatchObject({ isWhole: false, unchanged: 0 });
    expect(cut.messages).toMatchObject([
      { severity: "error", text: expect.stringContaining("before the summary") as string },
    ]);
    expect(readPlan("", "plan").messages).toMatchObject([
      { severity: "error", text: expect.stringContaining("before it planned anything") as string },
    ]);
  });

  test("has messages for people, without empty ones and those for developers", () => {
    const said = (severity: string, message: string) => ({ diagnosticEvent: { severity, message } });
    const all = [said("debug", "d"), said("info", " \n"), said("info", "i"), said("error", "error: e ")];
    expect(read(...all, end).messages.map(({ severity, text }) => `${severity} ${text}`)).toEqual([
      "info i",
      "error e",
    ]);
  });

  test("has violations, and whether they are mandatory", () => {
    const violation = (enforcementLevel: string) => ({
      policyEvent: { policyName: "p", enforcementLevel, message: "m", resourceUrn: urn("n") },
    });
    const about = { policy: "p", urn: urn("n"), text: "m" };
    expect(read(violation("advisory"), violation("mandatory"), end).violations).toEqual([
      { ...about, mandatory: false },
      { ...about, mandatory: true },
    ]);
  });

  test("skips a last line that was cut off; any other line that is not JSON is an error", () => {
    const whole = numbered(before("same"), end);
    expect(readPlan(`${whole}\n{"seq`, "plan").steps.length).toBe(1);
    for (const text of [`${whole}\n{"seq\n`, `{"seq\n${whole}`, '{"seq'])
      expect(() => readPlan(text, "plan")).toThrow("plan does not contain the events");
  });

  test("has no debug messages and other lines", () => {
    const debug = { diagnosticEvent: { severity: "debug", message: "password" } };
    const info = { diagnosticEvent: { severity: "info", message: "i" } };
    expect(withoutDebug(lines(debug, info, { stdoutEvent: {} }, before("same"), [1], end))).toBe(
      `${lines(info, before("same"), end)}\n`,
    );
    expect(withoutDebug("no JSON")).toBe("");
  });
});

describe("credentials", () => {
  const plaintext = (value: unknown) => ({ plaintext: JSON.stringify(value) });
  test.each<[object, string[]]>([
    [{ username: "u", password: "p" }, ["u", "p"]],
    [{ username: "u", password: plaintext("p") }, ["u", "p"]],
    [{ username: "u", password: { ciphertext: "x" } }, []],
    [{ username: plaintext(1), password: "p" }, []],
    [{ username: "u", password: { plaintext: "no JSON" } }, []],
    [{ username: "u" }, []],
    [{ password: "p" }, []],
  ])("in %j", (props, expected) =>
    expect(credentialIn(props).flatMap(({ username, password }) => [username, password])).toEqual(expected),
  );

  test("in outputs, at any depth", () => {
    const one = (username: string) => ({ username, password: "p", environmentId: "e" });
    const found = credentialsInOutputs({ a: [one("x"), null, { b: one("y") }], c: 1 });
    expect(found.map(({ username }) => username).sort()).toEqual(["x", "y"]);
    expect(found[0]).toEqual({ username: found[0]!.username, password: "p" });
  });

  const [a, b] = [["a", "m"] as const, ["b", "k"] as const].map(([id, membershipId]) => ({ id, membershipId }));
  const environment = { id: "e", credentials: [a, b] } as EnvironmentModel;
  test.each<[string, Partial<PlacedCredential>, inEnvironment: boolean, ofMember: boolean]>([
    ["a", {}, true, true],
    ["b", {}, true, false],
    ["z", {}, false, false],
    ["z", { environmentId: "e", membershipId: "m" }, true, true],
    ["y", { environmentId: "e" }, true, false],
    ["x", { environmentId: "f", membershipId: "m" }, false, false],
  ])(
    "%s %j belongs to the environment: %j, and to the node's member: %j",
    (username, more, inEnvironment, ofMember) => {
      const one = { username, password: "p", ...more };
      const found = credentialsFor(environment, { id: "n", name: "n", membershipId: "m" }, [one]);
      expect([belongsTo(environment, one), found.length === 1]).toEqual([inEnvironment, ofMember]);
    },
  );
});

describe("tethers", () => {
  const nodes = (order: string) => order.split(" ").map((at) => ({ reported_at: at }));
  const others = [{ created_at: "0" }, { changed_at: "9" }];
  test.each<[string, object, Partial<ReturnType<typeof pinIn>>]>([
    ["its transaction", { transaction_hash: "0x1", block_number: 0 }, { transactionHash: "0x1", blockNumber: 0 }],
    ["its network", { network: "goerli" }, { network: "goerli" }],
    ["nothing of another type", { block_number: "5", transaction_hash: 5 }, {}],
    ["no part of a block", { block_number: 1.5 }, {}],
    ["the number of its nodes", { reports: [{}, {}] }, { nodes: 2 }],
    ["the number of nodes of a list", [{ a: 1 }], { nodes: 1 }],
    ["the time when it was made", { pinned_at: "2", reports: nodes("3") }, { at: "2", nodes: 1 }],
    ...["1 3 2", "2 1 3", "3 2 1"].map((order): [string, object, object] => {
      return [`the last time of ${order}`, { reports: [...nodes(order), ...others] }, { at: "3", nodes: 5 }];
    }),
  ])("the pin of a report has %s", (_, report, expected) => {
    const none = { at: undefined, network: undefined, transactionHash: undefined, blockNumber: undefined, nodes: 0 };
    expect(pinIn(4, report)).toEqual({ index: 4, ...none, ...expected });
  });

  test.each<[unknown, boolean]>([
    [{ reports: [{ id: "n" }] }, true],
    [{ reports: [{ node_id: "n" }] }, true],
    [{ grid: "n" }, false],
    [{ id: "m" }, false],
  ])("%j is about the node n: %j", (report, about) => expect(isAbout(report, "n")).toBe(about));

  const onA = { id: "t", network: "a", targetUrl: "s" };
  test.each<[TetherModel, Record<string, string>, string | undefined, string | undefined]>([
    [onA, {}, undefined, "s"],
    [onA, { a: "u" }, undefined, "u"],
    [onA, {}, "b", undefined],
    [onA, { b: "u" }, "b", "u"],
    [{ id: "t" }, {}, undefined, undefined],
  ])("where to ask about the pins of %j with %j to %j: %j", (tether, targets, pinned, url) =>
    expect(chainFor(tether, targets, pinned)).toBe(url),
  );

  test("the newest pins come first, and each is requested once", async () => {
    const calls: number[] = [];
    const getTetherReport = (_: string, index: number) => {
      calls.push(index);
      return Promise.resolve({ network: `n${index}` });
    };
    const pins = new Pins({ getTetherReport } as unknown as ConsortiumClient, "t");
    const seen = async (count: number, most: number) => (await pins.newest(count, most)).map(({ index }) => index);
    const all = [await seen(5, 2), await seen(5, 3), await seen(1, 9), await seen(0, 9)];
    expect(all.map((some) => some.join())).toEqual(["4,3", "4,3,2", "0", ""]);
    expect(calls).toEqual([4, 3, 2, 0]);
  });

  test("the average cost is that of the present pins, at a second and a third look, too", async () => {
    const pins = new Pins({} as ConsortiumClient, "t");
    const pin = (fee: number, index: number) => {
      return { index, nodes: 1, transactionHash: `0x${fee.toString(16).padStart(64, "0")}` };
    };
    const cost = (...fees: number[]) => pins.cost(fees.map(pin), "https://chain");
    expect([await cost(2, 4), await cost(4, 8), await cost()]).toEqual([3n, 6n, undefined]);
  });

  test.each(["missing", "unsupported", "invalid", "conflict", "unavailable"] as const)(
    "an answer that is %s has not failed, unless it is unavailable",
    async (kind) => {
      const error = Object.create(ApiError.prototype, { kind: { value: kind } }) as ApiError;
      const failed = jest.fn();
      expect(await asked(Promise.reject(error), failed)).toBeUndefined();
      expect(failed).toHaveBeenCalledTimes(kind === "unavailable" ? 1 : 0);
      expect(await asked(Promise.resolve(0), failed)).toBe(0);
    },
  );
});

describe("a live network and its stacks", () => {
  const managed = { stack: "net/prod", urn: "u", name: "p" };
  const row = (kind: Row["kind"], id: string, props: object, more: Partial<Row> = {}): Row => ({
    kind,
    id,
    props: { consortiumId: "c", environmentId: "e", ...props },
    ...more,
  });
  const consortium = row("consortium", "c", { name: "trade" });
  const environment = row("environment", "e", { name: "ledger" });
  const network = (...rows: Row[]): NetworkModel => modelOf([consortium, environment, ...rows], { source: "live" });
  /** The remarks on each object besides the consortium and the environment. */
  const merged = (live: NetworkModel, ...stack: Row[]) => {
    const rows = stack.map((one) => ({ managed, ...one }));
    return objectsOf(withStacks(live, [network(...rows)]))
      .filter(({ object }) => !["c", "e"].includes(object.id))
      .map(({ object }) => object);
  };

  test("an object that is not in stacks; an object that a stack only refers to is not its own", () => {
    const live = network(row("node", "n", {}), row("node", "o", {}));
    expect(merged(live, row("node", "n", {})).map(({ managed: by }) => by)).toEqual([managed, "not in stacks"]);
    const [one] = objectsOf(withStacks(live, [network()]));
    expect(one!.object.managed).toBe("not in stacks");
  });

  test("an object that the service no longer shows is gone, and reported once, whoever has it", () => {
    const own = row("node", "n", { name: "a", state: "started" });
    for (const all of [merged(network(), own), merged(network(), own, own)])
      expect(all).toMatchObject([
        { state: "gone", drift: ["the stack has a, but the service does not show it"], managed },
      ]);
    const stacks = [own, own].map((one) => network({ ...one, managed }));
    expect(objectsOf(withStacks(network(), stacks)).filter(({ kind }) => kind === "node")).toHaveLength(1);
  });

  test("a consortium that the service no longer shows is gone, too", () => {
    const other = { ...row("consortium", "d", { name: "lost" }), managed };
    const { consortia } = withStacks(network(), [network(other)]);
    expect(consortia.map(({ id, state }) => [id, state])).toEqual([
      ["c", undefined],
      ["d", "gone"],
    ]);
  });

  const unseen = (more: Partial<Row>) => modelOf([consortium, { ...environment, ...more }], { source: "live" });
  test.each<[string, Partial<Row>, Row["kind"], string | undefined]>([
    ["is gone if other kinds are not listed", { unlisted: ["appCred"] }, "node", "gone"],
    ["is not gone if its environment was not seen", { unseen: "HTTP 500" }, "node", undefined],
    ["is not gone if its kind is not listed", { unlisted: ["node"] }, "node", undefined],
    [
      "of a kind that is not listed is as its stack has it",
      { unlisted: ["configuration"] },
      "configuration",
      "started",
    ],
    ["of a kind that is listed is gone", { unlisted: ["node"] }, "configuration", "gone"],
  ])("an object of a stack %s", (_, more, kind, state) => {
    const [one] = merged(unseen(more), row(kind, "x", { state: "started" }));
    expect(one && (one as { state?: string }).state).toBe(state);
  });

  test("the environment of a tether comes from the stack if it exists in the service", () => {
    const pinned = (live: object, stack: object) => {
      const rows = [row("tetherService", "t", { environmentId: undefined, ...live })];
      const own = { ...row("tetherService", "t", { environmentId: "e", changedAt: "now", ...stack }), managed };
      const { tethers } = withStacks(network(...rows), [
        network({ ...environment, managed: { ...managed, name: "x" } }, own),
      ]);
      return [tethers[0]!.environmentId, tethers[0]!.changedAt];
    };
    expect(pinned({}, {})).toEqual(["e", "now"]);
  });

  test("the consortia of a network that another has as well", () => {
    const other = modelOf([row("consortium", "d", {}), consortium], { source: "live" });
    expect(onlyOf(other, network()).consortia.map(({ id }) => id)).toEqual(["c"]);
  });
});
