import { createHash } from "node:crypto";
import { relative } from "node:path";

/** One east and one west of Greenwich, neither by whole hours. */
const zones = ["America/St_Johns", "Asia/Kathmandu"];
const given = process.env.TEST_TZ;

/**
 * The time zone that a test file runs in: the other one every day. `TEST_TZ=…` in the environment is that of all files.
 * @param {string} root @param {string} path
 */
export function zoneOf(root, path) {
  const day = Number(process.env.TEST_DAY ?? today());
  return given ?? zones[((createHash("sha256").update(relative(root, path)).digest()[0] ?? 0) + day) % zones.length];
}

/** All processes of a run have the day of its beginning. */
export const today = () => Math.floor(Date.now() / 86_400_000);
