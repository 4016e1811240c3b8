import { readFileSync } from "node:fs";
import { join } from "node:path";
import { temporary, writeIn } from "../fleet/made";
import { containing } from "../service/helpers";
import { consortium } from "./command";
import { eventsOf, planned, step } from "./plans";

const folder = temporary();
const file = (name: string, text: string): string => writeIn(folder, name, text);
const report = (...args: string[]) => consortium(["report", ...args]);

test("several stacks in one report, and --fail-on", async () => {
  const calm = file("calm.json", planned([]));
  const lossy = file("lossy.json", planned([step("delete", "Node", "n", { id: "n1" })]));
  const both = await report(
    calm,
    lossy,
    "--title",
    "Preview",
    "--map",
    "https://forge/maps",
    "--fail-on",
    "ledger-loss",
    "errors",
  );
  const order =
    /^## Preview\n\n> \[!CAUTION\][^]*`net\/prod`: Node `n` is deleted[^]*\[Maps of what this does\]\(https:\/\/forge\/maps\)[^]*### [^]*### /;
  expect(both).toMatchObject({ code: 2, stdout: expect.stringMatching(order) as string });
  expect(await report(calm, "--fail-on", "ledger-loss", "changes")).toMatchObject({ code: 0 });
  expect(await report(lossy)).toMatchObject({ code: 0 });
});

test("a truncated plan fails every condition, and can neither approve nor be approved", async () => {
  const [first, second, ...rest] = planned([
    step("update", "Consortium", "c"),
    step("delete", "Node", "n", { id: "n1" }),
  ]).split("\n");
  const whole = file("whole.json", [first, second, ...rest].join("\n"));
  for (const lines of [[first], [first, second], [first, second, ...rest.slice(0, -1)], []]) {
    const cut = file("cut.json", [...lines, ...(lines.length > 0 ? ['{"sequence":9,"di'] : [])].join("\n"));
    for (const reason of ["ledger-loss", "changes", "errors", "unapproved"]) {
      const { code, stdout } = await report(cut, "--fail-on", reason);
      expect([lines.length, reason, code]).toEqual([lines.length, reason, 2]);
      expect(stdout).toMatch(lines.length > 0 ? /this is not the whole plan/ : /ended before it planned anything/);
    }
    const digest = /`([0-9a-f]{64})`/.exec((await report(cut, "--fail-on", "unapproved")).stdout)?.[1] ?? "";
    expect(
      await report(cut, "--approved", cut.replace("cut", "whole"), digest, "--fail-on", "unapproved"),
    ).toMatchObject({ code: 2 });
    expect(await report(whole, "--approved", cut, "--fail-on", "unapproved")).toMatchObject({ code: 2 });
    expect(await report(cut)).toMatchObject({ code: 0 });
  }
  const same = file("same.json", readFileSync(whole, "utf8"));
  expect(await report(whole, "--approved", same, "--fail-on", "unapproved")).toMatchObject({ code: 0 });
});

test("unreadable input does not overwrite the saved file", async () => {
  const saved = file("saved.json", planned([]));
  const before = readFileSync(saved, "utf8");
  expect(await report(file("bad.json", "garbage"), "--save", saved)).toMatchObject({ code: 1 });
  expect(readFileSync(saved, "utf8")).toBe(before);
});

const old = { id: "c1", inputs: { description: "a" } };
const changed = (to: string) => step("update", "Consortium", "c", old, { inputs: { description: to } });
const created = step("create", "Node", "n", undefined, { inputs: { name: "n" } });
const all = ["--fail-on", "unapproved", "ledger-loss", "errors"];

test("--approved: the same steps pass in any order; otherwise the report shows both plans and the digest", async () => {
  const [pair, next] = [{ id: "a1", inputs: { name: "a" } }, { inputs: { name: "b" } }];
  const replaced = [
    step("create-replacement", "AppCred", "a", pair, next, ["name"]),
    step("delete-replaced", "AppCred", "a", pair, undefined, ["name"]),
  ];
  const approved = file("approved.json", planned([changed("b"), created, ...replaced]));
  const same = file("same.json", planned([...[...replaced].reverse(), created, changed("b")]));
  expect(await report(same, "--approved", approved, ...all)).toMatchObject({ code: 0 });

  const other = file("other.json", planned([changed(`${"long ".repeat(40)}end`)]));
  const { code, stdout } = await report(other, "--approved", approved, ...all);
  expect(code).toBe(2);
  expect(stdout).toContain("> **THIS IS NOT WHAT WAS APPROVED.**\n>\n> Digest of the plan of `net/prod`: `");
  expect(stdout).toMatch(
    /^\| Consortium `c` \| changed `description`: `"a"` → `"b"` \| changed `description`: `"a"` → `"long /m,
  );
  expect(stdout).toMatch(/^\| Node `n` \| created \| nothing \|$/m);

  const end = file("end.json", planned([changed(`${"long ".repeat(40)}other end`)]));
  expect(await report(end, "--approved", other, ...all)).toMatchObject({ code: 2 });
  const [, given = ""] = /`([0-9a-f]{64})`/.exec(stdout)!;
  expect(await report(other, "--approved", approved, given, ...all)).toMatchObject({ code: 0 });
  expect(await report(end, "--approved", approved, given, ...all)).toMatchObject({ code: 2 });
});

test.each([
  ["another object of the same name", { ...old, id: "c2" }],
  ["another value before", { ...old, inputs: { description: "z" } }],
  ["another fate in the service", { ...old, retainOnDelete: true }],
])("an approval does not cover %s", async (_, other) => {
  const approved = file("approved.json", planned([step("delete", "Consortium", "c", old)]));
  const now = file("now.json", planned([step("delete", "Consortium", "c", other)]));
  const { code } = await report(now, "--approved", approved, "--fail-on", "unapproved");
  expect(code).toBe(2);
});

test("drift is not approved, an empty plan needs no approval, and without an approved plan nothing is approved", async () => {
  const urn = created.urn.replace("Node::n", "Consortium::c");
  const read = { op: "refresh", urn, old: { inputs: { description: "a" } } };
  const events = eventsOf(
    { resourcePreEvent: { metadata: read } },
    { resOutputsEvent: { metadata: { ...read, new: { inputs: { description: "b" }, outputs: {} } } } },
    { resourcePreEvent: { metadata: created } },
  );
  const plan = file("drifted.json", events);
  const approved = file("approved.json", planned([created]));
  const refused = (why: string) => ({ code: 2, stdout: containing(why) });
  const drifted = await report(plan, "--approved", approved, ...all);
  expect(drifted).toMatchObject(refused("| Consortium `c` | nothing | drifted "));
  const nothing = file("nothing.json", planned([]));
  expect(await report(nothing, "--approved", approved, ...all)).toMatchObject({ code: 0 });
  expect(await report(approved, ...all)).toMatchObject(refused("**NOBODY HAS APPROVED THIS.**"));
});

test("only a digest approves the loss of a ledger", async () => {
  const losing = planned([step("delete", "Node", "n", { id: "n1" })]);
  const [lossy, before] = [file("lossy.json", losing), file("before.json", losing)];
  const { code, stdout } = await report(lossy, "--approved", before, ...all);
  expect(code).toBe(2);
  expect(stdout).not.toContain("NOT WHAT WAS APPROVED");
  const [, given = ""] = /`([0-9a-f]{64})`/.exec(stdout)!;
  expect(await report(lossy, "--approved", given, ...all)).toMatchObject({ code: 0 });
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
  const { stdout } = await report(plan, "--save", kept);
  expect(readFileSync(kept, "utf8")).toBe([lines[1], lines[2], lines.at(-1), ""].join("\n"));
  expect(await report(kept)).toMatchObject({ stdout });
});

test("an invalid limit is refused", async () => {
  const { code, stderr } = await report("--max", "x");
  expect([code, stderr]).toEqual([1, containing("a whole number of at least 1000")]);
});
