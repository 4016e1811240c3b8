import { losesLedger } from "../../cli/report";
import { readPlan } from "../../inventory/plan/read";
import { lossWarnings } from "../../provider/constants";
import { eventsOf, later, planned, type PlannedStep, row, secret, show, type State, step, urn } from "./plans";

const environment = (consensusType: string, more: object = {}): State => ({
  id: "env0000001",
  inputs: { __provider: "x", consortiumId: "con0000001", name: "e", consensusType },
  ...more,
});

describe("lines of the report", () => {
  test.each([
    ["created", step("create", "Node", "n", undefined, { inputs: { name: "n" } }), "| created | Node `n` |  |"],
    [
      "changed",
      step("update", "Consortium", "c", { inputs: { description: "a" } }, { inputs: { description: "b", url: later } }),
      '| changed | Consortium `c` | `description`: `"a"` → `"b"`<br>`url`: new, → `[known later]` |',
    ],
    [
      "a secret that may have changed",
      step(
        "update",
        "Consortium",
        "c",
        { inputs: { description: "[secret]", name: "c" } },
        { inputs: { description: secret, name: "c" } },
      ),
      "| changed | Consortium `c` | `description`: `[secret]` → `[secret]` |".replace("`[secret]` → ", ""),
    ],
    [
      "a value with a secret in it that may have changed",
      step(
        "update",
        "Consortium",
        "c",
        { inputs: { extra: { a: [1, { token: "[secret]" }] }, name: "c" } },
        { inputs: { extra: { a: [1, { token: "[secret]" }] }, name: "c" } },
      ),
      '| changed | Consortium `c` | `extra`: `{"a":[1,{"token":"[secret]"}]}` |',
    ],
    [
      "adopted by name",
      step("create", "Node", "n", undefined, { inputs: { adopt: true } }),
      "| adopted | Node `n` | the existing object with this name, or a new one |",
    ],
    [
      "adopted by id",
      step("create", "Node", "n", undefined, { inputs: { adopt: "abc" } }),
      "| adopted | Node `n` | `abc` |",
    ],
    [
      "one whose time-outs change where it is",
      step("update", "Node", "n", { inputs: { name: "n" } }, { inputs: { name: "n", customTimeouts: { create: 60 } } }),
      '| changed | Node `n` | `customTimeouts`: new, → `{"create":60}` |',
    ],
    [
      "as long as a value may be",
      step("update", "Node", "n", { inputs: {} }, { inputs: { name: "x".repeat(78), other: "y".repeat(79) } }),
      `| changed | Node \`n\` | \`name\`: new, → \`"${"x".repeat(78)}"\`<br>\`other\`: new, → \`"${"y".repeat(79)}…\` |`,
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
      "| created | my:mod:Thing ``a\\|b`c` @team`` |  |",
    ],
  ])("%s", (_, one, line) => {
    expect(row(show(planned([one])))).toBe(line);
  });

  test("nothing to do is one line", () => {
    expect(show(planned([], { same: 7 }))).toBe("### `net/prod`\n\nNothing to do: 7 unchanged.\n");
  });

  test.each(["remove-pending-replace", "read", "discard", "same"])("%s changes nothing", (op) => {
    expect(show(planned([step(op, "Node", "n", { inputs: { name: "a" } }, { inputs: { name: "b" } })]))).toContain(
      "Nothing to do",
    );
  });

  test("names with numbers are in numeric order", () => {
    const steps = ["n10", "n9", "n1"].map((name) => step("create", "Node", name, undefined, { inputs: {} }));
    expect(row(show(planned(steps))).match(/`n\d+`/g)).toEqual(["`n1`", "`n9`", "`n10`"]);
  });

  test("a change in place says whether it restarts the node", () => {
    const node = (name: string, size: string) => ({ id: "nod0000001", inputs: { name, size } });
    const one = step("update", "Node", "n", node("a", "small"), node("b", "large"));
    expect(row(show(planned([one])))).toBe(
      '| changed | Node `n` | `name`: `"a"` → `"b"`<br>`size`: `"small"` → `"large"` (restarts it) |',
    );
  });

  test("the steps of a replacement are one line with the reason", () => {
    const [old, next] = [environment("raft"), environment("ibft")];
    const steps = [
      step("delete-replaced", "Environment", "e", old),
      step("replace", "Environment", "e", old, next, ["consensusType"]),
      step("create-replacement", "Environment", "e", undefined, next),
    ];
    expect(row(show(planned(steps)))).toBe(
      '| **replaced** | Environment `e` | `consensusType`: `"raft"` → `"ibft"` (replaces it) |',
    );
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
      "> - Service `docs` is deleted: this destroys what it keeps.",
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
      "> - Service `docs` is deleted: this destroys what it keeps.",
    ]);
  });

  test("the details of a configuration are not shown", () => {
    const gas = { id: "cfg0000001", inputs: { name: "gas", details: secret } };
    expect(row(show(planned([step("update", "Configuration", "gas", gas, gas)])))).toBe(
      "| changed | Configuration `gas` | `details`: `[secret]` |",
    );
  });
});

const node = { id: "nod0000001", inputs: { environmentId: "env0000001", consortiumId: "con0000001" } };
const loud = (steps: PlannedStep[]): string[] =>
  show(planned(steps))
    .split("\n")
    .filter((line) => line.startsWith("> -"));

test.each([
  [
    "an environment",
    [step("replace", "Environment", "e", environment("raft"), environment("ibft"))],
    ["Environment `e` is replaced"],
  ],
  ["a node", [step("delete", "Node", "n", node)], ["Node `n` is deleted"]],
  [
    "a consortium and all in it, told once",
    [
      step("delete", "Node", "n", node),
      step("delete", "Environment", "e", environment("raft")),
      step("delete", "Consortium", "c", { id: "con0000001" }),
    ],
    ["Consortium `c` is deleted"],
  ],
  [
    "a node of an environment that is not the lost one",
    [
      step("delete", "Environment", "e", environment("raft")),
      step("delete", "Node", "n", { ...node, inputs: { environmentId: "env0000002", consortiumId: "con0000001" } }),
    ],
    ["Environment `e` is deleted", "Node `n` is deleted"],
  ],
  [
    "one without an id is no parent of those that name none",
    [step("delete", "Environment", "e", { inputs: {} }), step("delete", "Node", "n", { id: "nod0000001", inputs: {} })],
    ["Environment `e` is deleted", "Node `n` is deleted"],
  ],
  ["one that stays", [step("delete", "Environment", "e", environment("raft", { retainOnDelete: true }))], []],
  ["one that is only read", [step("delete", "Environment", "e", environment("raft", { external: true }))], []],
  ["a credential", [step("delete", "AppCred", "a", { id: "x" })], []],
])("a ledger that would be lost: %s", (_, steps, expected) => {
  expect(loud(steps)).toEqual(expected.map((text) => expect.stringContaining(text) as string));
});

describe("results of a refresh", () => {
  const read = (op: string, type: string, name: string, old: State, now?: State): object[] => [
    { resourcePreEvent: { metadata: { op: "refresh", urn: urn(type, name), old, new: old } } },
    { resOutputsEvent: { metadata: { op, urn: urn(type, name), old, new: now } } },
  ];

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
        ...read("delete", "Node", "n", { id: "n1" }),
      ),
    );
    expect(row(text).split("\n")).toEqual([
      "| **gone** | Node `n` |  |",
      '| drifted | Membership `m` | `orgName`: `"a"` → `"b"` |',
      '| drifted | Node `stopped` | `state`: `"started"` → `"stopped"` |',
    ]);
    expect(text).toContain("Node `n` is gone from the service, and with it its key");
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

test.each([65_536, 3_000, 1_000])("a report of at most %d characters", (max) => {
  const steps = Array.from({ length: 3_000 }, (_, index) =>
    step("delete", index === 0 ? "Environment" : "AppCred", `${"long-".repeat(20)}${index}`, { id: `x${index}` }),
  );
  const diagnostics = Array.from({ length: 50 }, (_, index) => ({
    severity: "error",
    message: `${index} ${"x".repeat(9_000)}`,
  }));
  const text = show(planned(steps, { diagnostics }), max);
  expect(text.length).toBeLessThanOrEqual(max);
  expect(text).toMatch(/THIS DESTROYS A LEDGER/);
  expect(text).toMatch(/_Shortened to|_Cut here/);
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
    const lost = {
      ...step("delete", "Environment", "e", state(plugin)),
      urn: urn("Environment", "e").replace(dynamic, plugin),
    };
    expect(show(planned([lost]))).toContain("- Environment `e` is deleted: this destroys its ledger");
  });
});
