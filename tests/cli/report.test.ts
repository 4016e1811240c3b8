import { losesLedger, render } from "../../cli/report";
import { modelOfPlan } from "../../inventory/plan/changes";
import { readPlan } from "../../inventory/plan/read";
import { lossWarnings } from "../../provider/constants";
import { eventsOf, later, planned, type PlannedStep, row, secret, show, type State, step, urn } from "./plans";

const environment = (consensusType: string, more: object = {}): State => ({
  id: "env0000001",
  inputs: { __provider: "x", consortiumId: "con0000001", name: "e", consensusType },
  ...more,
});

const update = (type: string, before: object, after: object) =>
  step("update", type, type[0]!.toLowerCase(), { inputs: before }, { inputs: after });
const create = (inputs: object, name = "n") => step("create", "Node", name, undefined, { inputs });

describe("lines of the report", () => {
  const extra = { extra: { a: [1, { token: "[secret]" }] }, name: "c" };
  const [longest, longer] = ["x".repeat(78), "y".repeat(79)];
  test.each([
    ["created", create({ name: "n" }), "| created | Node `n` |  |"],
    [
      "changed",
      update("Consortium", { description: "a" }, { description: "b", url: later }),
      '| changed | Consortium `c` | `description`: `"a"` → `"b"`<br>`url`: new, → `[known later]` |',
    ],
    [
      "a secret that may have changed",
      update("Consortium", { description: "[secret]", name: "c" }, { description: secret, name: "c" }),
      "| changed | Consortium `c` | `description`: `[secret]` |",
    ],
    [
      "a value with a secret in it that may have changed",
      update("Consortium", extra, extra),
      '| changed | Consortium `c` | `extra`: `{"a":[1,{"token":"[secret]"}]}` |',
    ],
    [
      "adopted by name",
      create({ adopt: true }),
      "| adopted | Node `n` | the existing object with this name, or a new one |",
    ],
    ["adopted by id", create({ adopt: "abc" }), "| adopted | Node `n` | `abc` |"],
    [
      "one whose time-outs change where it is",
      update("Node", { name: "n" }, { name: "n", customTimeouts: { create: 60 } }),
      '| changed | Node `n` | `customTimeouts`: new, → `{"create":60}` |',
    ],
    [
      "as long as a value may be",
      update("Node", {}, { name: longest, other: longer }),
      `| changed | Node \`n\` | \`name\`: new, → \`"${longest}"\`<br>\`other\`: new, → \`"${longer}…\` |`,
    ],
    ["imported", step("import", "Node", "n", undefined, { inputs: {} }), "| adopted | Node `n` |  |"],
    [
      "deleted, and kept in the service",
      step("delete", "Environment", "e", environment("raft", { retainOnDelete: true })),
      "| **deleted** | Environment `e` | stays in the service |",
    ],
    [
      "of another package, with a name that would break the table",
      { op: "create", urn: "urn:pulumi:prod::net::my:mod:Thing::a|b`c`\n@team", newState: {} },
      "| created | `my:mod:Thing` ``a\\|b`c` @team`` |  |",
    ],
  ])("%s", (_, one, line) => {
    expect(row(show(planned([one])))).toBe(line);
  });

  test.each(["remove-pending-replace", "read", "discard", "same"])("%s changes nothing", (op) => {
    const one = { ...update("Node", { name: "a" }, { name: "b" }), op };
    expect(show(planned([one]))).toContain("Nothing to do");
  });

  test("names with numbers are in numeric order", () => {
    const steps = ["n10", "n9", "n1"].map((name) => create({}, name));
    expect(row(show(planned(steps))).match(/`n\d+`/g)).toEqual(["`n1`", "`n9`", "`n10`"]);
  });

  describe.each([
    ["with the reason", ["consensusType"], " (replaces it)"],
    ["asked for, without a reason", [], ""],
  ])("the steps of a replacement %s are one line, and the map shows what comes", (_, reasons, because) => {
    const [old, next] = [environment("raft"), environment("ibft")];
    const made = [
      step("replace", "Environment", "e", old, next, reasons),
      step("create-replacement", "Environment", "e", old, next, reasons),
    ];
    const gone = step("delete-replaced", "Environment", "e", old);
    test.each([
      ["the new one first", [...made, gone]],
      ["the old one first", [gone, ...made]],
    ])("%s", (_order, steps) => {
      const plan = planned(steps);
      expect(row(show(plan))).toBe(
        `| **replaced** | Environment \`e\` | \`consensusType\`: \`"raft"\` → \`"ibft"\`${because} |`,
      );
      expect(JSON.stringify(modelOfPlan(readPlan(plan, "plan")))).toMatch(/^(?!.*"raft").*"ibft"/);
    });
  });
});

describe("zones, services and the like", () => {
  const inside = { consortiumId: "con0000001", environmentId: "env0000001" };
  const documents = { id: "svc0000001", inputs: { ...inside, name: "docs", service: "documentstore" } };
  const boxed = (text: string): string[] =>
    text.split("\n").filter((line) => line.startsWith("> **") || line.startsWith("> -"));

  test("parents come before children, and deleting a service loses its data, but no ledger", () => {
    const plan = planned([
      step("delete", "Destination", "inbox", { id: "inbox", inputs: { ...inside, serviceId: "svc0000001" } }),
      step("delete", "Service", "docs", documents),
      step("delete", "Configuration", "gas", { id: "cfg0000001", inputs: inside }),
      step("delete", "EnvironmentZone", "ohio", { id: "zon0000001", inputs: inside }),
      step("delete", "ConsortiumZone", "above", { id: "zon0000002", inputs: { consortiumId: "con0000001" } }),
      step("delete", "Invitation", "third", { id: "inv0000001", inputs: { consortiumId: "con0000001" } }),
    ]);
    const text = show(plan);
    expect(boxed(text)).toEqual([
      "> **THIS DESTROYS WHAT A SERVICE KEEPS.**",
      "> - Service `docs` is deleted: this destroys its data.",
    ]);
    expect(
      row(text)
        .split("\n")
        .map((line) => line.split("|")[2]!.trim()),
    ).toEqual([
      ...["ConsortiumZone `above`", "Invitation `third`", "EnvironmentZone `ohio`", "Configuration `gas`"],
      ...["Service `docs`", "Destination `inbox`"],
    ]);
    expect(losesLedger(readPlan(plan, "plan"))).toBe(false);
  });

  test("a service that is deleted with its environment is named; a shared one stays", () => {
    const shared = { ...documents, outputs: { __kept: { version: 2, how: "shared" } } };
    for (const type of ["Service", "Environment"]) {
      const plan = show(planned([step("delete", type, "docs", shared)]));
      expect([boxed(plan), row(plan)]).toEqual([[], expect.stringContaining("stays in the service")]);
    }
    const environment = { id: "env0000001", inputs: { consortiumId: "con0000001" } };
    const both = planned([
      step("delete", "Service", "docs", documents),
      step("delete", "Environment", "e", environment),
    ]);
    expect(boxed(show(both))).toEqual([
      "> **THIS DESTROYS A LEDGER, OR A PART OF ONE.**",
      "> - Environment `e` is deleted: this destroys its ledger, its nodes and its credentials.",
      "> - Service `docs` is deleted: this destroys its data.",
    ]);
  });
});

const node = { id: "nod0000001", inputs: { environmentId: "env0000001", consortiumId: "con0000001" } };
const loud = (steps: PlannedStep[]): string[] =>
  show(planned(steps))
    .split("\n")
    .filter((line) => line.startsWith("> -"));

const noIds = [
  step("delete", "Environment", "e", { inputs: {} }),
  step("delete", "Node", "n", { id: "n1", inputs: {} }),
];
const [lostEnvironment, lostNode] = ["Environment `e` is deleted", "Node `n` is deleted"];
const elsewhere = { ...node, inputs: { environmentId: "env0000002", consortiumId: "con0000001" } };
const gone = (type: string, name: string, old: State) => step("delete", type, name, old);
const ofEnvironment = (more?: object) => gone("Environment", "e", environment("raft", more));
const all = [gone("Node", "n", node), ofEnvironment(), gone("Consortium", "c", { id: "con0000001" })];
test.each([
  [
    "an environment",
    [step("replace", "Environment", "e", environment("raft"), environment("ibft"))],
    ["Environment `e` is replaced"],
  ],
  ["a node", [gone("Node", "n", node)], [lostNode]],
  ["a consortium and all in it, told once", all, ["Consortium `c` is deleted"]],
  [
    "a node of an environment that is not the lost one",
    [ofEnvironment(), gone("Node", "n", elsewhere)],
    [lostEnvironment, lostNode],
  ],
  ["one without an id is no parent of those that name none", noIds, [lostEnvironment, lostNode]],
  ["one that stays", [ofEnvironment({ retainOnDelete: true })], []],
  ["one that is only read", [ofEnvironment({ external: true })], []],
  ["a credential", [gone("AppCred", "a", { id: "x" })], []],
])("a ledger that would be lost: %s", (_, steps, expected) => {
  expect(loud(steps)).toEqual(expected.map((text) => expect.stringContaining(text) as string));
});

const read = (op: string, type: string, name: string, old: State, now?: State): object[] => [
  { resourcePreEvent: { metadata: { op: "refresh", urn: urn(type, name), old, new: old } } },
  { resOutputsEvent: { metadata: { op, urn: urn(type, name), old, new: now } } },
];
const goneNode = read("delete", "Node", "n", { id: "n1" });
const renamed = '| drifted | Consortium `c` | `name`: `"a"` → `"b"` |';

describe("results of a refresh", () => {
  test("a stream of events: lists each drifted object; values that the program did not set are not drift", () => {
    const before = { inputs: { orgName: "a", adopt: true }, outputs: { revision: 1 } };
    const text = show(
      eventsOf(
        ...read("update", "Membership", "m", before, {
          inputs: { orgName: "b", chainId: 5 },
          outputs: { revision: 2 },
        }),
        ...read("same", "Membership", "same", before, { inputs: { orgName: "a" }, outputs: { revision: 2 } }),
        ...read("update", "Node", "stopped", { outputs: { state: "started" } }, { outputs: { state: "stopped" } }),
        ...goneNode,
      ),
    );
    expect(row(text).split("\n")).toEqual([
      "| **gone** | Node `n` |  |",
      '| drifted | Membership `m` | `orgName`: `"a"` → `"b"` |',
      '| drifted | Node `stopped` | `state`: `"started"` → `"stopped"` |',
    ]);
    expect(text).toContain("Node `n` is gone from the service, and with it its key");
  });

  test("what a service sets by itself is no drift beside what somebody changed; what is gone may be shown once more", () => {
    const state = (name: string, url: string) => ({ inputs: { name: "a" }, outputs: { name, url } });
    const text = show(
      eventsOf(
        ...read("update", "Consortium", "c", state("a", "x"), state("b", "y")),
        ...read("delete", "Node", "n", { id: "n1" }, { id: "n1" }),
      ),
    );
    expect(row(text).split("\n")).toEqual(["| **gone** | Node `n` |  |", renamed]);
  });

  test("what has drifted and is changed by the same run has a line for each, and so has what is gone and made again", () => {
    const [was, is] = [{ inputs: { name: "a" } }, { inputs: { name: "b" } }];
    const text = show(
      eventsOf(
        ...read("update", "Consortium", "c", was, is),
        ...goneNode,
        { resourcePreEvent: { metadata: step("update", "Consortium", "c", is, was) } },
        { resourcePreEvent: { metadata: create({}) } },
      ),
    );
    expect(row(text).split("\n")).toEqual([
      "| **gone** | Node `n` |  |",
      renamed,
      "| created | Node `n` |  |",
      '| changed | Consortium `c` | `name`: `"b"` → `"a"` |',
    ]);
  });

  test("an unchanged secret is not listed as drift", () => {
    const gas = { inputs: { name: "gas", details: secret }, outputs: { name: "gas" } };
    const text = show(eventsOf(...read("update", "Configuration", "gas", gas, gas)));
    expect(row(text)).toBe("| drifted | Configuration `gas` |  |");
  });

  test("an object without a new state is gone", () => {
    expect(row(show(eventsOf(...read("update", "Node", "n", { id: "n1" }))))).toBe("| **gone** | Node `n` |  |");
  });

  test("nothing", () => {
    const summary = { summaryEvent: { resourceChanges: { same: 4 } } };
    expect(show(eventsOf(...read("same", "Node", "n", {}), summary))).toBe(
      "### `net/prod`\n\nNo drift: 4 unchanged.\n",
    );
  });
});

describe("problems", () => {
  test("errors and warnings, without colors, in a block that their text cannot end", () => {
    const diagnostics = [
      { severity: "error", message: "error: \u001b[31mit\u001b[39m ```breaks```\n" },
      { severity: "warning", message: "warning: mind" },
      { severity: "info", message: `WARNING: environment "e": ${lossWarnings.replaceEnvironment}` },
      { severity: "debug", message: "noise" },
    ];
    const text = show(planned([], { diagnostics }));
    expect(text).toContain("**It failed.**");
    expect(text).toContain("**Errors**\n\n````text\nit ```breaks```\n````");
    expect(text).toContain("**Warnings**\n\n```text\nmind\n```");
    for (const absent of ["noise", "DESTROYS", "\u001b"]) expect(text).not.toContain(absent);
  });

  test("policy violations, mandatory ones first", () => {
    const about = { message: "Too | many.\nUse fewer.", resourceUrn: urn("Node", "n") };
    const violation = (policyName: string, enforcementLevel: string) => ({
      policyEvent: { policyName, enforcementLevel, ...about },
    });
    const text = show(eventsOf(violation("soft", "advisory"), violation("hard", "mandatory")));
    expect(text).toContain("|  | policy | resource | what it says |");
    expect(row(text)).toBe(
      "| **forbidden** | `hard` | `n` | `Too \\| many. Use fewer.` |\n| advice | `soft` | `n` | `Too \\| many. Use fewer.` |",
    );
  });

  test("a run that printed nothing", () => {
    expect(show(" \n")).toContain("Pulumi ended before it planned anything");
  });

  const others = ["{", "[]", '{"steps":[],"changeSummary":{}}', "{}", '{"a":1}', "Previewing update (dev)"];
  test.each(others)("%j is not a plan", (text) => {
    expect(() => readPlan(text, "plan.json")).toThrow(
      /plan.json does not contain the events that Pulumi prints with --json/,
    );
  });
});

describe("the two providers", () => {
  const [dynamic, plugin] = ["pulumi-nodejs:dynamic/consortium:Environment", "consortium:index:Environment"];
  const state = (type: string, more: object = {}): State => ({ type, ...environment("raft", more) });
  const later = { inputs: { ...environment("ibft").inputs, customTimeouts: { create: 60 } } };

  test.each([
    [
      "one that moves, with its time-outs",
      state(plugin),
      state(dynamic, { inputs: { ...environment("raft").inputs, customTimeouts: { create: 60 } } }),
      "| moved | Environment `e` | to the other provider: only its state changes |",
    ],
    [
      "one that changes on the way",
      state(plugin),
      state(dynamic, later),
      '| changed | Environment `e` | `consensusType`: `"raft"` → `"ibft"` |',
    ],
  ])("%s", (_, old, now, line) => {
    const text = show(planned([step("update", "Environment", "e", old, now)]));
    expect(row(text)).toBe(line);
  });

  test("a lost ledger on the plugin has the same warning", () => {
    const lost = { ...ofEnvironment(), urn: urn("Environment", "e").replace(dynamic, plugin) };
    expect(show(planned([lost]))).toContain("- Environment `e` is deleted: this destroys its ledger");
  });
});

describe("the whole report", () => {
  const created = create({ name: "n" });
  const plans = (...texts: string[]) => texts.map((text) => readPlan(text, "plan"));
  const rendered = (texts: string[], more: object = {}) => render(plans(...texts), { max: 65_536, ...more });

  test("counts what it does, and is closed where no ledger is lost", () => {
    const text = show(planned([created, update("Consortium", { name: "c" }, { name: "d" })], { same: 5 }));
    expect(text).toContain("1 created, 1 changed, 5 unchanged.\n\n<details><summary>Map</summary>");
    expect(text).not.toContain("[!");
  });

  test("opens the map where one of two changes loses a ledger, and has none without our resources", () => {
    const text = show(planned([created, ofEnvironment()]));
    expect(text).toContain("1 deleted, 1 created, 1 unchanged.\n\n<details open><summary>Map</summary>");
    const foreign = { op: "create", urn: "urn:pulumi:prod::net::my:mod:Thing::a", newState: {} };
    expect(show(planned([foreign as never]))).not.toContain("<summary>Map");
    expect(show(planned([foreign as never, created]))).toContain("<summary>Map");
  });

  const [aLedger, ofNode] = ["LEDGER, OR A PART OF ONE", "with it its key and its copy of the ledger."];
  test.each<[string, object[], string[]]>([
    [
      "one that is gone",
      goneNode,
      [`**A ${aLedger}, IS GONE.**`, `- Node \`n\` is gone from the service, and ${ofNode}`],
    ],
    [
      "a service that is gone",
      read("delete", "Service", "s", { id: "s1" }),
      ["**A SERVICE IS GONE, WITH WHAT IT KEPT.**", "- Service `s` is gone from the service, and with it its data."],
    ],
    [
      "one that is gone, and one that goes",
      [...goneNode, { resourcePreEvent: { metadata: gone("Service", "s", { id: "s1" }) } }],
      [
        `**THIS DESTROYS A ${aLedger}.**`,
        "- Service `s` is deleted: this destroys its data.",
        `- Node \`n\` is gone from the service, and ${ofNode}`,
      ],
    ],
  ])("warns of %s", (_, events, lines) => {
    const text = show(eventsOf(...events));
    expect(text.match(/(?<=^> )(\*\*|- ).*/gm)).toEqual(lines);
  });

  test("names the stack of each loss where there are several", () => {
    const lossy = planned([step("delete", "Node", "n", { id: "n1" })]);
    const text = rendered([planned([]), lossy], { title: "Preview", map: "https://forge/maps" });
    expect(text).toMatch(/^## Preview\n\n> \[!CAUTION\]\n> \*\*THIS [^\n]*\n>\n> - `net\/prod`: Node `n` is deleted/);
    expect(text).toContain("\n\n[Maps of what this does](https://forge/maps)\n\n### `net/prod`\n\nNothing to do: 1");
    expect(rendered([lossy])).toContain("\n> - Node `n` is deleted");
    expect(rendered([lossy])).not.toContain("Maps of what this does");
    expect(rendered([lossy])).toMatch(/^> /);
  });

  test("says first that a plan is cut off", () => {
    const [first, second] = planned([created]).split("\n");
    expect(show([first, second].join("\n"))).toContain("### `net/prod`\n\n**It is cut off.** 1 created, 0 unchanged.");
    expect(show(first!)).toContain("### `net/prod`\n\n**It failed.**");
  });

  test("a failure beside changes is told by its errors, and a forbidden plan has failed", () => {
    const error = { severity: "error", message: "no" };
    expect(show(planned([created], { diagnostics: [error] }))).toContain("1 created, 1 unchanged.");
    const violation = (enforcementLevel: string) =>
      show(eventsOf({ policyEvent: { policyName: "p", enforcementLevel, message: "m" } }));
    expect(violation("mandatory")).toContain("**It failed.**");
    expect(violation("advisory")).toContain("Nothing to do");
  });

  test("messages of any other kind are notes, and each is told once", () => {
    const diagnostics = ["info", "info#err", "warning", "info"].map((severity) => ({ severity, message: "mind" }));
    const text = show(planned([], { diagnostics }));
    expect(text).toContain("**Warnings**\n\n```text\nmind\n```\n\nNotes\n\n```text\nmind\n```\n");
    expect(text).not.toContain("Errors");
  });

  test.each([
    ["an input that goes", { size: "small" }, {}, undefined, '`size`: `"small"` → nothing (restarts it)'],
    [
      "a reason that no input shows",
      { name: "n" },
      { name: "n" },
      ["zoneId", "role"],
      "`zoneId` (replaces it)<br>`role` (replaces it)",
    ],
    [
      "a reason beside another change",
      { name: "a", size: "small" },
      { name: "b", size: "large" },
      ["name"],
      '`name`: `"a"` → `"b"` (replaces it)<br>`size`: `"small"` → `"large"`',
    ],
  ])("%s", (_, before, after, keys, what) => {
    const op = keys ? "replace" : "update";
    const one = step(op, "Node", "n", { id: "nod0000001", inputs: before }, { inputs: after }, keys);
    expect(row(show(planned([one])))).toContain(`| ${what} |`);
  });

  test.each([
    ["`a", "`` `a ``"],
    ["a`", "`` a` ``"],
    ["a``b", "```a``b```"],
    [" a", "`  a `"],
    ["a|b\n c", "`a\\|b c`"],
  ])("a name such as %j is code", (name, text) => {
    expect(row(show(planned([create({}, name)])))).toBe(`| created | Node ${text} |  |`);
  });
});

describe("what does not fit", () => {
  const many = (count: number, long = 20) =>
    planned(
      Array.from({ length: count }, (_, at) =>
        step("delete", "AppCred", `${"x".repeat(long)}${at}`, { id: `a${at}`, inputs: {} }),
      ),
    );

  test("a report of exactly as many characters is whole; with one less, it has no map", () => {
    const whole = show(many(3));
    expect(show(many(3), whole.length)).toBe(whole);
    const shorter = show(many(3), whole.length - 1);
    expect([whole, shorter].map((text) => text.includes("<summary>Map"))).toEqual([true, false]);
    expect(row(shorter)).toBe(row(whole));
    expect(shorter).not.toContain("Shortened");
  });

  test("of a longer list, it shows as many as fit, and counts the rest", () => {
    const text = show(many(60), 2_500);
    const rows = row(text).split("\n").length;
    expect([rows, text]).toEqual([20, expect.stringContaining("_… and 40 more._")]);
    expect(text).toContain(
      "_Shortened to 2500 characters: long lists end after 20 lines. The log of the run has all._",
    );
    const fitting = show(many(20), show(many(20)).length - 1);
    expect(fitting).not.toContain("more._");
  });

  test("one line at least, then it is cut", () => {
    const text = show(many(5, 2_000), 2_500);
    expect(row(text).split("\n")).toHaveLength(1);
    expect(text).toContain("_… and 4 more._");
    const cut = show(many(5, 4_000), 1_000);
    expect(cut.length).toBeLessThanOrEqual(1_000);
    expect(cut).toMatch(/…\n\n_Cut here\. The log of the run has all\._\n$/);
  });

  test("a message of 8000 characters is whole, and of 8001 is not", () => {
    const said = (length: number) =>
      /```text\n(\w+…?)\n/.exec(
        show(planned([], { diagnostics: [{ severity: "error", message: "x".repeat(length) }] })),
      )![1];
    expect([said(8_000), said(8_001)]).toEqual(["x".repeat(8_000), `${"x".repeat(8_000)}…`]);
  });
});
