import {
  type Alias,
  Composer,
  type CST,
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Node,
  type Pair,
  Parser,
  type Scalar,
  visit,
  type YAMLMap,
} from "yaml";
import { copyOf, cycleText, mostLevels, type Opened, refuseMore, tooDeepText, TooMuch } from "./plain-data";
import { type Path, type Problem, type Reading } from "./problems";

/** Errors of the form of a text lead to others: the first ones say what there is to say. */
const mostErrors = 10;

/** Tags of JSON's own types; everything else could mean something to another program. */
const plainTags = ["str", "int", "float", "bool", "null", "map", "seq", "merge"].map(
  (name) => `tag:yaml.org,2002:${name}`,
);
const isPlain = ({ tag }: Node): boolean => tag === undefined || plainTags.includes(tag);

const isText = (key: unknown): key is Scalar<string> => isScalar(key) && typeof key.value === "string" && isPlain(key);

/** Where a node begins in the text. */
const startOf = (node: unknown): number => (node as Node | null)?.range?.[0] ?? 0;

/** What a file is for, as its errors say it. */
export interface FileKind {
  one: string;
  least: string;
}

/** Makes plain data of the one document of a YAML text. Runs nothing: tags are refused, and aliases are counted. */
export function readYaml(text: string, file: string, kind: FileKind): Reading {
  const lines = new LineCounter();
  const problems: Problem[] = [];
  const reading: Reading = { value: undefined, problems, file };
  let contents: Contents | undefined;
  reading.source = (path) => contents?.source(path);
  reading.position = ({ path, atKey, offset }) => {
    const { line, col } = lines.linePos(offset ?? contents?.offset(path, atKey) ?? 0);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  try {
    const documents = parse(text, lines);
    problems.push(...formErrors(documents, kind));
    const [document] = documents;
    if (problems.length > 0 || !document) return reading;
    contents = new Contents(document, problems);
    reading.value = contents.value();
  } catch (error) {
    if (!(error instanceof TooMuch)) throw error;
    const offset = typeof error.at === "number" ? error.at : startOf(error.at);
    reading.problems = [{ path: [], message: error.message, offset }];
  }
  return reading;
}

function parse(text: string, lines: LineCounter): Document.Parsed[] {
  const composer = new Composer({
    ...{ schema: "core", merge: true, strict: true, logLevel: "silent" },
    // Said below, in a time that does not grow with the square of the size.
    ...{ uniqueKeys: false, prettyErrors: false },
  });
  return [...composer.compose(tokens(text, lines), true, text.length)] as Document.Parsed[];
}

function* tokens(text: string, lines: LineCounter): Generator<CST.Token, void> {
  const parser = new Parser(lines.addNewLine);
  lines.addNewLine(0);
  for (const lexeme of new Lexer().lex(text)) {
    yield* parser.next(lexeme);
    if (parser.stack.length > mostLevels) throw new TooMuch(tooDeepText, parser.offset);
  }
  yield* parser.end();
}

function formErrors(documents: readonly Document.Parsed[], { one, least }: FileKind): Problem[] {
  const errors = documents.flatMap((one) => one.errors);
  const found: Problem[] = errors.slice(0, mostErrors).map(({ message, pos: [offset] }) => {
    return { path: [], message: `this is not YAML: ${message}`, offset };
  });
  const [first, second] = documents;
  const contents = first?.contents ?? null;
  const isEmpty = contents === null || (isScalar(contents) && contents.value === null);
  if (second) {
    const message = `a second document begins here: a file describes one ${one}`;
    found.push({ path: [], message, offset: startOf(second.contents) });
  } else if (isEmpty && errors.length === 0) {
    found.push({ path: [], message: `the file is empty: write at least ${least}`, offset: 0 });
  }
  return found;
}

/** The entries of a mapping, with those that it merges, and how many values and merges made them. */
interface Entries {
  pairs: Map<string, Pair>;
  merged: number;
}

/** What a document holds: values as plain data, and where each of them is. */
class Contents {
  private readonly targets = new Map<Alias, Node | undefined>();
  private readonly mappings = new Map<YAMLMap, Entries>();
  private readonly merging = new Set<Node>();

  constructor(
    private readonly document: Document.Parsed,
    private readonly problems: Problem[],
  ) {
    // An alias means the last anchor of that name before it.
    const anchors = new Map<string, Node>();
    visit(document, {
      Alias: (_, alias) => void this.targets.set(alias, anchors.get(alias.source)),
      Value: (_, node) => void (node.anchor && anchors.set(node.anchor, node)),
    });
  }

  value(): unknown {
    return copyOf(this.document.contents, (node, path) => this.open(node, path), this.problems);
  }

  source(path: Path): string | undefined {
    const node = this.target(this.place(path)?.value);
    return isScalar(node) ? node.source : undefined;
  }

  /** What is missing has no place: that of the entry which lacks it has to do. */
  offset(path: Path, atKey = false): number {
    const place = path.length > 0 ? this.place(path) : undefined;
    if (place) return startOf(atKey ? (place.key ?? place.value) : (place.value ?? place.key));
    return path.length > 0 ? this.offset(path.slice(0, -1), true) : startOf(this.document.contents);
  }

  private place(path: Path): { key?: unknown; value: unknown } | undefined {
    let place: { key?: unknown; value: unknown } | undefined = { value: this.document.contents };
    for (const step of path) {
      const node = this.target(place?.value);
      if (isMap(node)) place = this.entries(node, path).pairs.get(String(step));
      else place = isSeq(node) && Number(step) in node.items ? { value: node.items[Number(step)] } : undefined;
    }
    return place;
  }

  private target(node: unknown): unknown {
    return isAlias(node) ? this.targets.get(node) : node;
  }

  private open(given: unknown, path: Path): Opened | undefined {
    if (!isNode(given)) return { plain: null }; // `{ acme }` has a key and no value
    const node = this.target(given);
    if (!isNode(node))
      return this.wrong(given, path, `there is no anchor &${(given as Alias).source} before this alias`);
    if (!isPlain(node)) return this.wrong(node, path, `the tag ${node.tag} is not allowed: only plain values are`);
    if (isSeq(node)) return { itself: node, items: node.items };
    if (!isMap(node)) return { plain: (node as Scalar).value };
    const { pairs, merged } = this.entries(node, path);
    return { itself: node, entries: [...pairs].map(([key, { value }]) => [key, value ?? null] as const), merged };
  }

  private entries(map: YAMLMap, path: Path): Entries {
    const known = this.mappings.get(map);
    if (known) return known;
    const made: Entries = { pairs: new Map(), merged: 0 };
    this.mappings.set(map, made);
    this.merging.add(map);
    const merges: unknown[] = [];
    for (const pair of map.items) {
      const key = this.target(pair.key);
      if (isScalar(key) && typeof key.value === "symbol") {
        merges.push(pair.value);
      } else if (!isText(key)) {
        const written = isScalar(key) ? key.source : undefined;
        const message = written === undefined ? "a key is text" : `the key ${written} is not text: write "${written}"`;
        this.wrong(pair.key ?? map, path, message);
      } else if (made.pairs.has(key.value)) {
        this.wrong(pair.key, [...path, key.value], "this key is a duplicate");
      } else {
        made.pairs.set(key.value, pair);
      }
    }
    for (const source of merges) this.merge(source, path, made);
    this.merging.delete(map);
    return made;
  }

  /** `<<`: what is not there yet comes from another mapping, or from several, the first of which counts most. */
  private merge(given: unknown, path: Path, into: Entries): void {
    refuseMore(++into.merged, given);
    const node = this.target(given);
    if (!isMap(node) && !isSeq(node)) return this.wrong(given, path, "<< takes a mapping, or a list of mappings");
    if (!isPlain(node)) return this.wrong(node, path, `the tag ${node.tag} is not allowed: only plain values are`);
    if (this.merging.has(node)) return this.wrong(given, path, cycleText);
    if (isMap(node)) {
      const { pairs, merged } = this.entries(node, path);
      into.merged += pairs.size + merged;
      for (const [key, pair] of pairs) if (!into.pairs.has(key)) into.pairs.set(key, pair);
      return;
    }
    this.merging.add(node);
    for (const item of node.items) this.merge(item, path, into);
    this.merging.delete(node);
  }

  private wrong(node: unknown, path: Path, message: string): undefined {
    this.problems.push({ path, message, offset: startOf(node) });
  }
}
