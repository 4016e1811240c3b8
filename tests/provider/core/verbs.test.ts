import { contentsKey, hiddenKey, logicalNameKey, previewKey, secretsKey, stackKey } from "../../../provider/constants";
import { type Definition, type Props } from "../../../provider/core/definition";
import { type ProgramResource } from "../../../provider/core/session";
import { withKey } from "../../../provider/core/organization";
import { Sessions } from "../../../provider/pulumi/sessions";
import { fresh, stateOf, storedKey } from "../../../provider/core/state";
import { unknown } from "../../../provider/core/values";
import { Verbs } from "../../../provider/pulumi/verbs";
import { definitions } from "../../../provider/resources";
import { base, type Kind } from "../../support/by-kind";
import { setEnvironment } from "../../support/service";

/* What the verbs of one resource tell and remember without a call. */

beforeEach(() => setEnvironment({ CONSORTIUM_API_KEY: "one" }));

function process(provider?: string) {
  const said: string[] = [];
  const sessions = new Sessions({
    settings: () => settings,
    say: (line) => void said.push(line),
    interrupted: () => new AbortController().signal,
    ...(provider !== undefined && { provider: () => provider }),
  });
  const verbs = (kind: Kind, resource?: ProgramResource): Verbs => new Verbs(definitions[kind], sessions, resource);
  return { sessions, verbs, said };
}
const settings = {};
const named = (name: string): Props => ({ [logicalNameKey]: name });

/** The state of an object, as a run of this process leaves it. */
function stateFor(kind: Kind, { sessions }: ReturnType<typeof process>, kept: Props = {}, shown: Props = {}): Props {
  const definition: Definition = definitions[kind];
  const state = stateOf(
    definition,
    fresh(base[kind], { ...base[kind], state: "started", urls: { rpc: "u" }, ...shown }),
  );
  const ownership = withKey({ keys: [], organizations: ["o"] }, sessions.known()!);
  return { ...state, [storedKey]: { ...(state[storedKey] as Props), ...ownership, ...kept } };
}

describe("a check", () => {
  test.each<[string, Kind, Props, string[]]>([
    [
      "of a new one by its name",
      "node",
      { adopt: true },
      ['node "n": adopts the existing object with this name, or creates a new one'],
    ],
    [
      "of a new one by what distinguishes it",
      "environmentZone",
      { adopt: true },
      ['zone "ohio": adopts the existing object of this region and cloud, or creates a new one'],
    ],
    ["of a new one by its id", "node", { adopt: "x\u0007" }, ['node "n": adopts x']],
    ["of one whose name is not known yet", "node", { adopt: true, name: unknown }, []],
    [
      "of one that starts running",
      "environment",
      { paused: true },
      ['environment "e": paused: a new environment starts running; the next `pulumi up` pauses it'],
    ],
  ])("in a preview that cannot look tells %s", async (_, kind, change, lines) => {
    setEnvironment({ CONSORTIUM_OFFLINE_PREVIEW: "true" });
    const news = { ...base[kind], ...change };
    const { verbs } = process();
    const plain = (all: string[]): string[] => all.map((line) => line.replace(/x\S*$/, "x"));
    const adoption = await verbs(kind).adoption(news);
    expect(adoption.id).toBeUndefined();
    expect(plain([...verbs(kind).check({}, { ...news, [previewKey]: true }).lines, ...adoption.lines])).toEqual(lines);
    expect(verbs(kind).check({}, news).lines).toEqual([]);
    expect(verbs(kind).check(base[kind], { ...news, [previewKey]: true }).lines).toEqual([]);
  });

  test("keeps what an adapter has added, and nothing else of it", () => {
    const added = {
      [contentsKey]: { deletedWith: true },
      ...named("r"),
      [secretsKey]: [["name"]],
    };
    const { inputs } = process()
      .verbs("node")
      .check({}, { ...base.node, ...added, [previewKey]: true, [stackKey]: ["o", "p", "s"] });
    expect(inputs).toEqual({ ...base.node, ...added });
    const plain = process().verbs("node").check({}, base.node).inputs;
    expect(Object.keys(plain).toSorted()).toEqual(Object.keys(base.node).toSorted());
  });

  test.each<[string, Kind, Props, boolean]>([
    ["a value", "node", { size: unknown }, true],
    ["an id of something else", "node", { zoneId: unknown }, false],
  ])("leaves the secrets open, if what is not known yet may be one: %s", (_, kind, change, isOpen) => {
    const { inputs } = process()
      .verbs(kind)
      .check({}, { ...base[kind], ...change });
    expect(inputs[secretsKey]).toBe(isOpen ? unknown : undefined);
  });

  test.each<[string, Props, string]>([
    ["not a secret one", { [secretsKey]: [["orgName"]] }, ""],
    ["the property beside a secret one", { [secretsKey]: [["extra"]] }, "orgName"],
  ])("names %s that fails, whose value the engine prints", (_, marks, property) => {
    const { failures } = process()
      .verbs("membership")
      .check({}, { ...base.membership, orgName: 5, ...marks });
    expect(failures.map((one) => one.property)).toEqual([property]);
  });

  test("does not tell a secret in its reason", () => {
    const { verbs } = process();
    const wrong = {
      ...base.environment,
      provider: "quorum",
      consensusType: "hush-hush",
      [secretsKey]: [["consensusType"]],
    };
    const { failures } = verbs("environment").check({}, wrong);
    expect(failures).toHaveLength(1);
    expect(failures[0]!.reason).not.toContain("hush");
  });

  test.each<[string, Kind, Props, string]>([
    ["a name", "node", {}, "name"],
    ["a name that is called otherwise", "membership", {}, "orgName"],
    ["an object by its id", "node", { adopt: "x" }, "adopt"],
    ["a tether", "tetherService", {}, "tetherId"],
  ])("refuses a second resource for %s", (_, kind, change, property) => {
    const { verbs, sessions } = process();
    const news = { ...base[kind], ...change };
    expect(verbs(kind).check({}, { ...news, ...named("one") }).failures).toEqual([]);
    expect(verbs(kind).check({}, { ...news, ...named("one") }).failures).toEqual([]);
    const [failure, ...more] = verbs(kind).check({}, { ...news, ...named("two") }).failures;
    expect([failure?.property, more]).toEqual([property, []]);
    expect(failure?.reason).toMatch(/^remove one of them, .*"one" of this program/);
    expect(sessions.run().programmed.size).toBe(2);
  });

  test.each<[string, Props]>([["it cannot be made", { environmentId: undefined }]])(
    "refuses none, where %s",
    (_, change) => {
      const { verbs } = process();
      verbs("node").check({}, { ...base.node, ...named("one") });
      const { failures } = verbs("node").check({}, { ...base.node, ...named("two"), ...change });
      expect(failures.filter(({ reason }) => reason.startsWith('"one"'))).toEqual([]);
    },
  );

  test.each<[string, unknown, boolean]>([
    ["a stack", ["o", "p", "s"], true],
    ["a stack without its organization", [undefined, "p", "s"], false],
    ["a stack without its project", ["o", undefined, "s"], false],
    ["a part of one", ["o", "p"], false],
  ])("is told %s", (_, stack, isTold) => {
    const { verbs, sessions } = process();
    const told = jest.spyOn(sessions.log, "nameStack");
    verbs("node").check({}, { ...base.node, [stackKey]: stack });
    expect(told.mock.calls).toEqual(isTold ? [[{ organization: "o", project: "p", stack: "s" }]] : []);
  });
});

describe("the name that a killed run sent", () => {
  const logged = {
    attempt: "1",
    path: "/consortia/c/environments/e/nodes",
    name: "n-1",
    resource: "r",
    before: [],
    key: "k",
    at: 1,
  };
  const killed = (id?: string) => {
    const here = process();
    const interrupted = [{ ...logged, ...(id !== undefined && { id }) }];
    const before = { interrupted, isContinued: true };
    jest.spyOn(here.sessions.log, "before", "get").mockReturnValue(before);
    return here;
  };

  test.each<[string, Kind, Props, string | undefined]>([
    ["is that of the resource", "node", { ...base.node, ...named("s") }, undefined],
    ["is none, if the engine does not name it", "node", base.node, undefined],
    ["is none, if it has no place", "node", { ...base.node, ...named("r"), environmentId: undefined }, undefined],
  ])("%s", (_, kind, inputs, name) => {
    expect(killed().verbs(kind).killedName(inputs)).toBe(name);
  });

  test("is none without a key, nor if a state has its object", () => {
    const here = killed("x");
    expect(here.verbs("node").killedName({ ...base.node, ...named("r") })).toBe("n-1");
    here.sessions.run().shown.add("/consortia/c/environments/e/nodes/x");
    expect(here.verbs("node").killedName({ ...base.node, ...named("r") })).toBeUndefined();
    setEnvironment({ CONSORTIUM_API_KEY: undefined });
    expect(
      killed()
        .verbs("node")
        .killedName({ ...base.node, ...named("r") }),
    ).toBeUndefined();
  });
});

describe("a difference", () => {
  test.each<[string, Props, Props, boolean]>([
    ["nothing", {}, {}, false],
    ["that it now takes its own with it", {}, { [contentsKey]: { deletedWith: true } }, true],
    ["that it still does", { takesItsOwn: true }, { [contentsKey]: { deletedWith: true } }, false],
    ["nothing of that, if the program does not tell", { takesItsOwn: true }, {}, false],
  ])("is %s", async (_, kept, news, changes) => {
    const here = process();
    const state = stateFor("node", here, kept);
    const found = await here.verbs("node").diff("x", state, { ...base.node, ...news });
    expect([found.changes, found.replaces]).toEqual([changes, []]);
  });

  test.each<[string, Props, Props, boolean]>([
    ["that is paused, and stays so", {}, { state: "paused" }, true],
    ["that the program resumes", { paused: false }, { state: "paused" }, false],
    ["that runs", {}, { state: "live" }, false],
  ])("remembers an environment %s", async (_, news, shown, isStopped) => {
    const here = process();
    await here
      .verbs("environment")
      .diff("x", stateFor("environment", here, {}, shown), { ...base.environment, ...news });
    expect(here.sessions.run().stopped.has("x")).toBe(isStopped);
  });

  test("that replaces gives the object up, and says what is lost", async () => {
    const here = process();
    const state = stateFor("environment", here);
    const path = "/consortia/c/environments/x";
    const same = await here.verbs("environment").diff("x", state, base.environment);
    expect([same.replaces, same.warnings, here.sessions.run().leases.isGivenUp(path)]).toEqual([[], [], false]);
    const other = await here
      .verbs("environment")
      .diff("x", state, { ...base.environment, consensusType: "ibft", paused: true });
    expect(other.replaces).toEqual(["consensusType"]);
    expect(other.warnings.join()).toMatch(
      /REPLACING AN ENVIRONMENT DESTROYS ITS LEDGER.*a new environment starts running/,
    );
    expect(here.sessions.run().leases.isGivenUp(path)).toBe(true);
  });

  test.each<[string, boolean, RegExp]>([
    ["a destroy", false, /^environment "e" \(x\): DELETING AN ENVIRONMENT/],
    ["an update", true, /REPLACING AN ENVIRONMENT/],
  ])(
    "with values that are not known yet is that of %s, if the program shows nothing (%s)",
    async (_, isProgram, warning) => {
      const here = process();
      if (isProgram) here.verbs("node").check({}, { ...base.node, ...named("n") });
      const found = await here
        .verbs("environment")
        .diff("x", stateFor("environment", here), { ...base.environment, consortiumId: unknown });
      expect(found.warnings[0]).toMatch(warning);
    },
  );

  test("has plans only where an update may follow", async () => {
    const here = process();
    const state = stateFor("node", here, {}, { size: "small" });
    const news = { ...base.node, size: "large", ...named("r") };
    const plan = /restarts, to change size/;
    expect((await here.verbs("node").diff("x", state, news)).warnings.join()).not.toMatch(plan);
    expect(
      (await here.verbs("node").diff("x", state, { ...news, [logicalNameKey]: undefined })).warnings.join(),
    ).toMatch(plan);
    here.verbs("node").check(base.node, news);
    expect((await here.verbs("node").diff("x", state, news)).warnings.join()).toMatch(plan);
  });

  test("holds the object for a resource that the program has shown, and only then", async () => {
    const here = process();
    const state = stateFor("node", here);
    const path = "/consortia/c/environments/e/nodes/x";
    const holder = (): string | undefined => here.sessions.run().leases.holder(path)?.resource.name;
    await here.verbs("node").diff("x", state, { ...base.node, ...named("r") });
    expect(holder()).toBeUndefined();
    here.verbs("node").check(base.node, { ...base.node, ...named("r") });
    await here.verbs("node").diff("x", state, { ...base.node, ...named("r"), zoneId: unknown });
    expect(holder()).toBeUndefined();
    await here.verbs("node").diff("x", state, { ...base.node, ...named("r") });
    expect(holder()).toBe("r");
    here.verbs("node").check(base.node, { ...base.node, ...named("s") });
    const twin = here.verbs("node").diff("x", state, { ...base.node, ...named("s") });
    await expect(twin).rejects.toThrow(/take "r" or "s" out of the program/);
  });

  test("masks what is secret in the state", async () => {
    const here = process();
    const state = { ...stateFor("configuration", here), [hiddenKey]: { asked: { details: { a: "hush-hush" } } } };
    await here
      .verbs("configuration")
      .diff("x", state, { ...base.configuration, [secretsKey]: [["name"]], name: "quiet-name" });
    expect(here.sessions.secrets.mask("hush-hush quiet-name")).not.toMatch(/hush|quiet/);
  });
});
