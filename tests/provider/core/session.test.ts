import { ApiError } from "../../../provider/api";
import { systemClock } from "../../../provider/api/clock";
import { within } from "../../../provider/core/session";
import { isOffline, Sessions } from "../../../provider/pulumi/sessions";
import { type ProviderSettings } from "../../../provider/pulumi/settings";
import { Incomplete, UserError } from "../../../provider/errors";
import { setEnvironment, start } from "../../support/service";

/* The sessions of one process: with which settings it works, what it knows, and how it says what failed. */

function sessions(settings: () => ProviderSettings = () => none, signal = new AbortController().signal) {
  const said: string[] = [];
  const all = new Sessions({ settings, say: (line) => void said.push(line), interrupted: () => signal });
  return { all, said };
}
const none: ProviderSettings = {};
const refusal = (kind: "denied" | "unsent" | "invalid", status?: number): ApiError =>
  new ApiError({ kind, status, call: "GET /x", errorMessage: "no" });

describe("an error for people", () => {
  const refused = refusal("denied", 401);

  test.each<[string, unknown, string | undefined, string]>([
    ["says what failed", new Error("no"), 'node "n"', "no"],
    [
      "names the resource, if a call did",
      refusal("invalid", 400),
      'node "n"',
      'node "n": GET /x: HTTP 400: no. [request-refused: docs/troubleshooting.md#request-refused]',
    ],
    [
      "names none, if there is none",
      refusal("invalid", 400),
      undefined,
      "GET /x: HTTP 400: no. [request-refused: docs/troubleshooting.md#request-refused]",
    ],
    [
      "names it, if a call is behind it",
      new UserError("conflict", "so", { cause: refusal("invalid") }),
      'node "n"',
      'node "n": so [conflict: docs/troubleshooting.md#conflict]',
    ],
    [
      "does not, if something else is",
      new UserError("conflict", "so", { cause: new Error("no") }),
      'node "n"',
      "so [conflict: docs/troubleshooting.md#conflict]",
    ],
    [
      "is whole, the first time",
      refused,
      'node "n"',
      'node "n": GET /x: HTTP 401: no. [key-refused: docs/troubleshooting.md#key-refused]',
    ],
  ])("%s", (_, error, where, message) => {
    expect(sessions().all.shown(error, where).message).toBe(message);
  });

  test.each<[string, unknown, string]>([
    ["a refused key", refused, "The API key was refused: see the error for a. [key-refused]"],
    ["a service that is away", refusal("unsent"), "The service cannot be reached: see the error for a. [unreachable]"],
    [
      "the same, with other words",
      new UserError("key-refused", "so", { cause: refused }),
      "The API key was refused: see the error for a. [key-refused]",
    ],
    [
      "what says so itself",
      new UserError("conflict", "the whole of it", { brief: "it failed" }),
      "It failed: see the error for a. [conflict]",
    ],
  ])("is short after the first time: %s", (_, error, brief) => {
    const { all } = sessions();
    const first = all.shown(error, "a").message;
    expect(all.shown(error, "b").message).toBe(brief);
    expect(all.shown(error, "a").message).toBe(first);
    expect(all.shown(error).message).not.toBe(brief);
  });

  test("keeps what exists, and masks secrets", () => {
    const { all } = sessions();
    all.hide({ password: "hush-hush" }, [["password"]]);
    const shown = all.shown(new Incomplete("x", { a: 1 }, new UserError("conflict", "it is hush-hush")));
    expect(shown).toBeInstanceOf(Incomplete);
    expect([shown.message.includes("hush"), (shown as Incomplete).id, (shown as Incomplete).state]).toEqual([
      false,
      "x",
      { a: 1 },
    ]);
    expect(all.shown(new Error("no"))).not.toBeInstanceOf(Incomplete);
  });
});

test.each<[string | undefined, boolean | RegExp]>([
  [undefined, false],
  ["", false],
  ["false", false],
  ["true", true],
  ["yes", /Set environment variable CONSORTIUM_OFFLINE_PREVIEW to true or false/],
])("a preview is offline by its variable: %j", (value, is) => {
  const env = { CONSORTIUM_OFFLINE_PREVIEW: value };
  if (is instanceof RegExp) expect(() => isOffline(env)).toThrow(is);
  else expect(isOffline(env)).toBe(is);
});

describe("settings", () => {
  test("are checked without a key, once for each change", () => {
    let reads = 0;
    let settings: ProviderSettings = {};
    const { all } = sessions(() => ((reads += 1), settings));
    setEnvironment({ CONSORTIUM_API_KEY: undefined });
    expect(() => all.check()).not.toThrow();
    settings = { region: { value: "de", own: false } };
    expect(() => all.check()).toThrow(/The setting region .* must be one of/);
    expect(() => all.check()).toThrow(/The setting region/);
    settings = { adopt: { value: "ture", own: false } };
    expect(() => all.check()).toThrow(/The setting adopt/);
    expect(reads).toBeGreaterThan(0);
  });

  test("that are missing are an error only where they are used", () => {
    const { all } = sessions();
    setEnvironment({ CONSORTIUM_API_KEY: undefined });
    expect(all.known()).toBeUndefined();
    expect(() => all.current()).toThrow("No API key is set");
    setEnvironment({ CONSORTIUM_API_KEY: "key" });
    return Promise.resolve().then(() => {
      expect(all.known()?.apiKey.reveal()).toBe("key");
      expect(all.current()).toBe(all.current());
    });
  });

  test("that change begin another session, and another run", async () => {
    const { all } = sessions();
    setEnvironment({ CONSORTIUM_API_KEY: "one", CONSORTIUM_CONFIRM_DELETED: "a, b\nc" });
    const [session, run] = [all.current(), all.run()];
    expect(session.run).toBe(run);
    expect(["a", "b", "c", "d", ""].map((id) => run.isNamed([id]))).toEqual([true, true, true, false, false]);
    await Promise.resolve();
    expect([all.current() === session, all.run() === run]).toEqual([true, true]);
    setEnvironment({ CONSORTIUM_API_KEY: "two" });
    await Promise.resolve();
    expect([all.current() === session, all.run() === run]).toEqual([false, false]);
  });

  test("are read once within a turn", async () => {
    let settings: ProviderSettings = {};
    const { all } = sessions(() => settings);
    setEnvironment({ CONSORTIUM_API_KEY: "one" });
    const before = all.known();
    setEnvironment({ CONSORTIUM_API_KEY: "two" });
    expect(all.known()).toBe(before);
    settings = {};
    expect(all.known()?.apiKey.reveal()).toBe("two");
    setEnvironment({ CONSORTIUM_API_KEY: "three" });
    await Promise.resolve();
    expect(all.known()?.apiKey.reveal()).toBe("three");
  });

  test("are of no use once the run has ended", async () => {
    const { all } = sessions();
    setEnvironment({ CONSORTIUM_API_KEY: "one" });
    await all.end();
    expect(() => all.current()).toThrow("the run has ended.");
  });
});

describe("a session", () => {
  test.each<[string, number, boolean]>([
    ["says that it waits, if that takes long", 2, true],
    ["does not, if it does not", 1, false],
  ])("%s", async (_, retryAfter, isSaid) => {
    const { service } = await start();
    service.faults.add({ kind: "status", status: 429, errorMessage: "slow down", retryAfter });
    const { all, said } = sessions();
    await all.current().client.listConsortia();
    expect(said).toEqual(isSaid ? ["GET /consortia: slow down; trying again in 2 s"] : []);
  });

  test("wakes when the user cancels", async () => {
    const controller = new AbortController();
    const { all } = sessions(() => none, controller.signal);
    setEnvironment({ CONSORTIUM_API_KEY: "one" });
    const { clock } = all.current();
    const [long, own] = [clock.sleep(600_000), clock.sleep(600_000, new AbortController().signal)];
    const slept = Promise.allSettled([long, own]);
    controller.abort();
    expect(await slept).toEqual(
      Array(2).fill({ status: "rejected", reason: new UserError("interrupted", "interrupted while waiting.") }),
    );
    await expect(clock.sleep(1)).rejects.toThrow("interrupted while waiting.");
    expect(Math.abs(clock.now() - systemClock.now())).toBeLessThan(1_000);
  });

  test("of a verb ends with its time", () => {
    const { all } = sessions();
    setEnvironment({ CONSORTIUM_API_KEY: "one" });
    jest.spyOn(systemClock, "now").mockReturnValue(1_000);
    const { deadline } = within(all.current(), 90_000, { verb: "create", resource: "r" });
    expect(deadline).toEqual({
      at: 91_000,
      limit: "90 s",
      setting: "customTimeouts",
      caller: { verb: "create", resource: "r" },
    });
  });
});
