import type { Context as Domain } from "../context";
import type { Tokens } from "./authentication";

/** What the routes work with. */
export interface Context extends Domain {
  readonly tokens: Tokens;
}
