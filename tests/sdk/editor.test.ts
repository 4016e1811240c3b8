import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as ts from "typescript";

/* Types, errors and hovers in the editor of a program's author, from TypeScript's own language service. */

const root = join(__dirname, "../..");
const file = join(__dirname, "program.ts");
const { exports } = jest.requireActual<{ exports: Record<string, { types?: string }> }>("../../package.json");
const doors = Object.entries(exports).flatMap(([door, { types }]) =>
  types === undefined || door.startsWith("./internal/")
    ? []
    : [join(root, types.replace(/^\.\/dist\/(.*)\.d\.ts$/, "$1.ts"))],
);
const { config } = ts.readConfigFile(join(root, "tsconfig.json"), (path) => readFileSync(path, "utf8")) as {
  config: object;
};
const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root, { noEmit: true });

const before = `import { type Input, type Output } from "@pulumi/pulumi";
import { AppCred, Consortium, Environment, type EnvironmentArgs, Membership, type NetworkDefinition, Node } from "../../sdk";
declare const consortium: Consortium, environment: Environment, membership: Membership;
declare const client: "geth" | "quorum", consensus: "raft" | "ibft" | "poa";
declare const given: { provider: Input<typeof client>; consensusType: Input<typeof consensus> };
declare const later: { provider: Output<typeof client>; consensusType: Promise<typeof consensus> };
`;

/** All snippets, each in a block of its own: to check a program takes as long as to check all of them. */
let program = before;
interface Snippet {
  start: number;
  end: number;
}
function snippet(text: string): Snippet {
  const start = program.length + "{ ".length;
  program += `{ ${text} }\n`;
  return { start, end: start + text.length };
}

const editor = ts.createLanguageService({
  ...ts.sys,
  getCompilationSettings: () => options,
  getScriptFileNames: () => [file, ...doors],
  getScriptVersion: () => "0",
  getScriptSnapshot(path) {
    const text = path === file ? program : ts.sys.readFile(path);
    return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
  },
  getCurrentDirectory: () => root,
  getDefaultLibFileName: ts.getDefaultLibFilePath,
  useCaseSensitiveFileNames: () => ts.sys.useCaseSensitiveFileNames,
});

let found: ts.Diagnostic[];
beforeAll(() => {
  found = [...editor.getSyntacticDiagnostics(file), ...editor.getSemanticDiagnostics(file)];
  expect(complaints({ start: 0, end: before.length })).toBe("");
});

/** The errors of a snippet, `""` for none. */
const complaints = ({ start, end }: Snippet): string =>
  found
    .filter((one) => one.start! >= start && one.start! < end)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"))
    .join("\n");

/** The hover over the first occurrence of a text in a snippet. */
function hover(at: Snippet, over: string): string {
  expect(complaints(at)).toBe("");
  const { documentation } = editor.getQuickInfoAtPosition(file, program.indexOf(over, at.start)) ?? {};
  return ts.displayPartsToString(documentation);
}

const made = (settings: string) => `new Environment("e", { consortium, ${settings} });`;
const network = (settings: string) => `const n: NetworkDefinition = { environments: { e: { ${settings} } } };`;
const args = (settings: string) => `const a: EnvironmentArgs = { consortium, ${settings} }; new Environment("e", a);`;
const forms = { made, network, args };

describe.each(Object.entries(forms))("a client and its consensus: %s", (_, form) => {
  const written = ([provider, consensusType]: [string, string]): [string, string, Snippet] => [
    ...([provider, consensusType] as const),
    snippet(form(`provider: "${provider}", consensusType: "${consensusType}"`)),
  ];
  const right: [string, string][] = [
    ["geth", "poa"],
    ["quorum", "raft"],
    ["quorum", "ibft"],
    ["other:next", "raft"],
    ["quorum", "other:next"],
  ];
  const wrong: [string, string][] = [
    ["geth", "raft"],
    ["geth", "ibft"],
    ["quorum", "poa"],
    ["quorm", "raft"],
    ["quorum", "rfat"],
  ];
  test.each(right.map(written))("%s runs %s", (_client, _consensus, at) => expect(complaints(at)).toBe(""));
  test.each(wrong.map(written))("%s with %s does not compile", (_client, _consensus, at) =>
    expect(complaints(at)).toMatch(/is not assignable/),
  );
});

const compiling: [string, string][] = [
  ["variables of several values", made("provider: client, consensusType: consensus")],
  ["inputs", made("...given")],
  ["values that are only known later", made("...later")],
  ["one of both known", made(`provider: "quorum", consensusType: later.consensusType.then(() => "raft" as const)`)],
  ["a class of one's own", `class Own extends Environment {} new Own("e", { consortium, ...given });`],
  [
    "a resource of one client in place of any",
    `const e: Environment = ${made(`provider: "geth", consensusType: "poa"`)}`,
  ],
];
test.each(compiling.map(([what, text]) => [what, snippet(text)] as const))("%s compile", (_, at) =>
  expect(complaints(at)).toBe(""),
);

const hovers: [over: string, text: string, words: string][] = [
  ["consortium:", made(`provider: "geth", consensusType: "poa"`), "Consortium it belongs to."],
  [
    "environmentId:",
    `new Node("n", { environmentId: "e", consortiumId: "c", membership });`,
    "Id of the environment it belongs to, instead of `environment`; also needs `consortiumId`.",
  ],
  [
    "consortiumId:",
    `new AppCred("a", { environmentId: "e", consortiumId: "c", membership });`,
    "Id of the consortium that the environment belongs to.",
  ],
  [
    "provider:",
    made(`provider: "geth", consensusType: "poa"`),
    "Client that the nodes run: `quorum`, `geth`, `pantheon` (Besu), `fabric` or `corda`. A value that is not known, and is meant: `other:<value>`.",
  ],
];
test.each(
  hovers.map(
    ([over, text, words]) => [over, words, snippet(text.replace("consortium,", "consortium: consortium,"))] as const,
  ),
)("the hover over %s: %s", (over, words, at) => expect(hover(at, over)).toBe(words));

const section = /\bspec\b|\bsections? \d/;

test("no hover over what the package exports refers to a document that users do not have", () => {
  const all = editor.getProgram()!;
  const checker = all.getTypeChecker();
  const hovers = doors
    .flatMap((door) => checker.getExportsOfModule(checker.getSymbolAtLocation(all.getSourceFile(door)!)!))
    .map((symbol) => (symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol))
    .flatMap((symbol) => [symbol, ...(symbol.members?.values() ?? []), ...(symbol.exports?.values() ?? [])])
    .map((symbol) => ts.displayPartsToString(symbol.getDocumentationComment(checker)));
  expect(hovers.filter(Boolean).length).toBeGreaterThan(300);
  expect(hovers.filter((text) => section.test(text))).toEqual([]);
});

/** Words of Pulumi, of its providers and of fleets. The name of the package may be said. */
const foreign =
  /pulumi(?!-consortium\b)|\bstacks?\b|fleet|\bProvider\b|consortium:|customTimeouts|--run-program|\badopt/;

test.each<[string, string[], RegExp]>([
  ["a document that users do not have", ["cli", "provider", "sdk", "service"], section],
  ["Pulumi in the client, which is for everybody: advice is in provider/core/advice.ts", ["provider/api"], foreign],
])("no error, description or help refers to %s", (_, folders, words) => {
  const sources = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts"))
      .map((name) => join(root, folder, name)),
  );
  const texts: string[] = [];
  const collect = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return;
    if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node))
      texts.push(node.text);
    ts.forEachChild(node, collect);
  };
  for (const path of sources) collect(ts.createSourceFile(path, readFileSync(path, "utf8"), ts.ScriptTarget.ES2022));
  expect(texts.length).toBeGreaterThan(200);
  expect(texts.filter((text) => words.test(text))).toEqual([]);
});
