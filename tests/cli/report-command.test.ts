import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { containing } from "../service/helpers";
import { consortium } from "./command";
import { eventsOf, planned, step } from "./plans";

jest.setTimeout(30_000);

describe("the command", () => {
  const folder = mkdtempSync(join(tmpdir(), "consortium-report-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };

  test("several stacks in one report, and --fail-on", async () => {
    const calm = file("calm.json", planned([]));
    const lossy = file("lossy.json", planned([step("delete", "Node", "n", { id: "n1" })]));
    const both = await consortium(
      ["report", calm, lossy, "--title", "Preview", "--fail-on", "ledger-loss", "errors"],
      {},
    );
    const order = /^## Preview\n\n> \[!CAUTION\][^]*`net\/prod`: Node `n` is deleted[^]*### [^]*### /;
    expect(both).toMatchObject({ code: 2, stdout: expect.stringMatching(order) as string });
    expect(await consortium(["report", calm, "--fail-on", "ledger-loss", "changes"], {})).toMatchObject({ code: 0 });
    expect(await consortium(["report", lossy], {})).toMatchObject({ code: 0 });
  });

  const old = { id: "c1", inputs: { description: "a" } };
  const changed = (to: string) => step("update", "Consortium", "c", old, { inputs: { description: to } });
  const created = step("create", "Node", "n", undefined, { inputs: { name: "n" } });
  const all = ["--fail-on", "unapproved", "ledger-loss", "errors"];

  test("--approved: the same steps in any order pass; of others it shows what was approved, what is now, and the digest", async () => {
    const approved = file("approved.json", planned([changed("b"), created]));
    const same = file("same.json", planned([created, changed("b")]));
    expect(await consortium(["report", same, "--approved", approved, ...all], {})).toMatchObject({ code: 0 });

    const other = file("other.json", planned([changed(`${"long ".repeat(40)}end`)]));
    const { code, stdout } = await consortium(["report", other, "--approved", approved, ...all], {});
    expect(code).toBe(2);
    expect(stdout).toContain("> **THIS IS NOT WHAT WAS APPROVED.**\n>\n> Digest of the plan of `net/prod`: `");
    expect(stdout).toMatch(
      /^\| Consortium `c` \| changed `description`: `"a"` → `"b"` \| changed `description`: `"a"` → `"long /m,
    );
    expect(stdout).toMatch(/^\| Node `n` \| created \| nothing \|$/m);

    const end = file("end.json", planned([changed(`${"long ".repeat(40)}other end`)]));
    expect(await consortium(["report", end, "--approved", other, ...all], {})).toMatchObject({ code: 2 });
    const [, given = ""] = /`([0-9a-f]{64})`/.exec(stdout)!;
    expect(await consortium(["report", other, "--approved", approved, given, ...all], {})).toMatchObject({ code: 0 });
    expect(await consortium(["report", end, "--approved", approved, given, ...all], {})).toMatchObject({ code: 2 });
  });

  test.each([
    ["another object of the same name", { ...old, id: "c2" }],
    ["another value before", { ...old, inputs: { description: "z" } }],
    ["another fate in the service", { ...old, retainOnDelete: true }],
  ])("what was approved was not for %s", async (_, other) => {
    const approved = file("approved.json", planned([step("delete", "Consortium", "c", old)]));
    const now = file("now.json", planned([step("delete", "Consortium", "c", other)]));
    const { code } = await consortium(["report", now, "--approved", approved, "--fail-on", "unapproved"]);
    expect(code).toBe(2);
  });

  test("what drifted was not approved, nothing to do needs no approval, and without any plan nobody has approved", async () => {
    const read = {
      op: "refresh",
      urn: created.urn.replace("Node::n", "Consortium::c"),
      old: { inputs: { description: "a" } },
    };
    const events = eventsOf(
      { resourcePreEvent: { metadata: read } },
      { resOutputsEvent: { metadata: { ...read, new: { inputs: { description: "b" }, outputs: {} } } } },
      { resourcePreEvent: { metadata: created } },
    );
    const plan = file("drifted.json", events);
    const approved = file("approved.json", planned([created]));
    const compared = await consortium(["report", plan, "--approved", approved, ...all], {});
    expect(compared).toMatchObject({
      code: 2,
      stdout: expect.stringContaining("| Consortium `c` | nothing | drifted ") as string,
    });
    expect(
      await consortium(["report", file("nothing.json", planned([])), "--approved", approved, ...all], {}),
    ).toMatchObject({ code: 0 });
    const alone = await consortium(["report", approved, ...all], {});
    expect(alone).toMatchObject({
      code: 2,
      stdout: expect.stringContaining("**NOBODY HAS APPROVED THIS.**") as string,
    });
  });

  test("that a ledger is lost is approved with a digest only", async () => {
    const losing = planned([step("delete", "Node", "n", { id: "n1" })]);
    const [lossy, before] = [file("lossy.json", losing), file("before.json", losing)];
    const { code, stdout } = await consortium(["report", lossy, "--approved", before, ...all], {});
    expect(code).toBe(2);
    expect(stdout).not.toContain("NOT WHAT WAS APPROVED");
    const [, given = ""] = /`([0-9a-f]{64})`/.exec(stdout)!;
    expect(await consortium(["report", lossy, "--approved", given, ...all], {})).toMatchObject({ code: 0 });
  });

  test("--save keeps the plan without debug messages, which hold passwords", async () => {
    const message = (severity: string, text: string) => ({ diagnosticEvent: { severity, message: text } });
    const debugInName = step("create", "Node", "n", undefined, { inputs: { severity: "debug" } });
    const events = eventsOf(
      message("debug", "RPC finished: password,geheim"),
      message("warning", "careful"),
      { resourcePreEvent: { metadata: debugInName } },
      { futureEvent: { password: "geheim" } },
    );
    const lines = events.split("\n");
    const plan = file("stream.json", events);
    const kept = join(folder, "kept.json");
    const { stdout } = await consortium(["report", plan, "--save", kept], {});
    expect(readFileSync(kept, "utf8")).toBe(`${lines[1]}\n${lines[2]}\n`);
    expect(await consortium(["report", kept], {})).toMatchObject({ stdout });
  });

  test("--map: one link, below the boxes", async () => {
    const lossy = file("lossy.json", planned([step("delete", "Node", "n", { id: "n1" })]));
    const { stdout } = await consortium(["report", lossy, "--map", "https://forge/maps"], {});
    expect(stdout).toMatch(
      /^> \[!CAUTION\][^]*\n\n\[Maps of what this does\]\(https:\/\/forge\/maps\)\n\n### `net\/prod`/,
    );
  });

  test("a limit that is none is refused", async () => {
    const { code, stderr } = await consortium(["report", "--max", "x"]);
    expect([code, stderr]).toEqual([1, containing("a whole number of at least 1000")]);
  });
});
