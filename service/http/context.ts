import type { Context as Domain } from "../context";
import type { Tokens } from "./authentication";
import type { Turns } from "./turns";

/** What the routes work with. */
export interface Context extends Domain {
  readonly tokens: Tokens;
  /** Shares the processor among callers. */
  readonly turns: Turns;
}
