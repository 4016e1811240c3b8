import { jsonOf, listOf, summaryOf } from "../../cli/check";
import { listenAddress, serveMetrics } from "../../cli/check/listen";
import { metricsOf } from "../../cli/check/metrics";
import { isAtLeast } from "../../cli/doctor/findings";
import { isOn, locksIn, pendingIn, withoutLogin } from "../../cli/doctor/held";
import { type Outcome, type Result } from "../../observe/check/checks";
import { temporary, writeIn } from "../fleet/made";
import { chmodSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { exportStack } from "../../cli/shared/connection";

describe("consortium check", () => {
  /* What `check` and `doctor` show of what they found. How they find it: tests/observe and doctor.test.ts. */

  const result = (outcome: Outcome, more: Partial<Result> = {}): Result => ({
    check: "node started",
    outcome,
    subject: { kind: "node", id: "n1", name: "one", within: "prod" },
    text: "it is started",
    ...more,
  });
  const called = (name: string): Pick<Result, "subject"> => ({ subject: { kind: "node", id: name, name } });

  test("the list of a check has a line for what is in order, with its object if that is one, and one for each reason", () => {
    const lines = (...results: Result[]) => listOf(results).split("\n");
    expect(lines(result("ok"))).toEqual(["✓ node started: node one in prod: it is started"]);
    expect(lines(result("ok"), result("ok"))).toEqual(["✓ node started: all 2"]);
    expect(
      lines(
        result("ok"),
        result("ok"),
        result("failed", { text: "it is stopped", next: "Start it.", ...called("two") }),
        result("failed", { text: "it is stopped", next: "Start it.", ...called("three") }),
        result("failed", { text: "it is gone", ...called("four") }),
        result("skipped", { check: "chain id", text: "no id" }),
        result("unseen", { check: "chain id", text: "no id" }),
      ),
    ).toEqual([
      "✓ node started: all other 2",
      ...["✗ FAILED node started: it is stopped", "    node two", "    node three", "    → Start it."],
      ...["✗ FAILED node started: it is gone", "    node four"],
      ...["- skipped chain id: no id", "    node one in prod", "? unseen chain id: no id", "    node one in prod"],
    ]);
  });

  test.each<[Outcome[], string]>([
    [["ok"], "The network is usable: 1 ok."],
    [["ok", "skipped"], "Nothing wrong was found, but not everything could be asked: 1 ok, 1 skipped."],
    [["ok", "failed", "failed", "unknown"], "SOMETHING IS WRONG: 1 ok, 2 failed, 1 not known."],
    [["unseen", "unknown"], "Not everything could be seen: 0 ok, 1 could not be seen, 1 not known."],
    [[], "There is nothing to check: 0 ok."],
  ])("%j in a sentence: %s", (outcomes, sentence) => {
    expect(summaryOf(outcomes.map((one) => result(one)))).toBe(sentence);
  });

  test("as JSON, it is ok where nothing is wrong", () => {
    const read = (...results: Result[]) => JSON.parse(jsonOf(results)) as object;
    expect(read(result("ok"), result("skipped"))).toMatchObject({ ok: true, verdict: "nothing wrong" });
    expect(read(result("unknown"))).toMatchObject({ ok: false, verdict: "unknown", counts: { ok: 0, unknown: 1 } });
  });

  describe("as metrics", () => {
    const lines = (results: Result[], tookMs?: number) => metricsOf(results, 90_500, tookMs).trim().split("\n");
    const labels = 'check="node started",kind="node",id="n1",name="one",within="prod"';

    test("there are those that were seen, with their values", () => {
      const some = [result("ok", { value: 0 }), result("failed", called("x")), result("unknown"), result("unseen")];
      expect(lines(some, 1_500).filter((line) => !line.startsWith("#"))).toEqual([
        `consortium_check_ok{${labels}} 1`,
        'consortium_check_ok{check="node started",kind="node",id="x",name="x",within=""} 0',
        `consortium_check_value{${labels}} 0`,
        'consortium_check_results{outcome="ok"} 1',
        'consortium_check_results{outcome="failed"} 1',
        'consortium_check_results{outcome="skipped"} 0',
        'consortium_check_results{outcome="unseen"} 1',
        'consortium_check_results{outcome="unknown"} 1',
        "consortium_check_duration_seconds 1.5",
        "consortium_check_timestamp_seconds 90.5",
      ]);
    });

    test("a family without a metric has no head", () => {
      expect(lines([]).filter((line) => line.startsWith("# TYPE"))).toEqual([
        "# TYPE consortium_check_results gauge",
        "# TYPE consortium_check_timestamp_seconds gauge",
      ]);
    });

    test.each([
      ["x".repeat(120), "x".repeat(120)],
      ["x".repeat(121), "x".repeat(120)],
      ['a"b\\c\nd', 'a\\"b\\\\c\\\\nd'],
    ])("a name such as %j is %j", (name, text) => {
      expect(lines([result("ok", called(name))])[2]).toContain(`,name="${text}",`);
    });
  });

  describe("what Prometheus asks", () => {
    test.each([
      ["127.0.0.1:9464", { host: "127.0.0.1", port: 9464 }],
      ["[::1]:0", { host: "::1", port: 0 }],
      ["localhost:65535", { host: "localhost", port: 65_535 }],
    ])("%s is an address", (text, address) => expect(listenAddress(text)).toEqual(address));
    test.each(["localhost:65536", "localhost:", ":1", "::1:1", "[x]:1", "a b:1", "localhost:1/"])(
      "%s is none",
      (text) => expect(() => listenAddress(text)).toThrow("It must be a host and a port"),
    );

    test("is answered with the last look, and with nothing before the first", async () => {
      const { url, look, close } = await serveMetrics({ host: "127.0.0.1", port: 0 });
      const asked = async (path = "/metrics", method = "GET") => {
        const response = await fetch(url.replace("/metrics", path), { method });
        return [response.status, (await response.text()).split("\n")[0]];
      };
      try {
        expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/metrics$/);
        expect(await asked()).toEqual([503, "The first check is still running."]);
        await look(() => Promise.resolve([result("ok")]));
        expect(await asked("/metrics?a=b")).toEqual([200, expect.stringContaining("# HELP consortium_check_up")]);
        expect([await asked("/metrics", "HEAD"), await asked("/metrics", "POST"), await asked("/")]).toEqual([
          [200, ""],
          [404, "Ask for /metrics."],
          [404, "Ask for /metrics."],
        ]);
        await expect(look(() => Promise.reject(new Error("no")))).rejects.toThrow("no");
        expect(await (await fetch(url)).text()).toMatch(/\nconsortium_check_up 0\n$/);
      } finally {
        await close();
      }
    });
  });

  test.each([
    ["3.220.0", "3.220.0", true],
    ["v3.220.1", "3.220.0", true],
    ["3.99.0", "3.220.0", false],
    ["3.219.9", "3.220", false],
    ["20.19.0", "20", true],
  ])("the version %s is at least %s: %j", (version, least, is) => expect(isAtLeast(version, least)).toBe(is));

  describe("locks", () => {
    const lock = { path: "organization/net/dev", holder: { user: "ada", host: "ci", pid: 1, since: "now" } };
    test.each([
      ["net", "dev", true],
      [undefined, "dev", true],
      ["net", "prod", false],
      ["other", "dev", false],
    ])("of project %j and stack %s: %j", (project, stack, is) => expect(isOn(lock, project, stack)).toBe(is));

    test("are read from a folder alone, each that is one", () => {
      const folder = temporary();
      const held = { pid: 4711, username: "ada", hostname: "ci-1", timestamp: "now" };
      writeIn(folder, ".pulumi/locks/organization/net/dev/a.json", JSON.stringify(held));
      writeIn(folder, ".pulumi/locks/organization/net/dev/a.txt", JSON.stringify(held));
      const holder = { user: "ada", host: "ci-1", pid: 4711, since: "now" };
      expect(locksIn(`file://${folder}`, "/")).toEqual([{ path: "organization/net/dev", holder }]);
      expect(locksIn(`file://${temporary()}`, "/")).toEqual([]);
      expect(locksIn("https://api.pulumi.com", "/")).toBeUndefined();
    });

    test("pending operations are named, with what to do unless a run has the lock", () => {
      const one = (type: string, name: string) => ({ type, resource: { urn: `urn:pulumi:dev::net::t::${name}` } });
      const state = (pending_operations?: object[] | null) => ({ deployment: { pending_operations } });
      const pending = state([one("creating", "a"), one("deleting", "b")]);
      const about = "pending operations";
      expect(pendingIn(pending, "Go on.", false)).toEqual([
        { about, state: "wrong", text: "a run was killed: creating a, deleting b", next: "Go on." },
      ]);
      expect(pendingIn(pending, "Go on.", true)).toEqual([
        { about, state: "note", text: "creating a, deleting b, by the run that has the lock" },
      ]);
      for (const none of [state(), state(null), state([]), {}, undefined])
        expect(pendingIn(none, "", false)).toEqual([]);
    });

    test.each([
      ["postgres://me:secret@db/pulumi", "postgres://db/pulumi"],
      ["s3://bucket/a@b", "s3://bucket/a@b"],
    ])("the backend %s is shown as %s", (url, shown) => expect(withoutLogin(url)).toBe(shown));
  });
});

describe("the state of a stack", () => {
  /* How commands read the state of a stack, from a `pulumi` that prints a document. (With the real one: e2e/stories/quickstart.) */

  const { PATH } = process.env;
  afterEach(() => void (process.env.PATH = PATH));

  /** A `pulumi` that prints this. */
  function printing(text: string): void {
    const folder = mkdtempSync(join(tmpdir(), "consortium-pulumi-"));
    writeFileSync(join(folder, "document"), text);
    writeFileSync(join(folder, "pulumi"), `#!/bin/sh\nexec cat "${folder}/document"\n`);
    chmodSync(join(folder, "pulumi"), 0o755);
    process.env.PATH = `${folder}:${PATH}`;
  }

  const documentOf = (...plaintexts: string[]) => ({
    deployment: { resources: plaintexts.map((plaintext) => ({ outputs: { plaintext } })) },
  });

  test.each<[string, string[], boolean]>([
    ["there are none", [], true],
    ["all are shown", ['"a"', '"b"'], true],
    ["one of them is nothing", ["null", '"b"'], true],
    ["all are nothing, as with a wrong passphrase", ["null", "null"], false],
  ])("secrets, where %s", async (_, plaintexts, isShown) => {
    const document = documentOf(...plaintexts);
    printing(JSON.stringify(document));
    const read = exportStack("dev", { secrets: true });
    if (isShown) expect(await read).toEqual(document);
    else await expect(read).rejects.toThrow("its secrets cannot be decrypted. Check PULUMI_CONFIG_PASSPHRASE.");
    expect(await exportStack("dev")).toEqual(document);
  });

  test("invalid JSON is an error", async () => {
    printing("warning: {");
    await expect(exportStack("dev")).rejects.toMatchObject({
      code: "pulumi-failed",
      message: expect.stringMatching(/stack dev cannot be read: Pulumi's output is not valid JSON/) as string,
    });
  });
});
