import {
  type Alias,
  Composer,
  type CST,
  type Document,
  isAlias,
  isCollection,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Node,
  type Pair,
  Parser,
  visit,
  type YAMLError,
  type YAMLMap,
  type YAMLSeq,
} from "yaml";
import { mostLevels, readData } from "./data";
import { type Path, type Problem, type Reading } from "./problems";

/** Syntax errors cause further ones, so the first few are enough. */
const mostErrors = 10;

/** Where a node begins in the text. */
const startOf = (node: unknown): number => (node as Node | null)?.range?.[0] ?? 0;

/** What a file contains, in the words of its errors: `network`, and at least `a name and members`. */
export interface FileKind {
  one: string;
  least: string;
}

/** Reads the only document of a YAML text as plain data. Nothing is executed: tags are refused, and aliases are counted. */
export function readYaml(text: string, file: string, kind: FileKind): Reading {
  const lines = new LineCounter();
  const { document, problems } = parse(text, lines, kind);
  const contents = document && new Contents(document, problems);
  const read = contents && problems.length === 0 ? readData(contents.value()) : { value: undefined, problems: [] };
  return {
    file,
    value: read.value,
    problems: [...problems, ...read.problems],
    source: (path) => contents?.source(path),
    position({ path, atKey, offset }) {
      const { line, col } = lines.linePos(offset ?? contents?.offset(path, atKey) ?? 0);
      return { line: Math.max(line, 1), column: Math.max(col, 1) };
    },
  };
}

/** The first document of a text, and the syntax errors. */
function parse(text: string, lines: LineCounter, kind: FileKind): { document?: Document.Parsed; problems: Problem[] } {
  const parser = new Parser(lines.addNewLine);
  const tokens: CST.Token[] = [];
  lines.addNewLine(0);
  for (const lexeme of new Lexer().lex(text)) {
    tokens.push(...parser.next(lexeme));
    // The composer recurses for each level, and could overflow the stack.
    if (parser.stack.length > mostLevels)
      return { problems: [{ path: [], message: "it is nested too deeply", offset: parser.offset }] };
  }
  const composer = new Composer({
    schema: "core",
    merge: true,
    resolveKnownTags: false,
    stringKeys: true,
    prettyErrors: false,
    uniqueKeys: false, // checked below: the library compares each key with all others
  });
  const documents = [...composer.compose([...tokens, ...parser.end()], true, text.length)] as Document.Parsed[];
  return { document: documents[0], problems: formProblems(documents, kind) };
}

function formProblems(documents: readonly Document.Parsed[], { one, least }: FileKind): Problem[] {
  const wordsFor = ({ code, message }: YAMLError): string => {
    if (code === "NON_STRING_KEY") return "a key must be text";
    if (code === "TAG_RESOLVE_FAILED") return `${message}: only plain values are allowed`;
    return `this is not YAML: ${message}`;
  };
  const tags = documents.flatMap(({ warnings }) => warnings).filter(({ code }) => code === "TAG_RESOLVE_FAILED");
  const found = [...documents.flatMap(({ errors }) => errors), ...tags]
    .slice(0, mostErrors)
    .map((error): Problem => ({ path: [], message: wordsFor(error), offset: error.pos[0] }));
  const [{ contents }, second] = documents as [Document.Parsed, Document.Parsed?];
  if (second) {
    const message = `a second document begins here: a file describes one ${one}`;
    found.push({ path: [], message, offset: startOf(second.contents) });
  } else if (found.length === 0 && (contents === null || (isScalar(contents) && contents.value === null))) {
    found.push({ path: [], message: `the file is empty: write at least ${least}`, offset: 0 });
  }
  return found;
}

/** A value of a mapping or a list, with its key. */
type Part = { key?: unknown; value?: unknown };
type Parts = Map<string, Part>;

/** The values of a document, and where each of them is. */
class Contents {
  readonly #targets = new Map<Alias, Node>();
  readonly #values = new Map<Node, object>();
  readonly #parts = new Map<Node, Parts>();

  constructor(
    private readonly document: Document.Parsed,
    private readonly problems: Problem[],
  ) {
    // An alias refers to the last anchor of its name before it.
    const anchors = new Map<string, Node>();
    visit(document, {
      Alias: (_, alias) => {
        const target = anchors.get(alias.source);
        if (target) this.#targets.set(alias, target);
        else this.#wrong(alias, `there is no anchor &${alias.source} before this alias`);
      },
      Value: (_, node) => void (node.anchor && anchors.set(node.anchor, node)),
    });
  }

  /** As data. All aliases of a node become the same object. */
  value(given: unknown = this.document.contents): unknown {
    const node = this.#target(given);
    if (!isCollection(node)) return isScalar(node) ? node.value : null; // `{ acme }` has a key and no value
    const known = this.#values.get(node);
    if (known) return known;
    // Without a prototype, so that `__proto__` is a key like any other.
    const made = (isSeq(node) ? [] : Object.create(null)) as Record<string, unknown>;
    this.#values.set(node, made);
    for (const [key, part] of this.#partsOf(node)) made[key] = this.value(part.value);
    return made;
  }

  source(path: Path): string | undefined {
    const node = this.#target(this.#at(path)?.value);
    return isScalar(node) ? node.source : undefined;
  }

  /** A missing value has no place, so its parent's is used. */
  offset(path: Path, atKey = false): number {
    const part = this.#at(path);
    if (!part) return this.offset(path.slice(0, -1), true);
    return startOf(atKey ? (part.key ?? part.value) : (part.value ?? part.key));
  }

  #at(path: Path): Part | undefined {
    return path.reduce<Part | undefined>(
      (above, step) => {
        const node = this.#target(above?.value);
        return isCollection(node) ? this.#partsOf(node).get(String(step)) : undefined;
      },
      { value: this.document.contents },
    );
  }

  #target(node: unknown): unknown {
    return isAlias(node) ? this.#targets.get(node) : node;
  }

  #partsOf(node: YAMLMap | YAMLSeq): Parts {
    const known = this.#parts.get(node);
    if (known) return known;
    const parts: Parts = new Map(isSeq(node) ? node.items.map((value, at) => [String(at), { value }]) : []);
    this.#parts.set(node, parts);
    if (!isMap(node)) return parts;
    const isMerge = ({ key }: Pair): boolean => String(key) === "<<";
    for (const { key, value } of node.items.filter((pair) => !isMerge(pair))) {
      if (parts.has(String(key))) this.#wrong(key, `the key "${String(key)}" appears twice`);
      else parts.set(String(key), { key, value });
    }
    // Keys that a mapping does not have come from the mappings that it merges; earlier ones take precedence.
    for (const { value: given } of node.items.filter(isMerge)) {
      const source = this.#target(given);
      const all = isSeq(source) ? source.items.map((item) => this.#target(item)) : [source];
      if (!all.every(isMap)) this.#wrong(given, "<< takes a mapping, or a list of mappings");
      for (const [key, part] of all.filter(isMap).flatMap((one) => [...this.#partsOf(one)]))
        if (!parts.has(key)) parts.set(key, part);
    }
    return parts;
  }

  #wrong(node: unknown, message: string): void {
    this.problems.push({ path: [], message, offset: startOf(node) });
  }
}
