import { Progress } from "../../fleet/progress";
import { type Verb } from "../../fleet/results";
import { type EngineEvent } from "../../inventory/plan/read";
import { lossWarnings } from "../../provider/constants";
import { result } from "./made";

/* What a fleet says and counts of the engine's events, without an engine. */

type Part = { old?: object; new?: object };
/** Of a step such as "create Node n", with what such a step has before and after. */
function metadata(step: string, given?: Part) {
  const [op = "", type = "", name = ""] = step.split(" ");
  const whole = { ...(!op.startsWith("delete") && { new: {} }), ...(!/^(create|import)$/.test(op) && { old: {} }) };
  const { old, new: after }: Part = given ?? whole;
  const token = type.includes(":") ? type : `consortium:index:${type}`;
  const parts = { old: old && { custom: true, ...old }, new: after && { custom: true, ...after } };
  return { op, type: token, urn: `urn:pulumi:s::p::${token}::${name}`, ...parts };
}
const begun = (step: string, part?: Part): EngineEvent => ({ resourcePreEvent: { metadata: metadata(step, part) } });
const done = (step: string, part?: Part): EngineEvent => ({ resOutputsEvent: { metadata: metadata(step, part) } });
const said = (severity: string, message: string, urn?: string): EngineEvent => ({
  diagnosticEvent: { severity, message, urn },
});

/** The lines of some events, and what they made of a result. */
function followed(command: Verb | undefined, ...events: EngineEvent[]) {
  const of = result();
  const progress = new Progress(of, (text) => text.replaceAll("secret", "[hidden]"), command);
  return { lines: events.flatMap((event) => progress.take(event)), result: of, progress };
}
const lines = (command: Verb, ...events: EngineEvent[]) => followed(command, ...events).lines;

describe("steps", () => {
  test("that are done are counted, and told but where nothing changed", () => {
    const { lines: told, result: of } = followed(
      undefined,
      ...["create Node a", "import Node b", "update Node c", "same Node d", "read Node h"].map((one) => done(one)),
      ...["create-replacement Node e", "delete-replaced Node e", "delete Node g"].map((one) => done(one)),
      done("import-replacement AppCred f"),
    );
    expect(told).toEqual([
      ...["+ Node a created", "+ Node b created", "~ Node c updated", "+- Node e replaced", "- Node g deleted"],
      "+- AppCred f replaced",
    ]);
    expect(of).toMatchObject({ created: 2, updated: 1, replaced: 2, deleted: 1, unchanged: 1 });
    expect(of.replacements).toEqual(["Node e", "AppCred f"]);
  });

  test.each([
    ["preview", "+ Node a to be created"],
    ["losses", "+ Node a to be created"],
    ["up", "+ Node a created"],
    ["destroy", "+ Node a created"],
  ] as const)("of %s are %j", (command, line) => {
    expect(lines(command, done("create Node a"))).toEqual([line]);
  });

  test("of the stack, components and providers are none", () => {
    const { lines: told, result: of } = followed(
      "up",
      done("create pulumi:pulumi:Stack s"),
      done("create pulumi:providers:consortium p"),
      done("create consortium:index:Network n", { new: { custom: false } }),
      done("delete consortium:index:Network n", { old: { custom: false } }),
      done("update consortium:index:Network n", { old: {}, new: { custom: false } }),
    );
    expect([told, of.created, of.deleted, of.updated]).toEqual([[], 0, 0, 0]);
  });
});

describe("a ledger that goes", () => {
  const warning = (what: string, is = "is") => `WARNING: ${what}: its ledger ${is} destroyed`;
  const planned = ["deletes Environment e", "replaces Environment f"].map((what) => warning(what, "would be"));
  test.each<[Verb, string[]]>([
    ["up", [warning("deletes Environment e"), warning("replaces Environment f")]],
    ["preview", planned],
    ["losses", planned],
    ["destroy", []],
  ])("is told by %s, once", (command, told) => {
    const { lines: all, result: of } = followed(
      command,
      ...["delete", "delete"].map((op) => begun(`${op} Environment e`)),
      ...["create-replacement", "replace", "delete-replaced"].map((op) => begun(`${op} Environment f`)),
    );
    expect(all).toEqual(told);
    expect(of.ledgers).toEqual(["deletes Environment e", "replaces Environment f"]);
  });

  test.each(["Environment", "pulumi-nodejs:dynamic/consortium:Environment"])(
    "is told of a replacement that begins with the deletion: %s",
    (type) => {
      expect(lines("up", begun(`delete-replaced ${type} f`))).toEqual([warning("replaces Environment f")]);
    },
  );

  test("is none where it stays, is made or changed, and where other things go", () => {
    const kept = begun("delete Environment e", { old: { retainOnDelete: true } });
    // In a replacement, the new one comes first: the old one is still there.
    const others = [
      "create Environment e",
      "update Environment e",
      "replace Environment e",
      "delete Node n",
      "replace AppCred n",
    ];
    expect(lines("up", kept, ...others.map((one) => begun(one)))).toEqual([]);
  });

  test("of a consortium is told unless that of one in it was", () => {
    const alone = begun("delete Consortium c");
    expect(lines("up", alone)).toEqual([warning("deletes Consortium c")]);
    const { result: of } = followed("up", begun("delete Environment e"), alone);
    expect(of.ledgers).toEqual(["deletes Environment e"]);
  });

  test("is no other replacement", () => {
    const { result: of } = followed("up", done("create-replacement Environment e"));
    expect([of.replaced, of.replacements]).toEqual([1, []]);
  });
});

describe("drift", () => {
  const named = (name: string) => ({ name, __kept: { version: 2 } });
  const drift = (op: string, old: object, now: object, type: string) =>
    followed("drift", done(`${op} ${type} c`, { old: { outputs: old }, new: { outputs: now } }));

  const other = "my:mod:Thing";
  test.each<[string, object, object, string | undefined, string]>([
    ["update", named("a"), named("b"), 'Consortium c differs: name is "b", and "a" in the stack', "Consortium"],
    ["update", { state: "x" }, { state: "y", revision: 2 }, "Consortium c differs in state", "Consortium"],
    ["update", { x: [1], y: 1, __z: 1 }, { x: [1], y: 2, __z: 2, revision: 3 }, "Thing c differs in y", other],
    ["update", { y: 1 }, { z: 1 }, "Thing c differs in y, z", "my:mod:Thing"],
    ["update", { revision: 1 }, { revision: 2 }, "Thing c differs", "my:mod:Thing"],
    ["delete", {}, {}, "Consortium c is gone", "Consortium"],
    ["create", {}, {}, "Consortium c is not created yet", "Consortium"],
    ["same", {}, {}, undefined, "Consortium"],
  ])("%s of %j to %j", (op, old, now, text, type) => {
    const { lines: told, result: of } = drift(op, old, now, type);
    const expected = text === undefined ? [] : [text];
    expect([told, of.drift]).toEqual([expected, expected]);
    expect(of.updated + of.deleted + of.created).toBe(0);
  });

  test("is what was found, not what is read", () => {
    expect(lines("drift", begun("refresh Node n"), begun("delete Environment e"))).toEqual([]);
  });
});

describe("what the engine says", () => {
  test.each([
    ["info", " hello\nyou ", ["hello", "you"]],
    ["info#err", "hello", ["hello"]],
    ["warning", "mind the secret", ["mind the [hidden]"]],
    ["debug", "noise", []],
    ["info", "  ", []],
    ["error", "1 error occurred:\n\t* no secret", ["error: no [hidden]"]],
    ["error", "update failed", []],
    ["error", "update failed: no", ["error: update failed: no"]],
    ["warning", "update failed", ["update failed"]],
  ])("%s %j is %j", (severity, message, told) => expect(lines("up", said(severity, message))).toEqual(told));

  test("errors are kept once for each resource, with its title", () => {
    const urn = "urn:pulumi:s::p::consortium:index:Node::n";
    const { progress, lines: told } = followed(
      "up",
      said("error", "it is full", urn),
      said("error", "it is full", urn),
      said("error", "it is full", `${urn}2`),
      said("error", "it is full"),
      said("error", "full"),
      said("error", "another"),
      said("error", "preview failed"),
    );
    expect(progress.errors).toEqual(["Node n: it is full", "Node n2: it is full", "another"]);
    expect(told).toEqual(["error: it is full", "error: it is full", "error: another"]);
  });

  test.each([
    ["1 pending operations", true],
    ["it was interrupted while creating a", true],
    ["it was interrupted", false],
  ])("%j: what is pending is known: %j", (message, pending) => {
    expect(followed("up", said("warning", message)).progress.pending).toBe(pending);
  });

  test("a loss that destroy has announced is not told again", () => {
    const loss = said("warning", `environment "e": ${Object.values(lossWarnings)[0]}`);
    expect([
      lines("destroy", loss).length,
      lines("up", loss).length,
      lines("destroy", said("warning", "x")).length,
    ]).toEqual([0, 1, 1]);
  });

  test("a violation is told once; one that is mandatory is an error", () => {
    const policy = (enforcementLevel: string, message = " too many\n  secret ") => ({
      policyEvent: {
        policyName: "limit",
        enforcementLevel,
        message,
        resourceUrn: "urn:pulumi:s::p::consortium:index:Node::n",
      },
    });
    const all = ["mandatory", "advisory", "disabled", "mandatory"].map((level) => policy(level));
    const { progress, lines: told } = followed("up", ...all, policy("mandatory", "other"), {});
    expect(told).toEqual([
      "mandatory policy limit: Node n: too many [hidden]",
      "advisory policy limit: Node n: too many [hidden]",
      "mandatory policy limit: Node n: other",
    ]);
    const shown = [told[0], told[2]].map(
      (line) => `${line} [policy-violated: docs/troubleshooting.md#policy-violated]`,
    );
    expect(progress.errors).toEqual(shown);
  });
});
