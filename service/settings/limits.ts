import { z } from "zod";

/** How many objects the service allows. More is refused with 409. */
export interface Limits {
  /** Consortia per organization. Default 2. */
  consortia: number;
  /** Environments per consortium. Default 3. */
  environments: number;
  /** Nodes per environment. Default 4. */
  nodes: number;
}

const count = z.number().int().nonnegative();

export const limits = z.strictObject({
  consortia: count.default(2),
  environments: count.default(3),
  nodes: count.default(4),
} satisfies Record<keyof Limits, z.ZodType>);
