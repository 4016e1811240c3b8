import { Composer, type CST, type Document, isScalar, Lexer, LineCounter, Parser } from "yaml";
import { type Path } from "./problems";
import { type Found, mostLevels, type Reading, tooDeepText } from "./reading";
import { offsetOf, type Place, TooMuch, Walk } from "./yaml-walk";

/** Errors of the form of a text lead to others: the first ones say what there is to say. */
const mostErrors = 10;

const placeOf = (root: Place, path: Path): Place | undefined =>
  path.reduce<Place | undefined>((place, step) => place?.inner.get(step), root);

/** What a file is for, as its errors say it. */
export interface FileKind {
  one: string;
  least: string;
}

const networkFile: FileKind = { one: "network", least: "a name and members" };

/** Makes plain data of the one document of a YAML text. Runs nothing: tags are refused, and aliases are counted. */
export function readYaml(text: string, file: string, kind: FileKind = networkFile): Reading {
  const lines = new LineCounter();
  const root: Place = { inner: new Map() };
  const reading: Reading = {
    value: undefined,
    found: [],
    file,
    source: (path) => placeOf(root, path)?.source,
    position({ path, atKey, offset }) {
      const place = placeOf(root, path);
      const at = offset ?? (atKey ? (place?.keyAt ?? place?.at) : (place?.at ?? place?.keyAt)) ?? nearest(root, path);
      const { line, col } = lines.linePos(at);
      return { line: Math.max(line, 1), column: Math.max(col, 1) };
    },
  };
  try {
    const documents = parse(text, lines);
    const [document] = documents;
    reading.found.push(...formErrors(documents, kind));
    if (reading.found.length === 0 && document) {
      reading.value = new Walk(document, reading.found).value(document.contents, [], root);
    }
  } catch (error) {
    if (!(error instanceof TooMuch)) throw error;
    reading.found = [{ path: [], message: error.message, offset: error.offset }];
  }
  return reading;
}

function parse(text: string, lines: LineCounter): Document.Parsed[] {
  const composer = new Composer({
    ...{ schema: "core", merge: true, strict: true, logLevel: "silent" },
    // Said by the walk, in a time that does not grow with the square of the size.
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

/** What is missing has no place: that of the entry which lacks it has to do. */
function nearest(root: Place, path: Path): number {
  for (let length = path.length - 1; length > 0; length--) {
    const place = placeOf(root, path.slice(0, length));
    if (place) return place.keyAt ?? place.at ?? 0;
  }
  return root.at ?? 0;
}

function formErrors(documents: readonly Document.Parsed[], { one, least }: FileKind): Found[] {
  const errors = documents.flatMap((one) => one.errors);
  const found: Found[] = errors.slice(0, mostErrors).map(({ message, pos: [offset] }) => {
    return { path: [], message: `this is not YAML: ${message}`, offset };
  });
  const [first, second] = documents;
  const contents = first?.contents ?? null;
  const isEmpty = contents === null || (isScalar(contents) && contents.value === null);
  if (second) {
    const message = `a second document begins here: a file describes one ${one}`;
    found.push({ path: [], message, offset: offsetOf(second.contents) });
  } else if (isEmpty && errors.length === 0) {
    found.push({ path: [], message: `the file is empty: write at least ${least}`, offset: 0 });
  }
  return found;
}
