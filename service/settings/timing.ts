import { z } from "zod";

const ms = z.number().nonnegative();

/** How long things take, in milliseconds. A change applies to what happens after it. */
export const timing = z.strictObject({
  /** From the creation of an environment until it is `setup`. Default 500. */
  environmentStart: ms.default(500),
  /** From the creation of a node until it is `started`. Default 1500; the hosted service takes 30 to 60 seconds. */
  nodeStart: ms.default(1_500),
  /** How long a deleted environment still shows in lists, with state `deleted`. Default 500. */
  deletedVisible: ms.default(500),
  /** How long a deleted consortium, membership or node stays there with state `deleting`. Default 0. */
  deleting: ms.default(0),
  /** Lists show what was true this long ago; reading by id is immediate. Default 0. */
  listLag: ms.default(0),
  /** Pause before every call is looked at. Default 0. */
  latency: ms.default(0),
  /** Length of the "hour" of a tether's interval. Default 3600000. */
  tetherHour: z.number().positive().default(3_600_000),
});
export type Timing = z.output<typeof timing>;
