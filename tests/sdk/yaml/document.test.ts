import { folderOfFiles, good, inFile, inText, written } from "../network/problems";

/** Errors of a file, with their places and advice. Nothing in a file is executed. */

const ten = "abcdefghij";
const tens = (item: (index: number) => string): string =>
  Array.from({ length: 10 }, (_, index) => item(index)).join(", ");

test("a good one has no problems", () => expect(inText(good)).toEqual([]));

describe("refused", () => {
  test.each<[string, string, string]>([
    ["empty", "", "1:1: the file is empty: write at least a name and members"],
    ["comments", "# nothing yet\n", "1:1: the file is empty: write at least a name and members"],
    ["an empty document", "---\n", "1:1: the file is empty: write at least a name and members"],
    ["text", "hello", "1:1: a network must be a mapping of settings"],
    ["a list", "- a\n- b\n", "1:1: a network must be a mapping of settings"],
    ["zeros", "\0\0\0", "1:1: a network must be a mapping of settings"],
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
    expect(missing).toMatch(/^missing.yaml: there is no such file \(paths are relative to the folder .*Pulumi.yaml\)$/);
    expect(inFile(folderOfFiles)).toEqual([expect.stringMatching(/: this is a folder: name the file in it$/)]);
    expect(inFile("/dev/null")).toEqual(["/dev/null: this is not a regular file"]);
  });

  test("5 MB: refused without being read", () => {
    const file = written(Buffer.alloc(5_000_000, "a: 1\n"));
    const before = process.cpuUsage();
    expect(inFile(file)).toEqual(["network.yaml: it has 4883 KiB: a network file must have at most 256"]);
    expect(process.cpuUsage(before).user).toBeLessThan(500_000); // of this process: others are at work, too
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
    expect(process.cpuUsage(before).user).toBeLessThan(3_000_000);
  });
});
