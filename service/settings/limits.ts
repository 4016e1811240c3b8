import { z } from "zod";

const count = z.number().int().nonnegative();

/** How many objects the service allows. More is refused with 409. */
export const limits = z.strictObject({
  /** Consortia per organization. Default 2. */
  consortia: count.default(2),
  /** Environments per consortium. Default 3. */
  environments: count.default(3),
  /** Nodes per environment. Default 4. */
  nodes: count.default(4),
});
export type Limits = z.output<typeof limits>;
