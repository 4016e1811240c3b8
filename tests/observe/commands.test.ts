import { lstatSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Command } from "@commander-js/extra-typings";
import { define as defineCheck, listOf } from "../../cli/check";
import { define as defineMap } from "../../cli/map";
import { type Result } from "../../observe/check/checks";
import { type Service, startService } from "../../service/index";
import { temporary } from "../fleet/made";
import { begun, built } from "../service/child";
import { build, client, containing, matching, quick } from "../service/helpers";
import { until } from "../support/until";
import { connection, consortium } from "../cli/command";

const root = join(__dirname, "../..");

test.each([
  ["map", defineMap],
  ["check", defineCheck],
] as const)("options of consortium %s that its page uses exist", (name, define) => {
  const command = new Command();
  define(command);
  const options = command.options.map(({ long }) => long!);
  const page = readFileSync(join(root, `docs/${name}.md`), "utf8");
  const lines = [...page.matchAll(new RegExp(`npx --no-install consortium ${name} (.*)`, "g"))];
  const used = lines.flatMap(([, line = ""]) => line.split(" #")[0]!.match(/--[\w-]+/g) ?? []);
  expect(used.length).toBeGreaterThan(2);
  expect(used.filter((flag) => !options.includes(flag))).toEqual([]);
});

describe("the commands", () => {
  beforeAll(built);
  const folder = temporary();
  const file = (name: string): string => join(folder, name);
  let service: Service;
  let env: Record<string, string>;
  let pair: { username: string; password: string };
  let node: string;
  beforeAll(async () => {
    service = await startService({ ledger: true, timing: quick });
    env = connection(service);
    const made = await build(client(service.baseUrl, service.apiKey), { provider: "quorum", consensus_type: "raft" });
    [pair, node] = [made.credential, made.node];
    writeFileSync(file("outputs.json"), JSON.stringify({ apps: { acme: pair } }));
  });
  afterAll(() => service.close());

  test("check: 0 if everything is fine; its output contains no password", async () => {
    const args = ["check", "--outputs", file("outputs.json"), "--junit", file("j.xml"), "--metrics", file("m.prom")];
    const { code, stdout, stderr } = await consortium(args, env);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain("The network is usable: 8 ok.");
    const written = [stdout, readFileSync(file("j.xml"), "utf8"), readFileSync(file("m.prom"), "utf8")];
    expect(written[1]).toContain('<testcase classname="node reachable" name="node n1 in test"/>');
    expect(written[2]).toMatch(
      /^consortium_check_ok\{check="node reachable",kind="node",id="\w+",name="n1",within="test"\} 1$/m,
    );
    expect(written.join("")).not.toContain(pair.password);
  });

  test("check: 3 and NOT KNOWN without any credential, because no node was asked", async () => {
    const { code, stdout } = await consortium(["check", "--junit", file("u.xml"), "--metrics", file("u.prom")], env);
    expect(code).toBe(3);
    expect(stdout).toContain(
      [
        "? unknown node reachable: no credential of its member is available",
        "    node n1 in test",
        "    → Give the stack that holds one (--stack), or outputs",
      ].join("\n"),
    );
    expect(stdout).toMatch(
      /\n\nNot tested:\n- whether .*--stack\n- tethers: .*--tether or --stack\n- whether .*--write.*\n\nIt/,
    );
    expect(stdout).toContain("It is NOT KNOWN whether the network is usable: 4 ok, 1 not known.");
    const { code: same, stdout: json } = await consortium(["check", "--json"], env);
    expect(same).toBe(3);
    const { results, ...all } = JSON.parse(json) as { results: { outcome: string }[] };
    expect(all).toMatchObject({ ok: false, verdict: "unknown", counts: { unknown: 1 } });
    expect(results).toContainEqual(expect.objectContaining({ check: "node reachable", outcome: "unknown" }));
    expect(readFileSync(file("u.xml"), "utf8")).toContain('errors="1"');
    expect(readFileSync(file("u.prom"), "utf8")).toContain('consortium_check_results{outcome="unknown"} 1');
  });

  test("check: a reason names eight objects, one a line, and counts the rest, however many there are", () => {
    const nodes = (count: number): Result[] =>
      Array.from({ length: count }, (_, at) => ({
        check: "node reachable",
        outcome: "unknown",
        subject: { kind: "node", id: `u${at}`, name: `n${at + 1}` },
        text: "no credential of its member is available",
      }));
    const named = (count: number): string[] => listOf(nodes(count)).match(/n\d+$|and .* more$/gm)!;
    expect(named(9).at(-1)).toBe("n9");
    expect(named(5_000).slice(-2)).toEqual(["n8", "and 4992 more"]);
  });

  test("check: warns of outputs without a credential", async () => {
    writeFileSync(file("ids.json"), JSON.stringify({ chainId: 1 }));
    const { stderr } = await consortium(["check", "--outputs", file("ids.json")], env);
    expect(stderr).toMatch(/ids\.json has no user name with its password\. Create it with: pulumi stack output/);
  });

  test("check: 1, with the reason and the next step, if something is wrong", async () => {
    writeFileSync(file("wrong.json"), JSON.stringify({ ...pair, password: "no" }));
    const { code, stdout } = await consortium(["check", "--outputs", file("wrong.json"), "--json"], env);
    expect(code).toBe(1);
    const { ok, results } = JSON.parse(stdout) as { ok: boolean; results: { outcome: string }[] };
    expect(ok).toBe(false);
    expect(results.filter(({ outcome }) => outcome === "failed")).toEqual([
      {
        check: "node reachable",
        outcome: "failed",
        subject: { kind: "node", id: node, name: "n1", within: "test" },
        text: containing("it refuses the credential"),
        next: containing("Replace the AppCred"),
      },
      expect.objectContaining({ check: "credential", text: containing("it does not work on any node: n1 refused it") }),
    ]);
  });

  const nowhere = { CONSORTIUM_BASE_URL: "http://127.0.0.1:9/api/v1" };
  test.each([
    ["a service that does not answer", ["check"], nowhere, /cannot be reached/],
    ["a consortium that is not there", ["check", "--consortium", "nope"], {}, /no consortium "nope"/],
    ["outputs that are none", ["check", "--outputs", join(root, "README.md")], {}, /is not valid JSON/],
    ["an option that is not valid", ["check", "--pins", "none"], {}, /must be a whole number of at least 1/],
    ["an address without a host", ["check", "--listen", "9464"], {}, /such as 127\.0\.0\.1:9464/],
    [
      "a result that cannot be kept",
      ["check", "--junit", "/nowhere/j.xml"],
      {},
      /^consortium: \/nowhere\/j\.xml cannot be written: there is no such folder\. \[invalid-file: .*\n$/,
    ],
    [
      "a stack without Pulumi",
      ["check", "--stack", "dev"],
      { PATH: "/nowhere" },
      /no Pulumi CLI on the PATH.*\[not-installed: /,
    ],
  ])("check: 2 if it cannot run: %s", async (_, args, more, why) => {
    const { code, stderr } = await consortium(args, { ...env, ...more });
    expect({ code, stderr }).toEqual({ code: 2, stderr: matching(why) });
  });

  describe("check --watch", () => {
    /** What it prints while `work` is done; then Ctrl-C. */
    async function watched(flags: string[], work: (printed: { stdout: string; stderr: string }) => Promise<void>) {
      const { child, out, ended } = begun(["check", "--outputs", file("outputs.json"), "--watch", "1", ...flags], env);
      await work(out).finally(() => child.kill("SIGINT"));
      return (await ended).code;
    }
    afterEach(() => {
      service.faults.clear();
      service.store.nodes.setState(node, "started");
    });

    test("checks again until Ctrl-C, and sees what changes", async () => {
      const ended = await watched(["--json"], async (printed) => {
        const looks = (ok: boolean): number => printed.stdout.split(`{\n  "ok": ${ok},`).length - 1;
        await until(() => looks(true) >= 2);
        service.store.nodes.setState(node, "stopped");
        await until(() => looks(false) >= 1);
      });
      expect(ended).toBe(1);
    });

    test("reports a 503 of the service, and continues", async () => {
      service.faults.add({ kind: "status", status: 503, method: "GET", times: Infinity });
      const ended = await watched([], async (printed) => {
        await until(() => printed.stderr.includes("GET /consortia: HTTP 503"));
        service.faults.clear();
        await until(() => printed.stdout.includes("The network is usable"));
      });
      expect(ended).toBe(0);
    });
  });

  test("check --listen serves the results of the last check to Prometheus, until Ctrl-C", async () => {
    const args = ["check", "--outputs", file("outputs.json"), "--listen", "127.0.0.1:0", "--every", "1"];
    const { child, out, ended } = begun(args, env);
    try {
      await until(() => out.stdout.includes("/metrics, checked every 1 s."));
      const [url = ""] = /http:\S+\/metrics/.exec(out.stdout) ?? [];
      let text = "";
      const shows = (part: string) => until(async () => (text = await (await fetch(url)).text()).includes(part));
      await shows("consortium_check_up 1\n");
      expect(text).toMatch(/^consortium_check_duration_seconds \d/m);
      expect(text).toContain('consortium_check_ok{check="node reachable"');
      expect(text).not.toContain(pair.password);
      service.faults.add({ kind: "status", status: 503, method: "GET", times: Infinity });
      await shows("consortium_check_up 0\n");
      expect(text).not.toContain("consortium_check_ok");
      service.faults.clear();
      await shows("consortium_check_up 1\n");
    } finally {
      service.faults.clear();
      child.kill("SIGINT");
    }
    await ended;
  });

  test("map: the service as SVG into a file, and a network file as Mermaid", async () => {
    expect(await consortium(["map", "--output", file("map.svg")], env)).toMatchObject({ code: 0, stdout: "" });
    expect(readFileSync(file("map.svg"), "utf8")).toMatch(/^<svg [^]*data-kind="node"[^]*<\/svg>\n$/);
    symlinkSync(file("map.svg"), file("link.svg"));
    await consortium(["map", "--output", file("link.svg"), "--format", "mermaid"], env);
    expect(lstatSync(file("link.svg")).isSymbolicLink()).toBe(true);
    expect(readFileSync(file("map.svg"), "utf8")).toMatch(/^flowchart LR/);
    const network = join(root, "examples/network-file/network.yaml");
    const { stdout } = await consortium(["map", network, "--format", "mermaid"], {});
    expect(stdout).toMatch(/^flowchart LR\n {2}subgraph n1\["Coffee trade"\]/);
    const data = await consortium(["map", "--json"], env);
    expect(JSON.parse(data.stdout)).toMatchObject({
      source: "live",
      consortia: [{ environments: expect.anything() as [] }],
    });
    const one = await consortium(["map", "--format", "mermaid", "--consortium", "supply"], env);
    expect(one.stdout).toContain('["supply');
  });

  test.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("sweep --yes, ended by %s, reports last how many objects it deleted", async (signal, code) => {
    const { _id: id } = (await client(service.baseUrl, service.apiKey)("POST", "/consortia", { name: "left" })).body;
    service.faults.add({ kind: "hang", method: "DELETE", times: Infinity });
    try {
      const { child, ended } = begun(["sweep", "--id", id, "--yes"], env);
      await until(() => service.calls.some(({ method, path }) => method === "DELETE" && path.endsWith(id)));
      child.kill(signal);
      const end = await ended;
      expect(end.code).toBe(code);
      expect(end.stderr).toMatch(/Stopped\. Known to be deleted: 0 of 1 object\. .* run the same command again\.\n$/);
    } finally {
      service.faults.clear();
      service.store.consortia.setState(id, "setup");
      await client(service.baseUrl, service.apiKey)("DELETE", `/consortia/${id}`);
    }
  });
});
