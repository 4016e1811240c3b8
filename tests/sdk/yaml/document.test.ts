import { folderOfFiles, good, inFile, inText, written, inData } from "../network/problems";
import { output } from "@pulumi/pulumi";
import { parse } from "yaml";
import { yamlForAll } from "../../../sdk/yaml/write";
import { patiently } from "../../support/jest/patience";

describe("a document", () => {
  /** Errors of a file, with their places and advice. Nothing in a file is executed. */

  const ten = "abcdefghij";
  const tens = (item: (index: number) => string): string =>
    Array.from({ length: 10 }, (_, index) => item(index)).join(", ");

  test("a good one has no problems", () => expect(inText(good)).toEqual([]));

  describe("refused", () => {
    test.each<[string, string, string]>([
      ["empty", "", "1:1: the file is empty: write at least a name and members"],
      ["an empty document", "---\n", "1:1: the file is empty: write at least a name and members"],
      ["text", "hello", "1:1: a network must be a mapping of settings"],
      [
        "a mapping of nothing",
        "{}",
        "1:1: nothing is defined: set members (and environments), or consortia with their own",
      ],
      ["tabs", "members:\n\tacme: {}\n", "2:1: this is not YAML: Tabs are not allowed as indentation"],
      [
        "two documents",
        "members: [a]\n---\nmembers: [b]\n",
        "3:1: a second document begins here: a file describes one network",
      ],
      ["nested without end", `a: ${"[".repeat(100_000)}`, ": it is nested too deeply"],
      ["nested without end, in mappings", "{a: ".repeat(50_000), ": it is nested too deeply"],
      ["nested without end, in merges", `<<: ${"[".repeat(100_000)}`, ": it is nested too deeply"],
    ])("%s", (_, text, problem) => {
      expect(inText(text)).toEqual([expect.stringContaining(problem) as string]);
    });

    test("no YAML", () => {
      expect(inText("members: [acme\nx: {")[0]).toMatch(
        /^network.yaml:2:1: this is not YAML: Flow sequence .* end with a ]$/,
      );
    });

    test("not text in UTF-8", () => {
      expect(inText(Buffer.from([0xff, 0xfe, 0, 1]))).toEqual(["network.yaml: it must be text in UTF-8"]);
    });

    test("none at all, a folder, a device", () => {
      const [missing] = inFile(`${folderOfFiles}/missing.yaml`);
      expect(missing).toMatch(
        /^missing.yaml: there is no such file \(paths are relative to the folder .*Pulumi.yaml\)$/,
      );
      expect(inFile(folderOfFiles)).toEqual([expect.stringMatching(/: this is a folder: name the file in it$/)]);
      expect(inFile("/dev/null")).toEqual(["/dev/null: this is not a regular file"]);
    });

    test("5 MB: refused without being read", () => {
      const file = written(Buffer.alloc(5_000_000, "a: 1\n"));
      const before = process.cpuUsage();
      expect(inFile(file)).toEqual(["network.yaml: it has 4883 KiB: a network file must have at most 256"]);
      expect(process.cpuUsage(before).user).toBeLessThan(patiently(500_000)); // of this process: others are at work, too
    });
  });

  const besides: Record<string, [text: string, problem: string]> = {
    "an alias without an anchor": ["members: *x\n", "1:10: there is no anchor &x before this alias"],
    "such an alias as a whole environment": [
      "members: [a]\nenvironments: { prod: *x }\n",
      "2:23: there is no anchor &x before this alias",
    ],
    "an entry in itself": ["members: &a\n  acme: *a\n", "2:9: members.acme: it contains itself"],
    "a list in itself": ["members: &a [*a]\n", "1:14: members[0]: it contains itself"],
    "a merge of a list in itself": ["members: [a]\n<<: &s [*s]\n", "2:8: << takes a mapping, or a list of mappings"],
    "such a list under other merges": [
      "members: [a]\n<<: [{ name: x }, &s [[*s]]]\n",
      "2:5: << takes a mapping, or a list of mappings",
    ],
    "a tag": ["members: !foo [a]\n", "1:10: Unresolved tag: !foo: only plain values are allowed"],
    "a tag that makes a function": [
      "members: [a]\nname: !!js/function 'function () { process.exit(3) }'\n",
      "2:7: Unresolved tag: tag:yaml.org,2002:js/function: only plain values are allowed",
    ],
    "binary data": ["members: [a]\nname: !!binary aGk=\n", "tag:yaml.org,2002:binary: only plain values are allowed"],
    "a tag on a key": ["members: { !foo a: {} }\n", "1:12: a key must be text"],
    "a list as a key": ["members: [a]\n? [x]\n: 1\n", "2:3: a key must be text"],
  };

  describe("other features of YAML", () => {
    test.each(Object.entries(besides))("%s", (_, [text, problem]) => {
      expect(inText(text)).toEqual([expect.stringContaining(problem) as string]);
    });

    test("anchors, aliases and merges work as in YAML, and errors in them have their own places", () => {
      const text = `
members: { acme: &nothing {}, globex: *nothing }
environments:
  a: &all { provider: quorum, consensusType: raft, nodes: { acme: 1, globex: 1 } }
  b: { <<: *all, consensusType: ibft }
  c: { <<: [{ consensusType: poa }, *all], provider: geth }
`;
      expect(inText(text)).toEqual([]);
      expect(inText(text.replace("ibft", "poa"))).toEqual([
        expect.stringMatching(/^network.yaml:5:33: environments.b.consensusType: quorum runs raft or ibft, not poa/),
      ]);
      expect(inText(text.replace("globex: 1", "globexx: 1"))[0]).toContain(
        "network.yaml:4:70: environments.a.nodes.globexx",
      );
      expect(inText("members: [a]\n<<: 5\n")).toEqual(["network.yaml:2:5: << takes a mapping, or a list of mappings"]);
    });

    test("a mapping that merges itself gains nothing", () => {
      expect(inText("members: &a\n  acme: {}\n  <<: *a\n")).toEqual([]);
    });

    test("a chain of 13,000 aliases", () => {
      const links = Array.from({ length: 13_000 }, (_, index) => `&${index + 1} [*${index}]`).join(",");
      expect(inText(`ignored: [&0 [],${links}]\nmembers: *13000\n`)).toEqual([
        expect.stringMatching(/^network.yaml:1:1: the definition has more than 100000 values/),
      ]);
    });

    const aliases = [...ten]
      .map((one, i) => `${one}${one}: &${one}${one} [${tens(() => (i === 0 ? "*a" : `*${ten[i - 1]}${ten[i - 1]}`))}]`)
      .join("\n");
    const merges = [...ten, ...ten]
      .map((_, i) => `m${i}: &m${i} {<<: [${tens(() => (i === 0 ? "*a" : `*m${i - 1}`))}]}`)
      .join("\n");
    test.each<[string, string, string]>([
      ["aliases of aliases", `a: &a [x, x]\n${aliases}`, "1:1: the definition has more than 100000 values"],
      ["merges of merges", `a: &a {k: 1}\n${merges}`, '1:1: a: a network has no "a"'],
    ])("a bomb of %s does not go off", (_, text, problem) => {
      const before = process.cpuUsage();
      expect(inText(text)[0]).toContain(problem);
      expect(process.cpuUsage(before).user).toBeLessThan(patiently(3_000_000));
    });
  });
});

describe("data of a program", () => {
  /** Definitions in a program have no lines: their errors name the path. */

  const kind = { provider: "geth", consensusType: "poa" };
  const cyclic: Record<string, unknown> = {};
  cyclic.members = { acme: cyclic };

  test("valid data", () => {
    expect(
      inData({ members: ["acme"], environments: { prod: { ...kind, name: undefined, nodes: { acme: 1 } } } }),
    ).toEqual([]);
  });

  test.each<[string, unknown, string[]]>([
    ["nothing", null, ["a network must be a mapping of settings"]],
    ["a list", [], ["a network must be a mapping of settings"]],
    [
      "an object of a class",
      new Map(),
      ["only plain objects, lists, text, numbers and booleans belong in a definition"],
    ],
    ["an object in itself", cyclic, ["members.acme: it contains itself"]],
    ["a function", { members: [() => "acme"] }, ["members[0]: a function is not a plain value"]],
    [
      "a Promise",
      { members: Promise.resolve([]) },
      [expect.stringMatching(/^members: the value is known only later \(an Output or a Promise\)/) as string],
    ],
    [
      "an Output",
      { members: { acme: { orgName: output("Acme") } } },
      [expect.stringMatching(/^members.acme.orgName: the value is known only later/) as string],
    ],
    [
      "several at once",
      { members: ["acme"], environments: { prod: { ...kind, nodes: { akme: 1 }, consensusType: "raft" } }, size: 3 },
      [
        expect.stringMatching(/^size: a network has no "size"/) as string,
        'environments.prod.nodes.akme: there is no member "akme"; did you mean "acme"?',
        expect.stringMatching(/^environments.prod.consensusType: geth runs poa, not raft/) as string,
      ],
    ],
  ])("%s", (_, definition, problems) => expect(inData(definition)).toEqual(problems));

  test("shared objects are not a cycle", () => {
    const shared = { ...kind };
    expect(inData({ members: [], environments: { a: shared, b: shared } })).toEqual([]);
  });
});

describe("what is written", () => {
  const words = "no on y N Yes off True null Null ~ = << no-op nodes".split(" ");
  const numbers = "0123 1_000 12:30 1:2:3 0o14 0x1F 0b11 1e3 1e-7 .5 .inf -.INF .NaN 2026-01-01".split(" ");
  const signs = "&a *a !a %a @a é 🐟 \" ' \\ {a} [a] ${a} a,b ? --- ... \u0085 \u2028 \ufeff".split(" ");
  const others = ["", "a: b", "# a", "- a", "a\nb\n", " a", "a ", "tab\there", "a: |", "a #b"];
  const texts = [...words, ...numbers, ...signs, ...others];

  test.each(["1.1", "1.2"] as const)("readers of version %s read the same texts, as keys and as values", (version) => {
    const value = { list: texts, ...Object.fromEntries(texts.map((text) => [text, { [text]: text }])) };
    expect(parse(yamlForAll(value), { version, merge: true })).toEqual(value);
  });

  test.each(["1.1", "1.2"] as const)("readers of version %s read the same numbers", (version) => {
    const value = [0, -1, 1.5, 1e21, 1e-7, -2e-9, 1.5e300, Number.MAX_SAFE_INTEGER, true, false, null];
    const text = yamlForAll(value);
    expect(parse(text, { version })).toEqual(value);
    // PyYAML takes a number without a point, but with an exponent, for text.
    expect(text).not.toMatch(/ -?\d+e/);
  });

  test("plain text stays plain, for people", () => {
    const value = {
      apiVersion: "pulumi.com/v1",
      kind: "Stack",
      spec: { repoDir: "networks/fleet", refresh: true, seconds: 3600 },
    };
    expect(yamlForAll(value)).toBe(
      "apiVersion: pulumi.com/v1\nkind: Stack\nspec:\n  repoDir: networks/fleet\n  refresh: true\n  seconds: 3600\n",
    );
  });
});
