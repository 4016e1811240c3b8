import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  visit,
  type YAMLMap,
} from "yaml";
import { type Path } from "./problems";
import {
  cycleText,
  type Found,
  isReserved,
  mostLevels,
  mostValues,
  reservedText,
  tooDeepText,
  tooManyText,
} from "./reading";

/** Where a value and its key stand in the text, and what is in it. */
export interface Place {
  at?: number;
  keyAt?: number;
  /** As it is written. */
  source?: string;
  inner: Map<string | number, Place>;
}

/** A text that makes more than anybody means: too many values, too many levels. */
export class TooMuch extends Error {
  constructor(
    message: string,
    readonly offset: number,
  ) {
    super(message);
  }
}

/** Tags of JSON's own types; everything else could mean something to another program. */
const plainTags = new Set(
  ["str", "int", "float", "bool", "null", "map", "seq", "merge"].map((name) => `tag:yaml.org,2002:${name}`),
);

/** Where a node begins in the text. */
export const offsetOf = (node: unknown): number => (node as Node | null)?.range?.[0] ?? 0;

/** Goes through a document, and makes plain data of it. */
export class Walk {
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
    if (!isNode(node)) return null; // `{ acme }` has a key and no value
    place.at ??= offsetOf(node);
    if (isAlias(node)) {
      const target = this.targets.get(node);
      if (target) return this.value(target, path, place);
      return this.wrong(node, path, `there is no anchor &${node.source} before this alias`);
    }
    this.counted(place.at);
    const { tag } = node;
    if (tag !== undefined && !plainTags.has(tag)) {
      return this.wrong(node, path, `the tag ${tag} is not allowed: only plain values are`);
    }
    if (isScalar(node)) {
      place.source = node.source;
      return node.value;
    }
    if (this.open.has(node)) return this.wrong(node, path, cycleText, place.at);
    this.open.add(node);
    const made = isMap(node)
      ? this.record(node, path, place)
      : node.items.map((item, index) => this.inner(item, [...path, index], place));
    this.open.delete(node);
    return made;
  }

  private counted(offset: number): void {
    if (++this.count > mostValues) throw new TooMuch(tooManyText, offset);
    if (this.open.size > mostLevels) throw new TooMuch(tooDeepText, offset);
  }

  private inner(node: unknown, path: Path, place: Place, keyAt?: number): unknown {
    const inside: Place = { keyAt, inner: new Map() };
    place.inner.set(path.at(-1)!, inside);
    return this.value(node, path, inside);
  }

  private record(map: YAMLMap, path: Path, place: Place): Record<string, unknown> {
    const made: Record<string, unknown> = {};
    const merges: Pair[] = [];
    for (const pair of map.items) {
      const { key } = pair;
      const name = isAlias(key) ? this.targets.get(key) : key;
      if (isScalar(name) && typeof name.value === "symbol") {
        merges.push(pair);
      } else if (!isScalar(name) || typeof name.value !== "string" || (name.tag && !plainTags.has(name.tag))) {
        const written = isScalar(name) ? name.source : undefined;
        const message = written === undefined ? "a key is text" : `the key ${written} is not text: write "${written}"`;
        this.wrong(key ?? map, path, message);
      } else if (isReserved(name.value)) {
        this.wrong(key, [...path, name.value], reservedText(name.value));
      } else if (name.value in made) {
        this.wrong(key, [...path, name.value], "this key is there already");
      } else {
        made[name.value] = this.inner(pair.value, [...path, name.value], place, offsetOf(key));
      }
    }
    for (const pair of merges) this.merge(pair.value, path, place, made);
    return made;
  }

  /** `<<`: what is not there yet comes from another mapping, or from several, the first of which counts most. */
  private merge(node: unknown, path: Path, place: Place, made: Record<string, unknown>): void {
    this.counted(offsetOf(node));
    const target = isAlias(node) ? (this.targets.get(node) ?? node) : node;
    if (isSeq(target)) {
      if (this.open.has(target)) return void this.wrong(node, path, cycleText);
      this.open.add(target);
      for (const item of target.items) this.merge(item, path, place, made);
      this.open.delete(target);
      return;
    }
    if (!isMap(target)) {
      this.wrong(node, path, "<< takes a mapping, or a list of mappings");
      return;
    }
    const from: Place = { at: offsetOf(node), inner: new Map() };
    const merged = this.value(target, path, from) as Record<string, unknown> | undefined;
    for (const [key, value] of Object.entries(merged ?? {})) {
      if (key in made) continue;
      made[key] = value;
      place.inner.set(key, from.inner.get(key)!);
    }
  }

  private wrong(node: unknown, path: Path, message: string, offset = offsetOf(node)): undefined {
    this.found.push({ path, message, offset });
  }
}
