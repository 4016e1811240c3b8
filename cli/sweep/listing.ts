import { printable } from "../../provider/api/printable";
import { type Found } from "../../provider/resources/tree";
import { type Cleared } from "./clear";
import { type Leftovers, nameOf, titleOf } from "./leftovers";

/** How long ago, in the largest unit that fits: "3 hours old". */
export function age(item: Found, now: number): string {
  const seconds = (now - Date.parse(item.props.createdAt ?? "")) / 1000;
  if (Number.isNaN(seconds)) return "age unknown";
  const units: [number, string][] = [
    [86_400, "day"],
    [3_600, "hour"],
    [60, "minute"],
  ];
  const [length, unit] = units.find(([size]) => seconds >= size) ?? [1, "second"];
  const count = Math.max(0, Math.floor(seconds / length));
  return `${count} ${unit}${count === 1 ? "" : "s"} old`;
}

/** The tree of what goes, with the parents that stay, so that one sees where it is. */
export function treeLines(tree: readonly Found[], { going, kept }: Leftovers, now: number, depth = 0): string[] {
  return tree.flatMap((item) => {
    const below = treeLines(item.inside, { going, kept }, now, depth + 1);
    const reason = kept.get(item);
    if (!going.has(item) && reason === undefined && below.length === 0) return [];
    const fate = going.has(item) ? age(item, now) : reason === undefined ? "stays" : `stays: ${reason}`;
    return [`${"  ".repeat(depth)}${titleOf(item)}, ${fate}`, ...below];
  });
}

const facts = (item: Found) => {
  const { kind, id, props, place } = item;
  return { kind, id, name: nameOf(item), createdAt: props.createdAt, ...place };
};

/** For programs: everything that was found, and what became of it. */
export function asJson({ going, kept }: Leftovers, { deleted, failed }: Cleared): string {
  const text = JSON.stringify({
    found: [...going].map(facts),
    kept: [...kept].map(([item, reason]) => ({ ...facts(item), reason })),
    deleted: deleted.map(({ id }) => id),
    failed: failed.map(({ item, error }) => ({ ...facts(item), error })),
  });
  return printable(text);
}
