import { hash, timingSafeEqual } from "node:crypto";

/** What is kept of a random password. */
export const passwordHash = (password: string) => hash("sha256", password, "hex");

/** Whether two hashes are the same, in a time that tells nothing of either. */
export const sameHash = (one: string, other: string) =>
  timingSafeEqual(Buffer.from(one, "hex"), Buffer.from(other, "hex"));
