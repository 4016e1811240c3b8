import { createHash } from "node:crypto";

/** A hex value of so many bytes that always follows from the same words. */
export function hex(bytes: number, ...words: (string | number)[]): string {
  let digits = "";
  for (let round = 0; digits.length < bytes * 2; round++) {
    digits += createHash("sha256")
      .update([round, ...words].join("/"))
      .digest("hex");
  }
  return digits.slice(0, bytes * 2);
}

export const address = (...words: (string | number)[]) => `0x${hex(20, ...words)}`;
export const hash = (...words: (string | number)[]) => `0x${hex(32, ...words)}`;
