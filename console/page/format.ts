/** Formats numbers, times and ids. */
import { inEther } from "pulumi-consortium/internal/page";

export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString("en")} ${count === 1 ? one : many}`;

/** `0x12345678…cdef`: enough to tell hashes apart. */
export const short = (hex: string): string => (hex.length > 18 ? `${hex.slice(0, 10)}…${hex.slice(-4)}` : hex);

/** Isolates the writing direction of a name from other people in a text. In HTML, `bdi` does this. */
export const isolated = (name: string): string => `\u2068${name}\u2069`;

/** Wei as ether. A pin costs a small part of one. */
export const ether = (wei: string | undefined): string => (wei === undefined ? "unknown" : inEther(wei, 6));

/** `2 h 5 min`. */
export function duration(seconds: number): string {
  const units: [number, string][] = [
    [31_536_000, "years"],
    [86_400, "days"],
    [3_600, "h"],
    [60, "min"],
  ];
  for (const [size, unit] of units) {
    if (seconds >= 2 * size || (size <= 3_600 && seconds >= size)) {
      return `${Math.floor(seconds / size).toLocaleString("en")} ${unit}`;
    }
  }
  return `${Math.max(0, Math.floor(seconds))} s`;
}

/** `22 Nov 2026, 05:55:19 CET` */
export const clock = (at: number | string): string =>
  new Date(at).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "long" });
/** `05:55:19`, for places that show `zone` nearby. */
export const time = (at: number | string): string => new Date(at).toLocaleTimeString("en-GB");
/** The time zone of the browser: `CET`. */
export const zone = (): string =>
  new Intl.DateTimeFormat("en-GB", { timeZoneName: "short" })
    .formatToParts()
    .find(({ type }) => type === "timeZoneName")!.value;

/** The first sentence of a message, and the rest. */
export function sentences(text: string): [first: string, rest: string] {
  const [, first = text, rest = ""] = /^(.+?[.!?…])\s+(?=["\p{Lu}])(.+)$/su.exec(text) ?? [];
  return [first, rest];
}
