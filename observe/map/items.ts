import { nameOf, type ObjectKind, type ObjectModel } from "../../inventory/model";
import { type Mark, marksOf, type Tone, toneOf } from "./marks";
import { inWords, linesOf } from "./words";

/** A box of the map: one object, or many of a kind as a number. */
export interface MapItem {
  /** Unique in the map. */
  key: string;
  kind: ObjectKind | "chain" | "nothing";
  /** Ids of the objects that it stands for. */
  ids: string[];
  label: string;
  /** Below the label. */
  details: string[];
  /** All of it in words, for those who hear the map or point at a box. */
  title: string;
  tone: Tone;
  /** What a plan or a comparison says of it. */
  marks: Mark[];
}

export const keyOf = (kind: MapItem["kind"], id: string): string => `${kind}:${id}`;

/** One object by itself. */
export const itemOf = (kind: ObjectKind, object: ObjectModel, owner?: string): MapItem => ({
  ...{ key: keyOf(kind, object.id), kind, ids: [object.id], label: nameOf(object) },
  ...{ details: linesOf(kind, object, owner), title: inWords(kind, object, owner) },
  ...{ tone: toneOf(kind, object), marks: marksOf(object) },
});

/** Something that is no object of the service. */
export const note = (kind: "chain" | "nothing", id: string, label: string, details: string[] = []): MapItem => ({
  ...{ key: keyOf(kind, id), kind, ids: [], label, details },
  ...{ title: [label, ...details].join(", "), tone: "plain", marks: [] },
});
