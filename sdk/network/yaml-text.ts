import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseAllDocuments,
  visit,
  type YAMLMap,
} from "yaml";
import { type Path } from "./problems";
import {
  cycleText,
  emptyRecord,
  type Found,
  isReserved,
  mostValues,
  type Reading,
  reservedText,
  tooManyText,
} from "./reading";

/** Where a value and its key stand in the text, and what is in it. */
interface Place {
  at?: number;
  keyAt?: number;
  inner: Map<string | number, Place>;
}

/** Tags of JSON's own types; everything else could mean something to another program. */
const plainTags = new Set(
  ["str", "int", "float", "bool", "null", "map", "seq", "merge"].map((name) => `tag:yaml.org,2002:${name}`),
);

const start = (node: unknown): number | undefined => (node as Node | null)?.range?.[0];

/** Makes plain data of the one document of a YAML text. Runs nothing: tags are refused, and aliases are counted. */
export function readYaml(text: string, file: string): Reading {
  const lines = new LineCounter();
  const root: Place = { inner: new Map() };
  const reading: Reading = {
    value: undefined,
    found: [],
    file,
    position({ path, atKey, offset }) {
      let place: Place | undefined = root;
      let last = root;
      for (const step of path) {
        place = place?.inner.get(step);
        if (place) last = place;
      }
      // Of what is missing the position is that of the entry which lacks it.
      const at = offset ?? (place && !atKey ? (place.at ?? place.keyAt) : undefined) ?? last.keyAt ?? last.at ?? 0;
      const { line, col } = lines.linePos(at);
      return { line: Math.max(line, 1), column: Math.max(col, 1) };
    },
  };
  try {
    const documents = parseAllDocuments(text, {
      ...{ schema: "core", merge: true, strict: true, logLevel: "silent" },
      // Said here, with the place of the first one, and in a time that does not grow with the square of the size.
      ...{ uniqueKeys: false, prettyErrors: false, lineCounter: lines },
    });
    const [document, second] = documents;
    const errors = documents.flatMap((one) => one.errors);
    reading.found.push(
      ...errors.map(({ message, pos: [offset] }) => ({ path: [], message: `this is not YAML: ${message}`, offset })),
    );
    if (second)
      reading.found.push({
        path: [],
        message: "a second document begins here: a file describes one network",
        offset: start(second.contents),
      });
    const isEmpty =
      !document?.contents ||
      (isScalar(document.contents) && document.contents.value === null && !document.contents.tag);
    if (isEmpty && errors.length === 0)
      reading.found.push({ path: [], message: "the file is empty: write at least a name and members", offset: 0 });
    if (reading.found.length === 0 && document)
      reading.value = new Walk(document, reading.found).value(document.contents, [], root);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    reading.found.push({ path: [], message: "it is nested too deeply", offset: 0 });
  }
  return reading;
}

class Walk {
  private readonly targets = new Map<Alias, Node | undefined>();
  private readonly open = new Set<Node>();
  private count = 0;

  constructor(
    document: Document.Parsed,
    private readonly found: Found[],
  ) {
    // An alias means the last anchor of that name before it.
    const anchors = new Map<string, Node>();
    visit(document, {
      Alias: (_, alias) => void this.targets.set(alias, anchors.get(alias.source)),
      Value: (_, node) => void (node.anchor && anchors.set(node.anchor, node)),
    });
  }

  value(node: unknown, path: Path, place: Place): unknown {
    place.at ??= start(node);
    if (isAlias(node)) {
      const target = this.targets.get(node);
      if (target) return this.value(target, path, place);
      return this.wrong(node, `there is no anchor &${node.source} before this alias`);
    }
    if (++this.count > mostValues) return this.count === mostValues + 1 ? this.wrong(node, tooManyText) : undefined;
    const { tag } = node as Node;
    if (tag !== undefined && !plainTags.has(tag))
      return this.wrong(node, `the tag ${tag} is not allowed: only plain values are`);
    if (isScalar(node)) return node.value;
    if (!isMap(node) && !isSeq(node)) return null;
    if (this.open.has(node)) return this.wrong(node, cycleText);
    this.open.add(node);
    const made = isMap(node)
      ? this.record(node, path, place)
      : node.items.map((item, index) => this.inner(item, [...path, index], place));
    this.open.delete(node);
    return made;
  }

  private inner(node: unknown, path: Path, place: Place, keyAt?: number): unknown {
    const inside: Place = { keyAt, inner: new Map() };
    place.inner.set(path.at(-1)!, inside);
    return this.value(node, path, inside);
  }

  private record(map: YAMLMap, path: Path, place: Place): Record<string, unknown> {
    const made = emptyRecord();
    const merges: Pair[] = [];
    const offsets = new Map<string, number | undefined>();
    for (const pair of map.items) {
      const { key } = pair;
      const name = isAlias(key) ? this.targets.get(key) : key;
      if (isScalar(name) && typeof name.value === "symbol") {
        merges.push(pair);
        continue;
      }
      if (!isScalar(name) || typeof name.value !== "string" || (name.tag !== undefined && !plainTags.has(name.tag))) {
        const shown =
          isScalar(name) && name.source !== undefined
            ? `the key ${name.source} is a ${typeof name.value}: write "${name.source}"`
            : "a key is text";
        this.wrong(key ?? map, shown);
      } else if (offsets.has(name.value)) {
        this.wrong(key, `the key "${name.value}" is there already`);
      } else if (isReserved(name.value)) {
        this.wrong(key, reservedText(name.value));
      } else {
        offsets.set(name.value, start(key));
        made[name.value] = this.inner(pair.value, [...path, name.value], place, start(key));
      }
    }
    for (const pair of merges) this.merge(pair.value, path, place, made);
    return made;
  }

  /** `<<`: what is not there yet comes from another mapping, or from several, the first of which counts most. */
  private merge(node: unknown, path: Path, place: Place, made: Record<string, unknown>): void {
    const target = isAlias(node) ? (this.targets.get(node) ?? node) : node;
    if (isSeq(target)) {
      for (const item of target.items) this.merge(item, path, place, made);
      return;
    }
    const from: Place = { inner: new Map() };
    const merged = isMap(target) ? this.value(target, path, from) : undefined;
    if (typeof merged !== "object" || merged === null) {
      if (!isMap(target)) this.wrong(node, "<< takes a mapping, or a list of mappings");
      return;
    }
    for (const [key, value] of Object.entries(merged)) {
      if (key in made) continue;
      made[key] = value;
      place.inner.set(key, from.inner.get(key)!);
    }
  }

  private wrong(node: unknown, message: string): undefined {
    this.found.push({ path: [], message, offset: start(node) ?? 0 });
  }
}
