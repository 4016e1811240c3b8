import { z } from "zod";

/** How long things take, in milliseconds. A change applies to what happens after it. */
export interface Timing {
  /** From the creation of an environment until it is `setup`. Default 500. */
  environmentStart: number;
  /** From the creation of a node until it is `started`. Default 1500; the hosted service takes 30 to 60 seconds. */
  nodeStart: number;
  /** How long a deleted environment still shows in lists, with state `deleted`. Default 500. */
  deletedVisible: number;
  /** How long a deleted consortium, membership or node stays there with state `deleting`. Default 0. */
  deleting: number;
  /** Lists show what was true this long ago; reading by id is immediate. Default 0. */
  listLag: number;
  /** Pause before every call is looked at. Default 0. */
  latency: number;
  /** Length of the "hour" of a tether's interval. Default 3600000. */
  tetherHour: number;
}

const ms = z.number().nonnegative();

export const timing = z.strictObject({
  environmentStart: ms.default(500),
  nodeStart: ms.default(1_500),
  deletedVisible: ms.default(500),
  deleting: ms.default(0),
  listLag: ms.default(0),
  latency: ms.default(0),
  tetherHour: z.number().positive().default(3_600_000),
} satisfies Record<keyof Timing, z.ZodType>);
