import { ledgerWarnings, plainView, summaryJson, summaryJunit, summaryLine, summaryTable } from "../../fleet/output";
import { Progress } from "../../fleet/progress";
import { type FleetResult, type StackResult } from "../../fleet/results";
import { type EngineEvent } from "../../inventory/plan/read";

const counts = { created: 0, updated: 0, replaced: 0, deleted: 0, unchanged: 0 };
const result = (change: Partial<StackResult> = {}): StackResult => ({
  stack: "acme-prod",
  organization: "acme",
  outcome: "ok",
  ...counts,
  seconds: 1.25,
  ledgers: [],
  replacements: [],
  drift: [],
  recovered: false,
  leftovers: [],
  ...change,
});
const fleet = (stacks: readonly StackResult[], change: Partial<FleetResult> = {}): FleetResult => ({
  command: "up",
  project: "fleet",
  seconds: 61.24,
  stacks,
  strays: [],
  ...change,
});
const results = [
  result({ created: 8 }),
  result({ stack: "acme-test", outcome: "failed", error: "the name is already taken by c1 <&> \u0000" }),
  result({ stack: "globex-prod", outcome: "not begun", seconds: 0 }),
  result({ stack: "globex-test", outcome: "drift", drift: ["Node trade/e/n is gone"] }),
];

test("the summary: a table, and a line", () => {
  const table = summaryTable(fleet(results), { width: 140, colors: false });
  expect(table).toMatch(/acme-prod +│ ok +│ +8 │/);
  expect(table).toContain("the name is already taken by c1");
  expect(table).toContain("Node trade/e/n is gone");
  expect(summaryLine(fleet(results))).toBe("1 of 4 stacks ok, 1 failed, 1 drift, 1 not begun; 8 created; 61.2 s");
  expect(summaryLine(fleet([result()], { seconds: 1 }))).toBe("1 of 1 stack ok; nothing changed; 1.0 s");
  expect(summaryLine(fleet([results[0]!], { command: "preview", seconds: 1 }))).toBe(
    "1 of 1 stack ok; 8 to be created; 1.0 s",
  );
});

test("what stacks meet alike is told whole once, in the table: programs get all of it", () => {
  const refused = (name: string): string =>
    `Consortium ${name}: GET /consortia: HTTP 401: The API key from apiKey of the organization acme was refused.`;
  const all = [
    result({ stack: "a", outcome: "failed", error: refused("trade") }),
    result({ stack: "b", outcome: "failed", error: refused("market") }),
    result({ stack: "c", outcome: "failed", error: "something else" }),
  ];
  const table = summaryTable(fleet(all), { width: 200, colors: false });
  expect(table.match(/HTTP 401/g)).toHaveLength(1);
  expect(table).toMatch(/b +│ failed.*│ the same failure as in the stack a/);
  expect(table).toContain("something else");
  const { stacks } = JSON.parse(summaryJson(fleet(all))) as { stacks: StackResult[] };
  expect(stacks.map(({ error }) => error)).toEqual(all.map(({ error }) => error));
});

test("an error that has a word longer than a line is shown in full", () => {
  const path = `/${"folder/".repeat(20)}file`;
  const table = summaryTable(fleet([result({ error: `there is no ${path}` })]), { width: 100, colors: false });
  expect(table.replaceAll(/[\s│]/g, "")).toContain(path);
});

test("a preview of many stacks: lost ledgers, then replacements, failures and changes, and a count of the rest", () => {
  const many = Array.from({ length: 500 }, (_, at) => result({ stack: `quiet-${at}` }));
  many[10] = result({ stack: "changed", updated: 2 });
  many[20] = result({ stack: "failed", outcome: "failed", error: "refused" });
  const replacements = ["Node a", "Node b", "Node c", "AppCred d", "AppCred e"];
  many[30] = result({ stack: "replaced", replaced: 5, replacements });
  many[40] = result({ stack: "lost", replaced: 1, ledgers: ["replaces Environment e"] });
  const summary = (stacks: StackResult[]) =>
    summaryTable(fleet(stacks, { command: "preview" }), { width: 160, colors: false });
  const table = summary(many);
  const at = ["lost", "replaced", "failed", "changed"].map((stack) => table.search(new RegExp(`│ ${stack} `)));
  expect(at).toEqual([...at].sort((one, other) => one - other));
  expect(at[0]).toBeGreaterThan(0);
  expect(table).toMatch(/replaces Node c[^A-Z]*and 2 more/);
  expect(table).toMatch(/\n496 more stacks without changes$/);
  expect(table).not.toContain("quiet");
  expect(table.split("\n").length).toBeLessThan(25);
  expect(summary(many.slice(0, 9)).match(/quiet-/g)).toHaveLength(9);
  const nothing = many.filter(({ stack }) => stack.startsWith("quiet"));
  expect(summary(nothing)).toBe("496 stacks without changes");
});

test("ledgers are what nobody should miss", () => {
  const ledgers = [result({ ledgers: ["replaces Environment trade/prod"] })];
  expect(ledgerWarnings(fleet(ledgers, { command: "preview" }))).toEqual([
    "WARNING: acme-prod: replaces Environment trade/prod: THE LEDGER, AND ALL THAT IS WRITTEN IN IT, WOULD BE DESTROYED",
  ]);
});

test("JSON: one document with everything", () => {
  const document = JSON.parse(summaryJson(fleet(results, { strays: ["acme-old"] }))) as Record<string, unknown>;
  expect(document).toMatchObject({
    command: "up",
    project: "fleet",
    ok: false,
    seconds: 61.24,
    total: { created: 8 },
    strays: ["acme-old"],
  });
  expect(document.stacks).toHaveLength(4);
});

test("JUnit: failures and what was not begun, with every character that XML has no room for", () => {
  const xml = summaryJunit(fleet(results));
  expect(xml).toContain('tests="4" failures="2" errors="0" skipped="1" time="61.240"');
  expect(xml).toContain('<failure type="failed" message="the name is already taken by c1 &lt;&amp;');
  expect(xml).not.toContain("\u0000");
  expect(xml).toContain("Node trade/e/n is gone</failure>");
});

test("plain lines: each names its stack", () => {
  const lines: string[] = [];
  const view = plainView((line) => lines.push(line));
  view.begin("acme-prod");
  view.tell("acme-prod", new Progress(String), ["+ Node n created"]);
  view.end(result());
  expect(lines).toEqual(["[acme-prod] begins", "[acme-prod] + Node n created", "[acme-prod] ok, 1.3 s"]);
});

const urn = (type: string, name: string): string =>
  `urn:pulumi:s::p::pulumi-nodejs:dynamic/consortium:${type}::${name}`;
const step = (
  kind: "resourcePreEvent" | "resOutputsEvent",
  op: string,
  type = "Node",
  extra: object = {},
): EngineEvent => ({
  [kind]: {
    metadata: {
      op,
      urn: urn(type, "n"),
      type: `pulumi-nodejs:dynamic/consortium:${type}`,
      new: { custom: true },
      ...extra,
    },
  },
});
const said = (severity: string, message: string): EngineEvent => ({
  diagnosticEvent: { severity, message, color: "never" },
});

test.each([
  ["dynamic provider", {}],
  ["plugin", { type: "consortium:index:Environment" }],
])("a replacement counts once, and a ledger that goes is warned of, on the %s", (_, extra) => {
  const progress = new Progress(String);
  const lines = ["delete-replaced", "replace", "create-replacement"].flatMap((op) => [
    ...progress.take(step("resourcePreEvent", op, "Environment", extra)),
    ...progress.take(step("resOutputsEvent", op, "Environment", extra)),
  ]);
  expect(progress.counts).toEqual({ ...counts, replaced: 1 });
  expect(lines.filter((line) => line.startsWith("WARNING"))).toHaveLength(1);
});

test("a ledger that stays in the service is not warned of; a consortium is, where nothing in it was", () => {
  const kept = { old: { custom: true, retainOnDelete: true }, new: undefined };
  const alone = new Progress(String);
  alone.take(step("resourcePreEvent", "delete", "Environment", kept));
  expect(alone.ledgers).toEqual([]);
  alone.take(step("resourcePreEvent", "delete", "Consortium"));
  expect(alone.ledgers).toEqual(["deletes Consortium n"]);
  const both = new Progress(String);
  for (const type of ["Environment", "Consortium"]) both.take(step("resourcePreEvent", "delete", type));
  expect(both.ledgers).toEqual(["deletes Environment n"]);
});

test("an environment that may only have another key now: the advice, once", () => {
  const environment = (op: string, name: string) => {
    const event = step("resourcePreEvent", op, "Environment");
    return { resourcePreEvent: { metadata: { ...event.resourcePreEvent!.metadata, urn: urn("Environment", name) } } };
  };
  const advice =
    'environment "trade/prod": if you only renamed its key ("live"), write "formerly: prod" there, and nothing is deleted.';
  const told = (progress: Progress) =>
    ["spice/other", "trade/live"]
      .flatMap((name) => progress.take(environment("create", name)))
      .concat(progress.take(environment("delete", "trade/prod")))
      .slice(1);
  expect(told(new Progress(String, "planned"))).toEqual([advice]);
  const advised = new Progress(String, "planned");
  advised.take({ diagnosticEvent: { severity: "info", message: advice } });
  expect(told(advised)).toEqual([]);
});

test("stacks, components and providers do not count", () => {
  const progress = new Progress(String);
  progress.take(step("resOutputsEvent", "create", "Network", { new: {} }));
  progress.take(step("resOutputsEvent", "create", "Node", { type: "pulumi:providers:pulumi-nodejs" }));
  expect(progress.counts).toEqual(counts);
});

test("drift says what differs, but for what changes by itself", () => {
  const progress = new Progress(String, "compared");
  const old = { custom: true, outputs: { name: "a", revision: "1", state: "started" } };
  const now = { custom: true, outputs: { name: "b", revision: "2", state: "started" } };
  progress.take(step("resOutputsEvent", "update", "Node", { old, new: now }));
  progress.take(step("resOutputsEvent", "delete"));
  expect(progress.drift).toEqual(["Node n differs in name", "Node n is gone"]);
  expect(progress.counts).toEqual(counts);
});

test("errors are kept, once and masked; that of the update itself says nothing new", () => {
  const progress = new Progress((text) => text.replaceAll("key-1", "[secret]"));
  for (const message of ["the key key-1 was refused", "the key key-1 was refused", "update failed"])
    progress.take(said("error", message));
  expect(progress.errors).toEqual(["the key [secret] was refused"]);
  expect(progress.take(said("debug", "x"))).toEqual([]);
});
