import { Progress } from "../../fleet/progress";
import { type FleetResult, type StackResult, summaryJunit, summaryLine, summaryOfStacks } from "../../fleet/results";
import { type EngineEvent } from "../../inventory/plan/read";
import { result } from "./made";

const counts = { created: 0, updated: 0, replaced: 0, deleted: 0, unchanged: 0 };
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

test("the summary: each stack with its details, and a last line", () => {
  expect(summaryOfStacks(fleet(results))).toEqual([
    "acme-prod    ok: 8 created; 1.3 s",
    "acme-test    failed; 1.3 s",
    "  the name is already taken by c1 <&> \u0000",
    "globex-prod  not begun; 0.0 s",
    "globex-test  drift; 1.3 s",
    "  Node trade/e/n is gone",
  ]);
  expect(summaryLine(fleet(results))).toBe("1 of 4 stacks ok, 1 failed, 1 drift, 1 not begun; 8 created; 61.2 s");
  expect(summaryLine(fleet([result()], { seconds: 1 }))).toBe("1 of 1 stack ok; nothing changed; 1.0 s");
  expect(summaryLine(fleet([results[0]!], { command: "preview", seconds: 1 }))).toBe(
    "1 of 1 stack ok; 8 to be created; 1.0 s",
  );
});

test("a preview of many stacks: lost ledgers, then replacements, failures and changes, and a count of the rest", () => {
  const many = Array.from({ length: 500 }, (_, at) => result({ stack: `quiet-${at}` }));
  many[10] = result({ stack: "changed", updated: 2 });
  many[20] = result({ stack: "failed", outcome: "failed", error: "refused" });
  many[30] = result({ stack: "replaced", replaced: 2, replacements: ["Node a", "AppCred b"] });
  many[40] = result({ stack: "lost", replaced: 1, ledgers: ["replaces Environment e"] });
  const summary = (stacks: StackResult[]) => summaryOfStacks(fleet(stacks, { command: "preview" }));
  expect(summary(many)).toEqual([
    "lost      ok: 1 to be replaced; 1.3 s",
    "replaced  ok: 2 to be replaced; 1.3 s",
    "  replaces Node a",
    "  replaces AppCred b",
    "failed    failed; 1.3 s",
    "  refused",
    "changed   ok: 2 to be updated; 1.3 s",
    "496 more stacks without changes",
  ]);
  expect(summary(many.slice(0, 9))).toHaveLength(9);
  const nothing = many.filter(({ stack }) => stack.startsWith("quiet"));
  expect(summary(nothing)).toEqual(["496 stacks without changes"]);
});

test("JUnit: failures and stacks that were not begun, without characters that are invalid in XML", () => {
  const xml = summaryJunit(fleet(results));
  expect(xml).toContain('tests="4" failures="2" errors="0" skipped="1" time="61.240"');
  expect(xml).toContain('<failure type="failed" message="the name is already taken by c1 &lt;&amp;');
  expect(xml).not.toContain("\u0000");
  expect(xml).toContain("Node trade/e/n is gone</failure>");
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

/** A run whose steps are done, unless it is another command. */
function following(command?: "drift"): { progress: Progress; seen: StackResult } {
  const seen = result();
  return { progress: new Progress(seen, (text) => text.replaceAll("key-1", "[secret]"), command), seen };
}

test.each([
  ["dynamic provider", {}],
  ["plugin", { type: "consortium:index:Environment" }],
])("a replacement counts once, and a lost ledger causes a warning, on the %s", (_, extra) => {
  const { progress, seen } = following();
  const lines = ["delete-replaced", "replace", "create-replacement"].flatMap((op) => [
    ...progress.take(step("resourcePreEvent", op, "Environment", extra)),
    ...progress.take(step("resOutputsEvent", op, "Environment", extra)),
  ]);
  expect(seen).toMatchObject({ ...counts, replaced: 1 });
  expect(lines.filter((line) => line.startsWith("WARNING"))).toHaveLength(1);
});

test("no warning of a ledger that stays in the service; a consortium causes one if none of its contents did", () => {
  const kept = { old: { custom: true, retainOnDelete: true }, new: undefined };
  const alone = following();
  alone.progress.take(step("resourcePreEvent", "delete", "Environment", kept));
  expect(alone.seen.ledgers).toEqual([]);
  alone.progress.take(step("resourcePreEvent", "delete", "Consortium"));
  expect(alone.seen.ledgers).toEqual(["deletes Consortium n"]);
  const both = following();
  for (const type of ["Environment", "Consortium"]) both.progress.take(step("resourcePreEvent", "delete", type));
  expect(both.seen.ledgers).toEqual(["deletes Environment n"]);
});

test("stacks, components and providers do not count", () => {
  const { progress, seen } = following();
  progress.take(step("resOutputsEvent", "create", "Network", { new: {} }));
  progress.take(step("resOutputsEvent", "create", "Node", { type: "pulumi:providers:pulumi-nodejs" }));
  expect(seen).toMatchObject(counts);
});

test("drift shows the differences with values, except properties that change by themselves", () => {
  const { progress, seen } = following("drift");
  const state = (outputs: object) => ({
    custom: true,
    outputs: { membershipId: "m", __kept: { answered: { name: "a" } }, ...outputs },
  });
  const old = state({ name: "a", revision: "1", state: "started" });
  const differs = (now: object) => progress.take(step("resOutputsEvent", "update", "Node", { old, new: state(now) }));
  differs({ name: "b", revision: "2", state: "upgrade" });
  differs({ name: "a", revision: "2", state: "stopped" });
  progress.take(step("resOutputsEvent", "delete"));
  const drift = ['Node n differs: name is "b", and "a" in the stack', "Node n differs in state", "Node n is gone"];
  expect(seen).toMatchObject({ ...counts, drift });
});

test("errors are kept once and masked, without the engine's summary error", () => {
  const { progress } = following();
  for (const message of ["the key key-1 was refused", "the key key-1 was refused", "update failed"])
    progress.take(said("error", message));
  expect(progress.errors).toEqual(["the key [secret] was refused"]);
  expect(progress.take(said("debug", "x"))).toEqual([]);
});
