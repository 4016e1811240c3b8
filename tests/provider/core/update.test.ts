import { ApiError, type ConsortiumClient } from "../../../provider/api";
import { type ErrorKind } from "../../../provider/api/api-error";
import { Http } from "../../../provider/api/http";
import { Collection } from "../../../provider/core/collection";
import { type Definition, type Props } from "../../../provider/core/definition";
import { update } from "../../../provider/core/lifecycle/update";
import { newSession } from "../../../provider/core/session";
import { fresh, type StateParts, stateOf, storedKey } from "../../../provider/core/state";
import { Incomplete } from "../../../provider/core/user-error";
import { definitions } from "../../../provider/resources";
import { base as inputs } from "../../support/by-kind";
import { settingsFor } from "../../support/peer";
import { VirtualTime } from "../../support/virtual-time";

/* One update: what is sent, what the state keeps of it, and what is left to the next run. */

type Kind = "node" | "appCred" | "consortium" | "invitation";

const base = { ...inputs, consortium: { ...inputs.consortium, description: "old" } };
const ready = { state: "started", createdAt: "2026-01-01T00:00:00.000Z", owner: "o", revision: "1" };
const shownOf: Record<Kind, Props> = {
  node: { ...ready, membershipId: "m", name: "n", size: "small", urls: { rpc: "https://rpc" } },
  appCred: { membershipId: "m", name: "a", username: "u", password: "hush", revision: "1" },
  consortium: { ...ready, name: "trade", description: "old" },
  invitation: { ...ready, state: "sent", orgName: "acme", email: "ops@acme.example" },
};
const http = new Http(settingsFor("https://x/api/v1"));
const error = (kind: ErrorKind): ApiError => new ApiError({ kind, call: "PATCH /x", errorMessage: "no" });

interface Case {
  kind?: Kind;
  /** What the program asks for now, over what it asked for before. */
  news?: Props;
  /** What the program asked for before, over the base. */
  asked?: Props;
  /** What the service shows now, and answered before. */
  shown?: Props;
  answered?: Props;
  parts?: Partial<StateParts>;
  /** What PATCH answers; an error, or the object as it is afterwards. null: nothing. */
  patch?: Props | ErrorKind | null;
  /** What the list shows then, over that; or why there is none. undefined: the object is not there. */
  listed?: Props | ErrorKind | undefined;
  /** Names of the consortium's members. */
  members?: string[];
  restart?: ErrorKind;
  regenerate?: Props | ErrorKind;
}

const wire = ({ membershipId, orgName, createdAt, revision, ...shown }: Props): Props => ({
  ...shown,
  membership_id: membershipId,
  org_name: orgName,
  created_at: createdAt,
  _revision: revision,
});

async function updating({ kind = "node", news = {}, asked = {}, shown = {}, patch = {}, ...given }: Case) {
  const { members = [], listed } = { listed: {}, ...given };
  const clock = new VirtualTime();
  const definition: Definition = definitions[kind];
  const before = { ...base[kind], ...asked };
  const now = { ...shownOf[kind], ...shown };
  const answered = { ...now, ...given.answered };
  const olds = stateOf(definition, { ...fresh(before, now), answered, ...given.parts });
  const args = Object.fromEntries(Object.entries({ ...before, ...news }).filter(([, value]) => value !== undefined));
  const calls: string[] = [];
  const bodies: Props[] = [];
  const said: string[] = [];
  let there = wire({ ...now, password: undefined });
  const settled = <T>(value: T | ErrorKind): Promise<T> =>
    typeof value === "string" ? Promise.reject(error(value as ErrorKind)) : Promise.resolve(value);
  const { collection: path } = definition.place(args);
  const client = {
    patch: (_: string, body: Props) => {
      calls.push("change");
      bodies.push(body);
      if (typeof patch === "string") return settled<Props>(patch);
      there = { ...there, ...body, _revision: "2", ...patch };
      return settled<Props>(patch === null ? {} : { id: "x", ...there });
    },
    put: () => {
      calls.push("restart");
      return settled<Props>(given.restart ?? {});
    },
    postAgain: () => {
      calls.push("regenerate");
      return settled<Props>(given.regenerate ?? { password: "new" });
    },
    list: (where: string) => {
      if (where !== path)
        return Promise.resolve([{ id: "e" }, { id: "c" }, ...members.map((one) => ({ id: one, org_name: one }))]);
      calls.push("list");
      if (typeof listed === "string") return settled<Props>(listed);
      return Promise.resolve(listed ? [{ id: "x", ...there, ...listed }] : [{ id: "y" }]);
    },
    find: () => Promise.resolve(undefined),
    getNodeStatus: () => Promise.resolve({ urls: { rpc: "https://rpc" } }),
    until: () => client,
    http: { settings: http.settings, serviceTime: () => undefined },
  } as unknown as ConsortiumClient;
  const session = newSession(client, { clock, say: (line) => void said.push(line) });
  const collection = Collection.of(session, definition, args, "x");
  const outcome = await update(collection, "x", olds, args).then(
    (state) => ({ state, error: "" }),
    (failure: Error) => ({ state: failure instanceof Incomplete ? failure.state : undefined, error: failure.message }),
  );
  const kept = (outcome.state?.[storedKey] ?? {}) as Props;
  const writes = calls.filter((call) => call !== "list");
  return { ...outcome, kept, writes, lists: calls.length - writes.length, bodies, said: said.join("\n") };
}

describe("an update", () => {
  test.each<[string, Case, Props[]]>([
    ["sends what the program asks for", { news: { name: "m" } }, [{ name: "m" }]],
    ["sends several at once", { news: { name: "m", kmsId: "k" } }, [{ name: "m", kms_id: "k" }]],
    ["sends what somebody has changed", { shown: { name: "z" }, answered: { name: "n" } }, [{ name: "n" }]],
    ["sends nothing that is so", {}, []],
    [
      "leaves to the service what the program no longer sets",
      { asked: { size: "small" }, news: { size: undefined } },
      [{ size: null }],
    ],
    ["sends no time-outs", { news: { customTimeouts: { update: 1 } } }, []],
    ["sends no keepers", { kind: "appCred", news: { keepers: { a: 1 } } }, []],
    ["sends what had no clear answer", { parts: { unclear: ["name"] } }, [{ name: "n" }]],
    ["sends nothing that is shown already", { news: { name: "m" }, shown: { name: "m" }, answered: { name: "n" } }, []],
  ])("%s", async (_, given, bodies) => {
    const { error: why, bodies: sent, kept, writes } = await updating(given);
    expect([why, sent]).toEqual(["", bodies]);
    expect(writes.filter((call) => call !== "restart")).toHaveLength(bodies.length);
    expect([kept.unclear, kept.open]).toEqual([undefined, undefined]);
  });

  test("that finds a value as it is asked for counts that as the answer: a later change is drift", async () => {
    const { kept, state } = await updating({ news: { name: "m" }, shown: { name: "m" }, answered: { name: "n" } });
    expect([state?.name, kept.answered]).toEqual(["m", undefined]);
  });

  test.each<[string, Case, number]>([
    ["not for what an answer shows", { news: { name: "m" } }, 0],
    ["for what may have another form", { kind: "consortium", news: { description: "d" } }, 1],
    ["for what is taken out", { kind: "consortium", news: { description: undefined } }, 1],
    [
      "for what is taken out beside another one",
      { kind: "consortium", news: { name: "m", description: undefined } },
      1,
    ],
  ])("looks at the list, %s", async (_, given, lists) => {
    const { error: why, lists: looks } = await updating(given);
    expect([why, looks]).toEqual(["", lists]);
  });
});

describe("a change that is not made", () => {
  test.each<[string, Case, RegExp, Props | undefined]>([
    ["is an error", { news: { name: "m" }, patch: "unsupported" }, /cannot change name in place/, undefined],
    ["is an error if it is refused", { news: { name: "m" }, patch: "invalid" }, /PATCH \/x/, undefined],
    ["is sent again if nobody knows", { news: { name: "m" }, patch: "lost" }, /PATCH \/x/, { unclear: ["name"] }],
    [
      "replaces what can only be replaced then, with the next run",
      { kind: "appCred", news: { name: "b" }, patch: "unsupported" },
      /Run `pulumi up` again to make a new credential and then delete this one, or set the old name again/,
      { refused: ["name"] },
    ],
    [
      "the same, if the service accepts and ignores it",
      { kind: "appCred", news: { name: "b" }, patch: { name: "a" } },
      /accepts another name, but keeps the old one\. Run `pulumi up` again/,
      { refused: ["name"] },
    ],
    [
      "the same, if that was known before",
      { kind: "appCred", news: { name: "b" }, patch: "unsupported", parts: { refused: ["name"] } },
      /Run `pulumi up` again/,
      { refused: ["name"] },
    ],
  ])("%s", async (_, given, why, stored) => {
    const { error: is, kept, state } = await updating(given);
    expect(is).toMatch(why);
    expect(state === undefined).toBe(stored === undefined);
    if (stored) expect(kept).toMatchObject(stored);
  });

  test("back to what it was, by somebody else, is a warning if the service cannot do it", async () => {
    const drift: Case = { kind: "appCred", shown: { name: "z" }, answered: { name: "a" } };
    const { error: is, kept, said } = await updating({ ...drift, patch: "unsupported" });
    expect([is, kept.refused, kept.answered]).toEqual(["", ["name"], { name: "a" }]); // so it is still drift
    expect(said).toMatch(/somebody changed name in the service, and this service cannot change name in place/);
    const ignored = await updating({ ...drift, patch: { name: "z" } });
    expect([ignored.error, ignored.kept.refused]).toEqual(["", undefined]);
    const known = await updating({ ...drift, patch: { name: "z" }, parts: { refused: ["name"] } });
    expect([ignored.kept.unseen, known.kept.unseen, known.said]).toEqual([["name"], undefined, ""]);
    const both = await updating({ ...drift, news: { extra: { a: 1 } }, patch: "unsupported" });
    expect(both.error).toBe(is);
  });

  test("is a warning if the service ignores it, and is sent again when the program returns to the old value", async () => {
    const { error: is, said, kept, state } = await updating({ news: { name: "m" }, patch: { name: "n" } });
    expect([is, kept.unseen, state?.name]).toEqual(["", ["name"], "n"]);
    expect(said).toContain("the service accepted another name, but still shows the old one");
    const made = await updating({ news: { name: "m" } });
    expect([made.kept.unseen, made.said]).toEqual([undefined, ""]);
    const back = await updating({ asked: { name: "m" }, news: { name: "n" }, parts: { unseen: ["name", "size"] } });
    expect([back.writes, back.kept.unseen]).toEqual([["change"], ["size"]]);
  });

  test("is a warning, too, if the answer only repeats what was asked, and none if nothing is shown", async () => {
    const described: Case = { kind: "consortium", news: { description: "d" }, listed: { description: "old" } };
    const { said, kept } = await updating(described);
    expect(said).toContain("the service accepted another description, but still shows the old one");
    expect(kept.unseen).toEqual(["description"]);
    const unnamed: Case = { kind: "appCred", shown: { name: undefined }, news: { name: "b" } };
    const hidden = await updating({ ...unnamed, patch: null, listed: "missing" });
    expect([hidden.error, hidden.said, hidden.kept.unseen]).toEqual(["", "", undefined]);
  });
});

describe("the change of an invitation that is gone", () => {
  const gone: Case = { kind: "invitation", patch: "missing", listed: undefined, members: ["other", "ACME"] };
  test.each<[string, Case, string | RegExp, RegExp]>([
    [
      "has no effect after its member came",
      { news: { email: "b@acme.example" } },
      "",
      /is gone, so the change of email has no effect/,
    ],
    ["has none if another one came, too", { news: { orgName: "other" } }, "", /so the change of orgName has no effect/],
    [
      "cannot be made for one that did not",
      { news: { orgName: "new", email: "b@new.example" } },
      /is gone, so it cannot get another (orgName|email) and (orgName|email)\. For a new one/,
      /^$/,
    ],
    ["is an error if nobody came", { news: { email: "b@acme.example" }, members: ["other"] }, /no longer exists/, /^$/],
    ["is not made up for one that is there", { news: { email: "b" }, patch: "invalid", listed: {} }, /PATCH \/x/, /^$/],
    ["is an error for what serves no purpose", { kind: "node", news: { name: "m" } }, /no longer exists/, /^$/],
  ])("%s", async (_, given, why, line) => {
    const { error: is, said, kept } = await updating({ ...gone, ...given });
    expect(is).toMatch(why === "" ? /^$/ : why);
    expect(said).toMatch(line);
    if (why === "") expect(kept.asked).toEqual(given.news);
  });
});

describe("a restart", () => {
  const larger: Case = { news: { size: "large" } };
  test.each<[string, Case, string[], RegExp | "", string[] | undefined]>([
    ["follows a change that needs one", larger, ["change", "restart"], "", undefined],
    ["follows no other", { news: { name: "m" } }, ["change"], "", undefined],
    ["follows none that the service ignored", { ...larger, patch: { size: "small" } }, ["change"], "", undefined],
    ["that an earlier run did not make is made", { parts: { open: ["restart"] } }, ["restart"], "", undefined],
    [
      "that fails is made by the next run",
      { ...larger, restart: "server" },
      ["change", "restart"],
      /was changed, but not restarted, so that the change has no effect yet: .* Run `pulumi up` again, which restarts it/,
      ["restart"],
    ],
    [
      "that the service lacks is for the console",
      { ...larger, restart: "unsupported" },
      ["change", "restart"],
      /This service cannot restart it: restart it in the console/,
      ["restart"],
    ],
    [
      "that it lacks still is given up",
      { parts: { open: ["restart"] }, restart: "missing" },
      ["restart"],
      "",
      undefined,
    ],
    [
      "that fails still is not",
      { parts: { open: ["restart"] }, restart: "server" },
      ["restart"],
      /which restarts it/,
      ["restart"],
    ],
  ])("%s", async (_, given, writes, why, open) => {
    const { error: is, writes: made, kept, state } = await updating(given);
    expect(is).toMatch(why);
    expect([made, kept.open]).toEqual([writes, open]);
    if (given === larger) expect(state).toMatchObject({ size: "large" });
  });
});

describe("another secret", () => {
  const rotating: Case = { kind: "appCred", news: { rotateWhenChanged: { month: "may" } } };

  test.each<[string, Case, string[]]>([
    ["is asked for with its trigger", rotating, ["regenerate"]],
    ["is not without it", { kind: "appCred", news: { keepers: { a: 1 } } }, []],
    ["comes before other changes", { ...rotating, news: { ...rotating.news, name: "b" } }, ["regenerate", "change"]],
    [
      "is asked for again, if nobody saw it",
      { kind: "appCred", parts: { unclear: ["rotateWhenChanged"] } },
      ["regenerate"],
    ],
  ])("%s", async (_, given, writes) => {
    const { error: is, writes: made, state, kept } = await updating(given);
    expect([is, made, kept.unclear]).toEqual(["", writes, undefined]);
    expect(state?.password).toBe(writes.includes("regenerate") ? "new" : "hush");
  });

  test.each<[string, Partial<StateParts>, string[]]>([
    ["and nothing else", {}, ["rotateWhenChanged"]],
    ["beside what was open", { unclear: ["name"] }, ["name", "rotateWhenChanged"]],
    ["once", { unclear: ["rotateWhenChanged", "name"] }, ["name", "rotateWhenChanged"]],
  ])("that nobody saw is asked for by the next run, %s", async (_, parts, unclear) => {
    const { error: is, kept, state } = await updating({ ...rotating, parts, regenerate: "lost" });
    expect(is).toMatch(/The password in the state may no longer work: run `pulumi up` again/);
    expect([kept.unclear, state?.password]).toEqual([unclear, "hush"]);
  });

  test("that the service refuses changes nothing", async () => {
    const { state, error: is } = await updating({ ...rotating, regenerate: "unsupported" });
    expect([state, is]).toEqual([undefined, expect.stringContaining("cannot regenerate its password")]);
  });

  test.each<[string, Case, Props]>([
    ["an error", { patch: "invalid" }, { unclear: ["role"] }],
    ["an answer that is lost", { patch: "lost" }, { unclear: ["name"] }],
  ])("is kept, if another change ends in %s", async (_, given, stored) => {
    const parts = { unclear: ["role", "rotateWhenChanged"] };
    const {
      error: is,
      state,
      kept,
    } = await updating({ ...rotating, news: { ...rotating.news, name: "b" }, parts, ...given });
    expect(is).toContain("PATCH /x");
    expect([state?.password, kept]).toEqual(["new", expect.objectContaining(stored)]);
  });
});
